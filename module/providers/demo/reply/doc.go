// Package reply composes the answers of the demo provider, in the words of no format: text,
// reasoning, calls of tools, counts of tokens, and the faults that a prompt asks for.
//
// Read listens to the reader of the request's format, and keeps what an answer refers to. Compose
// returns the whole Answer before the first byte is written, so that the stream and the JSON body
// for a request cannot differ. Events returns the answer as core events, which the emitter of the
// format writes.
//
// The package reads no clock and keeps no state: the same Request and Seed give the same
// Answer.
package reply
