package translate

// maxMemberName is the longest name from a client or a provider that is
// repeated, and maxMemberDigits is the largest number of digits in it.
const (
	maxMemberName   = 41
	maxMemberDigits = 4
)

// MemberLike reports whether a name that a client or a provider chose looks like
// that of a member. Others may be a prompt or a key, which belong neither into a
// log nor into a header, which access logs show.
func MemberLike[T string | []byte](name T) bool {
	if len(name) == 0 || len(name) > maxMemberName || name[0] < 'a' || name[0] > 'z' {
		return false
	}
	digits := 0
	for _, b := range []byte(name) {
		switch {
		case '0' <= b && b <= '9':
			digits++
		case b != '_' && (b < 'a' || b > 'z'):
			return false
		}
	}
	return digits <= maxMemberDigits
}

// PlainName reports whether all bytes are letters, digits, "_" or "-".
func PlainName[T string | []byte](s T) bool {
	for i := range len(s) {
		if !PlainByte(s[i]) {
			return false
		}
	}
	return true
}

// PlainByte reports whether b is a letter, a digit, "_" or "-".
func PlainByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_' || b == '-'
}
