package token

import (
	"encoding/binary"
	"math/bits"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Text is the size of the text of an answer, from which its tokens are estimated if the
// provider does not report them: texts, reasoning, and arguments of tool calls. The zero
// Text is the empty text.
type Text struct {
	ascii int64 // characters of ASCII
	wide  int64 // bytes of all other characters in UTF-8
}

// bytesPerWideToken is the ratio of characters beyond ASCII: about a token for each Chinese
// or Japanese character, which has three bytes.
const bytesPerWideToken = 3

// Add adds a text in UTF-8.
func (t *Text) Add(text []byte) {
	wide := wideBytes(text)
	t.wide += wide
	t.ascii += int64(len(text)) - wide
}

// AddString adds the text of a raw string of JSON. An escape counts as its character. A
// value of another kind adds nothing.
func (t *Text) AddString(raw []byte) {
	text := jsonscan.Inner(raw)
	length, escaped := jsonscan.InnerSize(text)
	wide := wideBytes(text) + int64(escaped)
	t.wide += wide
	t.ascii += int64(length) - wide
}

// AddTokens adds what is no text, such as sound.
func (t *Text) AddTokens(n int64) { t.ascii += n * DefaultBytesPerToken }

// AddValue is AddString for a string that a template has recognised.
func (t *Text) AddValue(text jsonscan.Value) {
	if !text.Plain {
		t.AddString(text.Raw)
		return
	}
	t.ascii += int64(len(text.Raw) - len(`""`)) // nearly always
}

// wideBytes returns the number of bytes that belong to characters beyond ASCII.
func wideBytes(text []byte) (n int64) {
	const size, high = 8, 0x8080808080808080
	for ; len(text) >= size; text = text[size:] {
		n += int64(bits.OnesCount64(binary.LittleEndian.Uint64(text) & high))
	}
	for _, b := range text {
		n += int64(b >> 7)
	}
	return n
}

// Plus returns the size of two texts together.
func (t Text) Plus(other Text) Text {
	return Text{ascii: t.ascii + other.ascii, wide: t.wide + other.wide}
}

// Tokens estimates the tokens of the text: one for every four characters of ASCII, and one
// for every three bytes of other characters. It is 0 only for the empty text.
func (t Text) Tokens() int64 {
	const unit = DefaultBytesPerToken * bytesPerWideToken
	return (bytesPerWideToken*t.ascii + DefaultBytesPerToken*t.wide + unit - 1) / unit
}
