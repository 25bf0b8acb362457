package guards

import (
	"iter"
	"strings"
)

// set is a set of ASCII characters.
type set [128]bool

// setOf returns the set of the letters and digits that ranges name, such as "AZ09", and of
// further characters.
func setOf(ranges, others string) (s set) {
	for i := 0; i < len(ranges); i += 2 {
		for b := ranges[i]; b <= ranges[i+1]; b++ {
			s[b] = true
		}
	}
	for i := range len(others) {
		s[others[i]] = true
	}
	return s
}

func (s *set) has(b byte) bool { return b < 128 && s[b] }

// run returns the end of the characters of the set from an index on, at most limit.
func (s *set) run(text string, i, limit int) int {
	for limit = min(limit, len(text)); i < limit && s.has(text[i]); {
		i++
	}
	return i
}

// wordSet are the characters of words.
var wordSet = setOf("AZaz09", "_")

// isBoundary reports whether a word begins or ends at an index, as \b of a pattern.
func isBoundary(text string, i int) bool {
	return (i > 0 && wordSet.has(text[i-1])) != (i < len(text) && wordSet.has(text[i]))
}

// The longest parts of an address, in bytes.
const (
	mostLocal = 64
	mostHost  = 190
	mostTop   = 24
)

var (
	localSet = setOf("AZaz09", "._%+-")
	hostSet  = setOf("AZaz09", ".-")
	topSet   = setOf("AZaz", "")
)

// emails finds addresses: \b[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,190}\.[A-Za-z]{2,24}\b. It
// looks around each @, because an automaton for the pattern is in many states at each character.
func emails(text string) iter.Seq[span] {
	return func(yield func(span) bool) {
		for last, i := 0, strings.IndexByte(text, '@'); i >= 0; {
			if end := hostEnd(text, i+1); end > 0 {
				start := i
				for start > max(last, i-mostLocal) && localSet.has(text[start-1]) {
					start--
				}
				for start < i && !isBoundary(text, start) {
					start++
				}
				if start < i {
					if last = end; !yield(span{start, end}) {
						return
					}
				}
			}
			next := strings.IndexByte(text[i+1:], '@')
			if next < 0 {
				return
			}
			i += 1 + next
		}
	}
}

// hostEnd returns the end of the longest host that begins at an index, 0 if none does.
func hostEnd(text string, start int) int {
	end := hostSet.run(text, start, start+mostHost+1+mostTop)
	for dot := min(end-1, start+mostHost); dot > start; dot-- {
		if text[dot] != '.' {
			continue
		}
		top := topSet.run(text, dot+1, dot+1+mostTop)
		if top-dot > 2 && isBoundary(text, top) {
			return top
		}
	}
	return 0
}

// keyShape is the form of a key: a prefix at the beginning of a word or behind an underscore, and characters
// behind it.
type keyShape struct {
	prefix          string // a ? is one of variants
	variants        string
	tail            set
	fewest, longest int
}

// keyShapes are the forms of the keys of this gateway and of well-known services.
var keyShapes = [...]keyShape{
	{"sk-", "", setOf("AZaz09", "_-"), 20, 250},
	{"AKIA", "", setOf("AZ09", ""), 16, 16},
	{"gh?_", "opsur", setOf("AZaz09", ""), 36, 250},
	{"github_pat_", "", setOf("AZaz09", "_"), 22, 240},
	{"glpat-", "", setOf("AZaz09", "_-"), 20, 240},
	{"xox?-", "abeoprs", setOf("AZaz09", "-"), 10, 240},
	{"AIza", "", setOf("AZaz09", "_-"), 35, 35},
	{"hf_", "", setOf("AZaz", ""), 30, 240},
	{"npm_", "", setOf("AZaz09", ""), 36, 36},
}

// longestKey is the length of the longest match of keys.
const longestKey = 256

// keyFirst are the first characters of the prefixes.
var keyFirst = func() (s set) {
	for i := range keyShapes {
		s[keyShapes[i].prefix[0]] = true
	}
	return s
}()

// end returns the end of the longest key of this form that begins at an index, 0 if none does.
func (k *keyShape) end(text string, start int) int {
	i := start + len(k.prefix)
	if i > len(text) {
		return 0
	}
	for j := range len(k.prefix) {
		if b := text[start+j]; b != k.prefix[j] && (k.prefix[j] != '?' || strings.IndexByte(k.variants, b) < 0) {
			return 0
		}
	}
	for end := k.tail.run(text, i, i+k.longest); end >= i+k.fewest; end-- {
		if isBoundary(text, end) {
			return end
		}
	}
	return 0
}

// The first line of a private key, which has a few words between the two.
const (
	privateBegin = "-----BEGIN "
	privateEnd   = "PRIVATE KEY-----"
	mostKind     = 40
)

var kindSet = setOf("AZ", " ")

// keys finds API keys, and the first lines of private keys.
func keys(text string) iter.Seq[span] {
	return func(yield func(span) bool) {
		for i := 0; i < len(text); i++ {
			if !keyFirst.has(text[i]) || !begins(text, i) {
				continue
			}
			if end := keyEnd(text, i); end > 0 {
				if !yield(span{i, end}) {
					return
				}
				i = end - 1
			}
		}
		for i := 0; ; {
			n := strings.Index(text[i:], privateBegin)
			if n < 0 {
				return
			}
			start := i + n
			i = start + len(privateBegin)
			if end := privateKeyEnd(text, i); end > 0 && !yield(span{start, end}) {
				return
			}
		}
	}
}

// keyEnd returns the end of the key that begins at an index, 0 if none does.
func keyEnd(text string, start int) int {
	for k := range keyShapes {
		if end := keyShapes[k].end(text, start); end > 0 {
			return end
		}
	}
	return 0
}

// privateKeyEnd returns the end of the first line of a private key whose kind begins at an index,
// 0 if none does.
func privateKeyEnd(text string, kind int) int {
	end := kindSet.run(text, kind, kind+mostKind+len(privateEnd))
	for i := min(end, kind+mostKind); i >= kind; i-- {
		if strings.HasPrefix(text[i:], privateEnd) {
			return i + len(privateEnd)
		}
	}
	return 0
}
