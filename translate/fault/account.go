package fault

import (
	"bytes"
	"slices"
	"strings"
)

// mask replaces what a client may not read in a text of a provider.
const mask = "***"

// Mask replaces what identifies the operator's account at a provider, in a text or in
// JSON: ids of teams, organizations, projects, accounts and keys, keys that are shown in
// part, and of URLs the query, or all if they are at host, the provider's own; "" for no
// host. It does not replace ids of requests, which help the operator.
func Mask(text []byte, host string) []byte {
	m := masker{masked: slices.Grow([]byte(nil), len(text)), host: host}
	m.text(text)
	return m.masked
}

// masker appends a text to masked, word by word.
type masker struct {
	masked []byte
	host   string

	noun string // the noun to which the last word belongs, "" for none
}

// text appends a text.
func (m *masker) text(text []byte) {
	for len(text) > 0 {
		n := wordLength(text)
		switch word := text[:n]; {
		case n == 0:
			n = m.separator(text)
		case isURL(text):
			n = urlLength(text)
			m.url(text[:n])
		case string(word) == "arn":
			n = urlLength(text)
			m.masked = append(m.masked, mask...)
		default:
			m.word(word)
		}
		text = text[n:]
	}
}

// wordLength returns the length of the word at the beginning of a text: all characters
// that ids consist of.
func wordLength(text []byte) int {
	for i, b := range text {
		if !wordBytes[b] {
			return i
		}
	}
	return len(text)
}

// The characters of words and ids; those of ids that words of a sentence do not have; and
// those that may be between a noun and its id.
var (
	wordBytes = setOf("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.*@")
	idBytes   = setOf("0123456789*")
	joints    = setOf(" :=/\\\"'`(#")
)

func setOf(characters string) (set [256]bool) {
	for _, b := range []byte(characters) {
		set[b] = true
	}
	return set
}

// contains reports whether a word has a character of a set.
func contains(word []byte, set *[256]bool) bool {
	return slices.ContainsFunc(word, func(b byte) bool { return set[b] })
}

// separator appends what is between two words, and returns its length. An id follows
// its noun behind a space, a colon, a quote and the like.
func (m *masker) separator(text []byte) (n int) {
	const longest = 6
	for ; n < len(text) && !wordBytes[text[n]]; n++ {
		if n == longest || !joints[text[n]] {
			m.noun = ""
		}
	}
	m.masked = append(m.masked, text[:n]...)
	return n
}

// word appends a word, or the mask.
func (m *masker) word(word []byte) {
	id := bytes.TrimRight(word, ".")
	if m.identifies(id) {
		m.masked = append(append(m.masked, mask...), word[len(id):]...)
		m.noun = ""
		return
	}
	m.masked = append(m.masked, word...)
	m.noun = nounOf(word, m.noun)
}

// identifies reports whether a word is an id of an account or a key.
func (m *masker) identifies(word []byte) bool {
	switch {
	case isKey(word):
		return true
	case !contains(word, &idBytes) || len(bytes.Trim(word, "0123456789")) == 0 && len(word) < len("123456789"):
		return false // a word of a sentence, or a small number
	}
	return m.noun == account && len(word) >= len("abc123") || isPrefixed(word)
}

// The nouns: account is any part of an account, which an id follows. Of users and keys,
// the word "id" has to be between, because requests have users and keys, too.
const (
	account = "account"
	user    = "user"
)

// nouns are the words of the nouns, in lower case and in the singular.
var nouns = map[string]string{
	"team": account, "organization": account, "organisation": account, "org": account, "project": account, "account": account,
	"tenant": account, "workspace": account, "subscription": account, "consumer": account, "apikey": account,
	"user": user, "key": user, "api": user,
}

// nounOf returns the noun to which a word belongs that follows a word of a noun.
func nounOf(word []byte, noun string) string {
	const longest = 24 // of the words, with "_number" behind
	if len(word) > longest {
		return ""
	}
	name := strings.ToLower(string(word))
	switch name {
	case "id", "number", "name", "uuid":
		if noun != "" {
			return account
		}
	case "is", "was":
		return noun
	case "key":
		if noun == user { // of an API
			return account
		}
	case "api_key", "api-key", "user_id", "key_id":
		return account
	}
	for _, suffix := range [...]string{"_id", "_number", "_name", "_uuid"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return nouns[strings.TrimSuffix(name, "s")]
}

// isPrefixed reports whether an id begins with a noun.
func isPrefixed(word []byte) bool {
	i := bytes.IndexAny(word, "-_")
	if i < 0 || len(word)-i <= len("-12345678") {
		return false
	}
	switch string(word[:i]) {
	case "org", "proj", "team", "acct", "wrkspc", "apikey", "svcacct", "user":
		return true
	}
	return false
}

// isKey reports whether a word is a key, as a whole or with the middle hidden.
func isKey(word []byte) bool {
	if len(word) <= len("sk-1234") {
		return false
	}
	for _, prefix := range [...]string{"sk-", "pk-", "rk-", "xai-", "gsk_", "pplx-", "nvapi-", "AIza"} {
		if bytes.HasPrefix(word, []byte(prefix)) && (contains(word, &idBytes) || bytes.Contains(word, []byte("..."))) {
			return true
		}
	}
	return bytes.Contains(word, []byte(mask))
}

// isURL reports whether a text begins with a URL, maybe with escaped slashes.
func isURL(text []byte) bool {
	rest, secure := bytes.CutPrefix(text, []byte("https:"))
	if !secure {
		rest, secure = bytes.CutPrefix(text, []byte("http:"))
	}
	return secure && (bytes.HasPrefix(rest, []byte("//")) || bytes.HasPrefix(rest, []byte(`\/\/`)))
}

// urlLength returns the length of the URL, or the name of a resource, at the beginning of
// a text.
func urlLength(text []byte) int {
	for i, b := range text {
		escaped := b == '\\' && i+1 < len(text) && text[i+1] == '/'
		if b <= ' ' || strings.IndexByte("\"'`<>)\\", b) >= 0 && !escaped {
			return i
		}
	}
	return len(text)
}

// url appends a URL without its query, or the mask for one of the provider.
func (m *masker) url(url []byte) {
	if m.host != "" && bytes.Contains(url, []byte(m.host)) {
		m.masked = append(m.masked, mask...)
		return
	}
	path, _, _ := bytes.Cut(url, []byte("?"))
	scheme := bytes.IndexByte(path, '/')
	m.masked = append(m.masked, path[:scheme]...)
	m.text(path[scheme:])
}
