package answer

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
)

// legacy contains log probabilities in the form of the completions format: parallel
// lists with one element for each token, kept here without their brackets.
type legacy struct {
	tokens, values, tops, offsets []byte

	offset int // of the next token, in characters from the beginning of the prompt
}

// The members of an element of the list of the chat format, and of its alternatives.
var (
	scored      = members.New("")
	scoredToken = scored.Maybe(members.String, "token")
	scoredValue = scored.Maybe(members.Number, "logprob")
	scoredTop   = scored.Maybe(members.Array, "top_logprobs")
)

// add adds the tokens of a list of the chat format.
func (l *legacy) add(list []byte, m *translate.AnswerContext) {
	c := jsonscan.New(list)
	var v members.Values
	for c.EnterArray(); c.Element(); {
		if v.Read(&c, scored, nil); v.Raw(scoredToken) != nil {
			l.addToken(v.Raw(scoredToken), v.Raw(scoredValue), v.Raw(scoredTop), m.Logprobs.Top)
		}
	}
}

func (l *legacy) addToken(token, value, top []byte, most int) {
	if len(l.tokens) > 0 {
		l.tokens, l.values = append(l.tokens, ','), append(l.values, ',')
		l.tops, l.offsets = append(l.tops, ','), append(l.offsets, ',')
	}
	l.tokens = append(l.tokens, token...)
	l.values = append(l.values, orNull(value)...)
	l.tops = appendTop(l.tops, top, most)
	l.offsets = strconv.AppendInt(l.offsets, int64(l.offset), 10)
	l.offset += utf8.RuneCount(jsonscan.AppendText(nil, token))
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
	var v members.Values
	for c.EnterArray(); len(seen) < most && c.Element(); {
		v.Read(&c, scored, nil)
		token := v.Raw(scoredToken)
		if token == nil || slices.ContainsFunc(seen, func(s []byte) bool { return bytes.Equal(s, token) }) {
			continue
		}
		if len(seen) > 0 {
			dst = append(dst, ',')
		}
		seen = append(seen, token)
		dst = append(append(dst, token...), ':')
		dst = append(dst, orNull(v.Raw(scoredValue))...)
	}
	return append(dst, '}')
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
	if m.Logprobs.Top > 0 {
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
