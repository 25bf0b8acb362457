// Package reply composes the answers of the demo provider, independently of the wire
// formats: text, reasoning, calls of tools, counts of tokens, and the faults that a prompt
// asks for.
//
// A wire format reads the body of a request into a Request. Compose returns the whole Answer
// before the first byte is written, so that the stream and the JSON body for a request
// cannot differ. The format then writes the Answer.
//
// The package reads no clock and keeps no state: the same Request and Seed give the same
// Answer.
package reply
