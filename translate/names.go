package translate

// maxMemberName is the longest name from a client or a provider that is
// repeated. In it are at most maxMemberDigits digits and maxMemberWords words after the
// first that begin with a capital.
const (
	maxMemberName   = 41
	maxMemberDigits = 4
	maxMemberWords  = 6
)

// MemberLike reports whether a name that a client or a provider chose looks like
// that of a member. Others may be a prompt or a key, which belong neither into a
// log nor into a header, which access logs show.
func MemberLike[T string | []byte](name T) bool {
	if len(name) == 0 || len(name) > maxMemberName || name[0] < 'a' || name[0] > 'z' {
		return false
	}
	digits, words, last := 0, 0, byte('A')
	for _, b := range []byte(name) {
		switch {
		case '0' <= b && b <= '9':
			digits++
		case 'A' <= b && b <= 'Z' && (last < 'A' || last > 'Z'): // fileUri; keys have capitals in a row
			words++
		case b != '_' && (b < 'a' || b > 'z'):
			return false
		}
		last = b
	}
	return digits <= maxMemberDigits && words <= maxMemberWords
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
