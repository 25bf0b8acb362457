//go:build race

package figures_test

// raced reports that the race detector, whose own memory is several times that of a
// program, watches the processes.
const raced = true
