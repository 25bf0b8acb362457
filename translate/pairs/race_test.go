//go:build race

package pairs_test

// raced reports that the race detector watches the tests, which then take ten times as
// long.
const raced = true
