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

// AppendMember consumes the value that Member moved to and appends a comma, the name and
// the compact value, as a further member of an object.
func (c *Cursor) AppendMember(dst []byte) []byte {
	dst = AppendString(append(dst, ','), c.Name())
	return AppendCompact(append(dst, ':'), c.Skip())
}
