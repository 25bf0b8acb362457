package choices

import "bytes"

// onlyContent reports whether a chunk cannot tell anything but content, so that
// it need not be read: it is like those before it, or has none of the names of
// all else. A name that a server hides behind escapes is not found; none does.
func (o *Observer) onlyContent(chunk []byte) bool {
	if o.alike.matches(chunk) {
		return true
	}
	unread := o.tellsNothing(chunk)
	if unread {
		o.alike.learn(chunk)
	}
	return unread
}

// tellsNothing searches a chunk for the names of members that tell more.
func (o *Observer) tellsNothing(chunk []byte) bool {
	_, zeroSeen := o.finished[0]
	return zeroSeen &&
		listName.find(chunk) >= 0 &&
		errorName.find(chunk) < 0 &&
		finishName.always(chunk, "null") &&
		usageName.always(chunk, "null") &&
		indexName.always(chunk, "0")
}

// name is the name of a member, in quotes, and the place of the byte in it that
// is least likely to stand elsewhere in a chunk: the one worth searching for.
type name struct {
	quoted string
	rarest int
}

var (
	listName   = name{`"choices"`, len(`"c`)}
	errorName  = name{`"error"`, len(`"err`)}
	finishName = name{`"finish_reason"`, len(`"finish`)}
	usageName  = name{`"usage"`, len(`"`)}
	indexName  = name{`"index"`, len(`"inde`)}
)

// find returns the place of the name, be it a member's or a value, or -1.
func (n name) find(chunk []byte) int {
	for from := n.rarest; from < len(chunk); from++ {
		at := bytes.IndexByte(chunk[from:], n.quoted[n.rarest])
		if at < 0 {
			return -1
		}
		from += at
		start := from - n.rarest
		if end := start + len(n.quoted); end <= len(chunk) && string(chunk[start:end]) == n.quoted {
			return start
		}
	}
	return -1
}

// always reports whether the name has that value wherever it is a member's.
func (n name) always(chunk []byte, value string) bool {
	for {
		at := n.find(chunk)
		if at < 0 {
			return true
		}
		chunk = trimSpace(chunk[at+len(n.quoted):])
		if len(chunk) == 0 || chunk[0] != ':' {
			continue // the name is a value
		}
		chunk = trimSpace(chunk[1:])
		if !bytes.HasPrefix(chunk, []byte(value)) || !delimited(chunk[len(value):]) {
			return false
		}
	}
}

// trimSpace cuts white space in front.
func trimSpace(chunk []byte) []byte {
	for len(chunk) > 0 && isSpace(chunk[0]) {
		chunk = chunk[1:]
	}
	return chunk
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }

// delimited reports whether a value has ended in front of the rest.
func delimited(rest []byte) bool {
	return len(rest) > 0 && (rest[0] == ',' || rest[0] == '}' || rest[0] == ']' || isSpace(rest[0]))
}
