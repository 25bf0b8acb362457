package choices

import "bytes"

// alike is what the chunks of a stream that hold only content have in common:
// all of a chunk but the text of one string. A chunk that differs from those
// in that text alone can tell nothing else either, which two comparisons show.
type alike struct {
	head, tail []byte
	known      bool
}

// matches reports whether chunk is the common head, any text without a quote,
// and the common tail.
func (a *alike) matches(chunk []byte) bool {
	if !a.known {
		return false
	}
	text, ok := bytes.CutPrefix(chunk, a.head)
	if !ok {
		return false
	}
	text, ok = bytes.CutSuffix(text, a.tail)
	return ok && bytes.IndexByte(text, '"') < 0 && !bytes.HasSuffix(text, []byte{'\\'})
}

// learn compares chunk, which holds only content, with those before it.
func (a *alike) learn(chunk []byte) {
	if a.head == nil {
		a.head = bytes.Clone(chunk)
		a.tail = a.head
		return
	}
	a.head = a.head[:commonPrefix(a.head, chunk)]
	rest := chunk[len(a.head):]
	a.tail = a.tail[len(a.tail)-commonSuffix(a.tail, rest):]
	a.known = endsInText(a.head) && len(a.tail) > 0 && a.tail[0] == '"'
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func commonSuffix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[len(a)-1-i] != b[len(b)-1-i] {
			return i
		}
	}
	return n
}

// endsInText reports whether the beginning of a document ends right behind the
// opening quote of a string that is a member's value. Texts that begin alike
// are learned apart in time.
func endsInText(head []byte) bool {
	inside := false
	for i := 0; i < len(head); i++ {
		switch head[i] {
		case '"':
			inside = !inside
		case '\\':
			i++
		}
	}
	return inside && bytes.HasSuffix(head, []byte(`:"`))
}
