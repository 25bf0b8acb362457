package main

import (
	"fmt"
	"slices"
	"time"
)

// The names of the figures of a measurement.
const (
	requests    = "requests"
	cpu         = "cpu_us"          // microseconds of processor time for a request
	rate        = "rate"            // requests in a second
	p50         = "p50_us"          // microseconds until the end of an answer
	p99         = "p99_us"          // the same
	first       = "first_event_us"  // median of the microseconds until the first byte of the body, or the first text of a paced stream
	lag50       = "lag_p50_us"      // microseconds from the provider's write of a text to the client's read
	lag99       = "lag_p99_us"      // the same
	redisCPU    = "redis_cpu_us"    // microseconds of the processor time of all Redis servers for a request
	postgresCPU = "postgres_cpu_us" // the same for PostgreSQL
	streamKB    = "stream_kb"       // resident memory of an open stream
	allocations = "allocations"     // for a request
	anonymous   = "anonymous_mb"    // memory of no file: heap, stacks and tables
	resident    = "resident_mb"     // memory with the pages of files that are mapped
)

// measurement is what one gateway needed for the requests of one scenario, by the names of
// the figures. Those that the scenario has no use for are missing.
type measurement map[string]float64

// holds adds what a process has in memory, in bytes. Anonymous memory is 0 on systems that do
// not count it.
func (m measurement) holds(anonymousBytes, residentBytes float64) {
	if anonymousBytes > 0 {
		m[anonymous] = anonymousBytes / 1e6
	}
	m[resident] = residentBytes / 1e6
}

// figure is a column of the table.
type figure struct {
	name, title string
	added       bool // compared by its difference to the baseline, and not by its ratio
}

// figures are the columns of the table, in their order.
var figures = []figure{
	{cpu, "CPU µs", false},
	{rate, "requests/s", false},
	{p50, "p50 µs", true},
	{p99, "p99 µs", true},
	{first, "first event µs", true},
	{lag50, "lag p50 µs", true},
	{lag99, "lag p99 µs", true},
	{streamKB, "KB a stream", false},
	{allocations, "allocations", false},
	{redisCPU, "Redis µs", true},
	{postgresCPU, "PostgreSQL µs", true},
	{anonymous, "anonymous MB", false},
	{resident, "resident MB", false},
}

// beside returns the difference of a value from that of the baseline, or their ratio.
func (f figure) beside(value, base float64) float64 {
	if f.added {
		return value - base
	}
	return value / base
}

// write writes a value and how it compares.
func (f figure) write(value, compared float64) string {
	if f.added {
		return fmt.Sprintf("%.0f (%+.0f)", value, compared)
	}
	if value < 1000 {
		return fmt.Sprintf("%.1f (%.2f)", value, compared)
	}
	return fmt.Sprintf("%.0f (%.2f)", value, compared)
}

// percentile returns one of sorted times, in microseconds.
func percentile(sorted []time.Duration, percent int) float64 {
	return float64(sorted[len(sorted)*percent/100]) / float64(time.Microsecond)
}

// sorted returns the sorted times of all clients.
func sorted(all [][]time.Duration) []time.Duration {
	times := slices.Concat(all...)
	slices.Sort(times)
	return times
}
