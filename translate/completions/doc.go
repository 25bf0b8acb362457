// Package completions is the wire format of POST /v1/completions: requests,
// answers and event streams.
//
// It promises to read strictly what the format states and to leave alone what
// it does not: unknown fields pass, and so do values beyond the bounds of one
// vendor, since servers differ.
package completions
