// Package chat describes the wire format of POST /v1/chat/completions.
//
// Package request reads and writes its requests, package answer its answers and
// event streams. What it shares with the completions format is in package openai.
package chat
