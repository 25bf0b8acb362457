//go:build race

package database

// slowness is how many times as long as usual a database may take. SQLite, which is compiled
// to Go, is several times as slow under the race detector.
const slowness = 3
