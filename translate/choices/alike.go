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
	a.known = a.trim()
}

// trim leaves to the text what texts happen to have in common: the head ends
// behind the quote that opens the text, the tail begins with the one that
// closes it. It reports whether there are such quotes.
func (a *alike) trim() bool {
	opened := openText(a.head)
	closed := bytes.IndexByte(a.tail, '"')
	if opened < 0 || closed < 0 || closed > 0 && a.tail[closed-1] == '\\' {
		return false
	}
	a.head, a.tail = a.head[:opened+1], a.tail[closed:]
	return true
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

// openText returns the place of the quote that opens the string in which the
// beginning of a document ends, or -1 if it ends in none that is a member's
// value.
func openText(head []byte) int {
	opened := -1
	for i := 0; i < len(head); i++ {
		switch {
		case head[i] == '\\':
			i++
		case head[i] == '"' && opened < 0:
			opened = i
		case head[i] == '"':
			opened = -1
		}
	}
	if opened < 1 || head[opened-1] != ':' {
		return -1
	}
	return opened
}
