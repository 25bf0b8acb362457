// Package toolcall contains what several formats need to write tool calls: ids and names
// that both sides accept, and arguments that arrive in fragments.
//
// Ids and names are changed only if the other format does not allow them, and always in
// the same way, so that the original can be restored from the next request.
package toolcall
