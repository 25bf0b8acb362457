// Package chat is the wire format of POST /v1/chat/completions: requests,
// answers and event streams.
//
// It promises to read strictly what the format states and to leave alone what
// it does not: unknown fields and parts pass, and so do values beyond the
// bounds of one vendor, since servers differ.
package chat
