package jsonscan

// Blank reports whether a valid value is null, or an empty string, array or object. A
// value without bytes, which could not be read because of an error, is blank too.
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
