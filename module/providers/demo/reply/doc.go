// Package reply decides what the demo provider answers, apart from any wire
// format: its text, its reasoning, its calls of tools, the tokens that it
// counts, and the faults that a prompt asks for.
//
// A wire format reads the body of a request into a Request. Compose makes the
// whole Answer from it before the first byte is written, so that the stream and
// the JSON body of one request cannot differ. The format then writes the Answer.
//
// The package reads no clock and holds no state: the same Request and Seed give
// the same Answer.
package reply
