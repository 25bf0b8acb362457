//go:build !race

package database

// slowness is how many times as long as usual a database may take.
const slowness = 1
