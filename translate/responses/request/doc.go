// Package request inspects, reads and writes requests of the responses format.
//
// Inspect is strict about what the format states and passes items, parts and tools of
// unknown types, since their sets are open.
package request
