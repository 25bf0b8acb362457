package jsonscan

// Blank reports whether a valid value says nothing: a null, a string without
// text, an array or an object with nothing in it. What was not read because of
// an error, and so has no bytes, is blank too.
func Blank(raw []byte) bool {
	if len(raw) < len(`""`) {
		return len(raw) == 0
	}
	switch raw[0] {
	case 'n':
		return true
	case '"':
		return len(raw) == len(`""`)
	case '[', '{':
		return spaceEnd(raw, 1) == len(raw)-1
	default:
		return false
	}
}
