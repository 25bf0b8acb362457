package jsonscan

// AppendCompact appends valid JSON without the white space between its tokens. Strings
// and numbers are copied unchanged.
func AppendCompact(dst, raw []byte) []byte {
	start, i := 0, 0
	for i < len(raw) {
		switch b := raw[i]; {
		case b == '"':
			i, _, _ = stringEnd(raw, i)
		case isSpace(b):
			dst = append(dst, raw[start:i]...)
			i = spaceEnd(raw, i)
			start = i
		default:
			i++
		}
	}
	return append(dst, raw[start:]...)
}
