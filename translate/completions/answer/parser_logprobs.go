package answer

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
)

// logprobList writes the log probabilities of a choice as the list of the chat format
// (wire format C.7). Its memory is reused.
type logprobList struct {
	out  []byte
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

// of returns the list of a choice, nil without any token.
func (w *logprobList) of(choice *members.Values) []byte {
	if content := choice.Filled(logprobsContent); content != nil {
		return content
	}
	return w.write(choice.Raw(logprobsTokens), choice.Raw(logprobsValues), choice.Raw(logprobsTop))
}

// write joins three parallel lists. The values and the alternatives may be missing.
func (w *logprobList) write(tokens, values, tops []byte) []byte {
	w.out = w.out[:0]
	token, value, top := elements(tokens), elements(values), elements(tops)
	for token.Element() {
		text := token.Skip()
		probability, others := next(&value), next(&top)
		if len(text) == 0 || text[0] != '"' {
			continue
		}
		w.out = append(w.out, ',')
		w.token(text[1:len(text)-1], probability)
		w.out = append(w.out, `,"top_logprobs":[`...)
		w.others(others)
		w.out = append(w.out, `]}`...)
	}
	if len(w.out) == 0 {
		return nil
	}
	w.out[0] = '['
	return append(w.out, ']')
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
	w.out = append(w.out, `{"token":"`...)
	w.out = append(w.out, text...)
	w.out = append(w.out, `","logprob":`...)
	if isNumber(value) {
		w.out = append(w.out, value...)
	} else {
		w.out = append(w.out, unknownWeight...)
	}
	w.out = append(w.out, `,"bytes":[`...)
	quoted := append(append(append(w.text[:0], '"'), text...), '"')
	w.text = jsonscan.AppendText(quoted, quoted)
	for i, b := range w.text[len(quoted):] {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.out = strconv.AppendUint(w.out, uint64(b), 10)
	}
	w.out = append(w.out, ']')
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
			w.out = append(w.out, ',')
		}
		w.token(w.tops[i].token, w.tops[i].value)
		w.out = append(w.out, '}')
	}
}
