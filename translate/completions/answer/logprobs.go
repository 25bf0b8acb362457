package answer

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
)

// logprobList writes the log probabilities of a choice as the list of the chat format
// (wire format C.7). Its memory is reused.
type logprobList struct {
	list []byte
	text []byte
	tops []alternative
}

// alternative is a token that was likely at the position of another: raw, without
// quotes.
type alternative struct {
	token, value []byte
	weight       float64
}

// unknownWeight is the log probability of a token without one: the format has no null
// there, and uses this value for very unlikely tokens.
const unknownWeight = "-9999.0"

// listOf returns the list of a choice, nil without any token: the list of servers that send one, or
// three parallel lists joined, of which the values and the alternatives may be missing.
func (w *logprobList) listOf(choice *members.Values) []byte {
	if content := choice.Filled(logprobsContent); content != nil {
		return content
	}
	w.list = w.list[:0]
	token, value, top := elements(choice.Raw(logprobsTokens)), elements(choice.Raw(logprobsValues)), elements(choice.Raw(logprobsTop))
	for token.Element() {
		text := token.Skip()
		probability, others := next(&value), next(&top)
		if len(text) == 0 || text[0] != '"' {
			continue
		}
		w.list = append(w.list, ',')
		w.token(text[1:len(text)-1], probability)
		w.list = append(w.list, `,"top_logprobs":[`...)
		w.others(others)
		w.list = append(w.list, `]}`...)
	}
	if len(w.list) == 0 {
		return nil
	}
	w.list[0] = '['
	return append(w.list, ']')
}

// elements returns a cursor in an array; any other value has no elements.
func elements(raw []byte) jsonscan.Cursor {
	c := jsonscan.New(raw)
	c.EnterArray()
	return c
}

// next returns the next element, nil after the last.
func next(c *jsonscan.Cursor) []byte {
	if !c.Element() {
		return nil
	}
	return c.Skip()
}

// token writes a token without the end of its object.
func (w *logprobList) token(text, value []byte) {
	w.list = append(w.list, `{"token":"`...)
	w.list = append(w.list, text...)
	w.list = append(w.list, `","logprob":`...)
	if isNumber(value) {
		w.list = append(w.list, value...)
	} else {
		w.list = append(w.list, unknownWeight...)
	}
	w.list = append(w.list, `,"bytes":[`...)
	quoted := append(append(append(w.text[:0], '"'), text...), '"')
	w.text = jsonscan.AppendText(quoted, quoted)
	for i, b := range w.text[len(quoted):] {
		if i > 0 {
			w.list = append(w.list, ',')
		}
		w.list = strconv.AppendUint(w.list, uint64(b), 10)
	}
	w.list = append(w.list, ']')
}

func isNumber(raw []byte) bool {
	return len(raw) > 0 && (raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9')
}

// others writes the alternatives of a token, the most likely first.
func (w *logprobList) others(raw []byte) {
	w.tops = w.tops[:0]
	for token, value := range jsonscan.Members(raw) {
		weight, err := strconv.ParseFloat(string(value), 64)
		if err == nil && isNumber(value) {
			w.tops = append(w.tops, alternative{token, value, weight})
		}
	}
	slices.SortStableFunc(w.tops, func(a, b alternative) int { return cmp.Compare(b.weight, a.weight) })
	for i := range w.tops {
		if i > 0 {
			w.list = append(w.list, ',')
		}
		w.token(w.tops[i].token, w.tops[i].value)
		w.list = append(w.list, '}')
	}
}

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
		v.Read(&c, scored, nil)
		token := v.Raw(scoredToken)
		if token == nil {
			continue
		}
		if len(l.tokens) > 0 {
			l.tokens, l.values = append(l.tokens, ','), append(l.values, ',')
			l.tops, l.offsets = append(l.tops, ','), append(l.offsets, ',')
		}
		l.tokens = append(l.tokens, token...)
		l.values = append(l.values, orNull(v.Raw(scoredValue))...)
		l.tops = appendTop(l.tops, v.Raw(scoredTop), m.Logprobs.Top)
		l.offsets = strconv.AppendInt(l.offsets, int64(l.offset), 10)
		l.offset += utf8.RuneCount(jsonscan.AppendText(nil, token))
	}
}

func orNull(raw []byte) []byte {
	if raw == nil {
		return []byte("null")
	}
	return raw
}

// appendTop appends the alternatives of a token as one object of at most that many
// members. Of two alternatives with the same text, the first is the more likely one.
func appendTop(dst, list []byte, limit int) []byte {
	dst = append(dst, '{')
	var seen [][]byte
	c := jsonscan.New(list)
	var v members.Values
	for c.EnterArray(); len(seen) < limit && c.Element(); {
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
