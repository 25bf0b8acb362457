package answer

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// legacy contains log probabilities in the form of the completions format: parallel
// lists with one element for each token, kept here without their brackets.
type legacy struct {
	tokens, values, tops, offsets []byte

	offset int // of the next token, in characters from the beginning of the prompt
}

// logprobToken contains the raw members of an element of the list of the chat format,
// nil for absent members.
type logprobToken struct{ text, value, top []byte }

// add adds the tokens of a list of the chat format.
func (l *legacy) add(list []byte, m *translate.AnswerContext) {
	c := jsonscan.New(list)
	c.EnterArray()
	for c.Element() {
		if t := readToken(&c); t.text != nil {
			l.addToken(t, m.TopLogprobs)
		}
	}
}

func readToken(c *jsonscan.Cursor) (t logprobToken) {
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "token":
			t.text = value(c, jsonscan.String)
		case "logprob":
			t.value = value(c, jsonscan.Number)
		case "top_logprobs":
			t.top = value(c, jsonscan.Array)
		default:
			c.Skip()
		}
	}
	return t
}

// value consumes a value and returns it raw, nil for a value of another kind.
func value(c *jsonscan.Cursor, want jsonscan.Kind) []byte {
	kind := c.Kind()
	raw := c.Skip()
	if kind != want {
		return nil
	}
	return raw
}

func (l *legacy) addToken(t logprobToken, top int) {
	if len(l.tokens) > 0 {
		l.tokens, l.values = append(l.tokens, ','), append(l.values, ',')
		l.tops, l.offsets = append(l.tops, ','), append(l.offsets, ',')
	}
	l.tokens = append(l.tokens, t.text...)
	l.values = append(l.values, orNull(t.value)...)
	l.tops = appendTop(l.tops, t.top, top)
	l.offsets = strconv.AppendInt(l.offsets, int64(l.offset), 10)
	l.offset += utf8.RuneCount(jsonscan.AppendText(nil, t.text))
}

func orNull(raw []byte) []byte {
	if raw == nil {
		return []byte("null")
	}
	return raw
}

// appendTop appends the alternatives of a token as one object of at most that many
// members. Of two alternatives with the same text, the first is the more likely one.
func appendTop(dst, list []byte, most int) []byte {
	dst = append(dst, '{')
	var seen [][]byte
	c := jsonscan.New(list)
	for c.EnterArray(); len(seen) < most && c.Element(); {
		t := readToken(&c)
		if t.text == nil || contains(seen, t.text) {
			continue
		}
		if len(seen) > 0 {
			dst = append(dst, ',')
		}
		seen = append(seen, t.text)
		dst = append(dst, t.text...)
		dst = append(dst, ':')
		dst = append(dst, orNull(t.value)...)
	}
	return append(dst, '}')
}

func contains(seen [][]byte, text []byte) bool {
	for _, s := range seen {
		if bytes.Equal(s, text) {
			return true
		}
	}
	return false
}

// append appends the object with the lists, or null without any token.
func (l *legacy) append(dst []byte, m *translate.AnswerContext) []byte {
	if len(l.tokens) == 0 {
		return append(dst, "null"...)
	}
	dst = append(dst, `{"tokens":[`...)
	dst = append(dst, l.tokens...)
	dst = append(dst, `],"token_logprobs":[`...)
	dst = append(dst, l.values...)
	dst = append(dst, `],"top_logprobs":`...)
	if m.TopLogprobs > 0 {
		dst = append(dst, '[')
		dst = append(dst, l.tops...)
		dst = append(dst, ']')
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"text_offset":[`...)
	dst = append(dst, l.offsets...)
	return append(dst, "]}"...)
}
