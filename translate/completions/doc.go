// Package completions describes the wire format of POST /v1/completions.
//
// Package request reads and writes its requests, package answer its answers and
// event streams. What it shares with the chat format is in package openai.
package completions
