// Package toolcall holds what several formats need to write tool calls: ids and
// names that both sides accept, and arguments that arrive in fragments.
//
// Ids and names are changed only if the other format does not allow them, always
// in the same way, so that the original comes back with the next request.
package toolcall
