// Package messages is the wire format of POST /v1/messages and its
// count_tokens: requests, answers and event streams.
//
// It promises to read strictly what the format states and to leave alone what
// it does not: unknown fields, block types and events pass. What belongs to
// the provider, such as the pairing of tool results or thinking budgets, is
// not checked.
package messages
