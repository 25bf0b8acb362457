//go:build !race

package pairs_test

const raced = false
