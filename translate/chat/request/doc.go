// Package request inspects, reads and writes requests of the chat format.
//
// Inspect is strict about the fields and values that the format defines. It accepts
// unknown fields and parts, and values beyond the bounds of one vendor, since servers
// differ.
package request
