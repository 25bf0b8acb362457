//go:build !race

package figures_test

const raced = false
