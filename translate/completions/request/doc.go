// Package request inspects, reads and writes requests of the completions format.
//
// Inspect is strict about what the format states and passes what it does not:
// unknown fields, and values beyond the bounds of one vendor, since servers differ.
package request
