package choices

import "bytes"

// onlyContent reports whether a chunk cannot tell anything but content, so that
// it need not be read: a cheap search for the names of all else. A name that a
// server hides behind escapes is not found; none does.
func (o *Observer) onlyContent(data []byte) bool {
	_, zeroSeen := o.finished[0]
	return zeroSeen &&
		bytes.Contains(data, []byte(`"choices"`)) &&
		!bytes.Contains(data, []byte(`"error"`)) &&
		always(data, `"finish_reason"`, `null`) &&
		always(data, `"usage"`, `null`) &&
		always(data, `"index"`, `0`)
}

// always reports whether the quoted name has that value wherever it is a
// member's name.
func always(data []byte, name, value string) bool {
	for {
		at := bytes.Index(data, []byte(name))
		if at < 0 {
			return true
		}
		data = bytes.TrimLeft(data[at+len(name):], " \t\r\n")
		if len(data) == 0 || data[0] != ':' {
			continue // the name of a value, not of a member
		}
		data = bytes.TrimLeft(data[1:], " \t\r\n")
		rest, ok := bytes.CutPrefix(data, []byte(value))
		if !ok || len(rest) == 0 || !delimits(rest[0]) {
			return false
		}
	}
}

// delimits reports whether a value ends in front of b.
func delimits(b byte) bool {
	switch b {
	case ',', '}', ']', ' ', '\t', '\r', '\n':
		return true
	default:
		return false
	}
}
