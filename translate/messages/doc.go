// Package messages describes the wire format of POST /v1/messages and its
// count_tokens.
//
// Package request reads and writes its requests, package answer its answers and
// event streams.
package messages
