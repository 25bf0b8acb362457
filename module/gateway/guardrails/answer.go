package guardrails

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/texts"
)

// answerCheck is the check of one answer, as it arrives.
type answerCheck struct {
	*Checks
	ctx    context.Context
	phase  aigateway.GuardPhase
	guards []*guard
	window aigateway.GuardWindow // the largest of the guards
	asked  bool
	held   held
}

var errUnreadable = errors.New("the answer cannot be read, so that its texts are unknown")

// due returns the texts that guards are to be asked about, and what they are in the answer: a
// channel, with the offset of the text in it, or another string.
func (a *answerCheck) due(final bool) (v []aigateway.GuardText, about []subject) {
	for _, c := range a.held.order {
		c.ended = c.ended || final
		if !c.isDue(a.window.Step) {
			continue
		}
		text, start := c.text.String(), a.heldFrom(c, c.clear)
		if c.kind == texts.Call {
			text, start = texts.Unescaped(text), 0
		}
		about = append(about, subject{channel: c, start: start})
		v = append(v, aigateway.GuardText{
			Kind: kinds[c.kind], Name: c.name, Group: len(v), Text: text[start:], Before: start > 0, More: !c.ended,
		})
	}
	due := final || len(v) > 0 || a.window.Step == 0
	for _, o := range a.held.others {
		text := aigateway.GuardText{Kind: aigateway.GuardOther, Group: len(v), Text: o.text}
		due = due || !text.IsWord()
		v, about = append(v, text), append(about, subject{other: o})
	}
	if !due { // words wait for a text
		return nil, nil
	}
	a.held.others = nil
	return v, about
}

// subject is what a text is in the answer.
type subject struct {
	channel *channel
	start   int
	other   *other
}

// mostInvisible is the largest number of bytes of invisible characters that the window of a stream
// has in addition. Each check reads the window.
const mostInvisible = 16 << 10

// heldFrom returns the beginning of the window that ends at an offset in the text of a channel. A character
// counts once, also if it is written as an escape.
func (a *answerCheck) heldFrom(c *channel, end int) int {
	text, n := c.text.String(), a.window.Overlap
	start := end
	for start > 0 && n > 0 && end-start < utf8.UTFMax*a.window.Overlap+mostInvisible {
		r, size := utf8.DecodeLastRuneInString(text[:start])
		start -= max(size, escapeBefore(text[:start], start == end))
		if r < utf8.RuneSelf || !aigateway.IsInvisible(r) {
			n--
		}
	}
	return start
}

// mostBackslashes bounds those in front of an escape that belong to it: three layers of JSON have seven.
const mostBackslashes = 7

// escapeBefore returns the size of the escape at the end of a text, \u0041 or %41, with the backslashes of further
// layers; 0 if there is none. cut is true if the escape may lack digits that the text does not have yet.
func escapeBefore(text string, cut bool) int {
	isHex := func(r rune) bool { return '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'f' }
	for size := 1; size <= min(6, len(text)); size++ {
		switch tail := text[len(text)-size:]; {
		case tail[0] == '%' && (size == 3 || cut && size < 3):
			return size
		case size >= 2 && tail[0] == '\\' && tail[1] == 'u' && (size == 6 || cut):
			head := text[max(0, len(text)-size-mostBackslashes) : len(text)-size]
			return size + len(head) - len(strings.TrimRight(head, `\`))
		case tail[0] == 'u' || isHex(rune(tail[0])):
		default:
			return 0
		}
	}
	return 0
}

// check asks the guards about the texts that are due. It returns why the answer does not pass.
func (a *answerCheck) check(final bool) *block {
	list, about := a.due(final)
	if len(list) == 0 && (a.asked || !final) {
		return nil
	}
	a.asked = true
	now := make([]revision, len(list))
	for i := range list {
		now[i].text = list[i].Text
	}
	for _, g := range a.guards {
		v, index := a.view(a.phase), []int(nil)
		for i := range list {
			if g.sees(list[i].Kind) {
				text := list[i]
				text.Text = now[i].text
				v.Texts, index = append(v.Texts, text), append(index, i)
			}
		}
		if len(v.Texts) == 0 && len(list) > 0 {
			continue
		}
		verdict, b := a.ask(a.ctx, g, v)
		if b != nil {
			return b
		}
		for i, edits := range byText(verdict.Edits) {
			now[index[i]].apply(g.Name, edits)
		}
	}
	for i := range now {
		if b := a.decide(about[i], &now[i]); b != nil {
			return b
		}
	}
	return nil
}

// decide takes over the edits of a text.
func (a *answerCheck) decide(s subject, r *revision) *block {
	if s.other != nil {
		if !a.held.pass(s.other, r.text) {
			return a.blocked(r.guard, r.edits[0].Rule, a.phase)
		}
		return nil
	}
	c := s.channel
	if c.kind == texts.Call && len(r.edits) > 0 { // their offsets are those of the text without escapes
		return a.blocked(r.guard, r.edits[0].Rule, a.phase)
	}
	end := c.text.Len()
	limit := end
	if !c.ended {
		limit = max(c.clear, a.heldFrom(c, end))
	}
	for _, e := range r.edits {
		e.Start, e.End = e.Start+s.start, e.End+s.start
		if e.Start < c.clear || e.Start >= limit && !c.ended {
			continue // it was decided before, or more of the text may change it
		}
		if c.kind != texts.Assistant || a.held.logprobs {
			return a.blocked(r.guard, e.Rule, a.phase)
		}
		c.edits = append(c.edits, e)
		limit = max(limit, e.End)
	}
	c.asked, c.checked, c.clear = true, end, limit
	return nil
}

// answerFault returns the fault of an answer that does not pass.
func (b *block) answerFault() *fault.Fault {
	if b.err != nil && b.guard == "" {
		return fault.Unusable(b.err)
	}
	if b.err != nil {
		return fault.GuardFailed(b.guard, b.err)
	}
	return fault.AnswerBlocked(b.guard, b.rule)
}
