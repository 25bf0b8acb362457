// Package mcp reads and edits messages of the Model Context Protocol: JSON-RPC messages over HTTP, in
// the versions from 2025-03-26 to 2026-07-28.
//
// It promises that a message has one reading: a message that two readers could understand differently,
// such as one with a member twice or with a name in other letters, is refused. It keeps the bytes of
// what it does not change. It refuses batches, and methods that it does not know.
package mcp
