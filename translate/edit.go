package translate

// Edit replaces a span of a body, or of the data of an event.
type Edit struct {
	Span
	With []byte
}

// AppendEdited appends a body with its edits, which are in its order and do not
// overlap.
func AppendEdited(dst, body []byte, edits []Edit) []byte {
	at := 0
	for _, e := range edits {
		dst = append(append(dst, body[at:e.Start]...), e.With...)
		at = e.End
	}
	return append(dst, body[at:]...)
}
