package guardrails

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/texts"
)

// masking is a guard that replaces a word, and blocks another one.
type masking struct{ mask, block string }

func (m masking) Check(_ context.Context, v *aigateway.GuardView) (verdict aigateway.GuardVerdict, _ error) {
	for i, t := range v.Texts {
		if m.block != "" && strings.Contains(t.Text, m.block) {
			verdict.Block = "word"
		}
		for offset := 0; m.mask != ""; {
			n := strings.Index(t.Text[offset:], m.mask)
			if n < 0 {
				break
			}
			offset += n
			verdict.Edits = append(verdict.Edits, aigateway.GuardEdit{Text: i, Start: offset, End: offset + len(m.mask), With: "[m]"})
			offset += len(m.mask)
		}
	}
	return verdict, nil
}

// checkOf returns the check of a stream by guards with a window.
func checkOf(ctx context.Context, window aigateway.GuardWindow, guards ...aigateway.Guard) *answerCheck {
	ex := &exchange.Exchange{Key: new(aigateway.Key)}
	ex.Request.Format = formats.All()[0]
	a := &answerCheck{Checks: &Checks{Exchange: ex, logger: zap.NewNop()}, ctx: ctx, phase: aigateway.GuardStream, window: window}
	for _, g := range guards {
		a.guards = append(a.guards, &guard{Guard: g, kinds: defaultKinds})
	}
	return a
}

// hold gives a check a part of an answer with a delta, and what follows the delta.
func hold(a *answerCheck, delta, end string) {
	raw := jsonscan.AppendString(nil, delta)
	text := texts.Piece{Channel: texts.Channel{Kind: texts.Assistant}, Text: delta, Slot: jsonscan.Slot{End: len(raw)}}
	a.held.add(append(raw, end...), &texts.Part{Pieces: []texts.Piece{text}}, func(offset int) int { return offset })
}

// sentOf returns what is sent of an answer of two deltas, which a guard must pass.
func sentOf(t *testing.T, g aigateway.Guard, first, last string) string {
	a := checkOf(t.Context(), aigateway.DefaultGuardWindow, g)
	var sent strings.Builder
	for i, delta := range []string{first, last} {
		hold(a, delta, "")
		require.Nil(t, a.check(i == 1))
		out, _ := a.held.release()
		sent.Write(out)
	}
	return sent.String()
}

// unseen is a guard that blocks a number, however many invisible characters are in it.
type unseen struct{}

func (unseen) Check(_ context.Context, v *aigateway.GuardView) (verdict aigateway.GuardVerdict, _ error) {
	for _, t := range v.Texts {
		if strings.Contains(strings.ReplaceAll(t.Text, "\u200b", ""), "41111111") {
			verdict.Block = "number"
		}
	}
	return verdict, nil
}

// The window of a stream was once a number of bytes, of which full-width characters have three
// each: the beginning of a match that fits into the window as ASCII was sent before its end came.
func TestWideCharactersCountOnce(t *testing.T) {
	number := strings.Repeat("４", 150)
	sent := sentOf(t, masking{mask: number}, strings.Repeat("x", 1024)+number[:300], number[300:])
	assert.NotContains(t, sent, "４")
	assert.Contains(t, sent, "[m]")
}

// Characters without a width once filled the window of a stream, so that the first half of a number
// was sent before the second half was checked.
func TestInvisibleCharactersDoNotFillTheWindow(t *testing.T) {
	a := checkOf(t.Context(), aigateway.DefaultGuardWindow, unseen{})
	space := strings.Repeat("\u200b", 500) // more bytes than a step
	var blocked *block
	for _, delta := range []string{"it is 4111", space, space, "1111"} {
		hold(a, delta, "")
		blocked = a.check(delta == "1111")
		if blocked == nil {
			out, _ := a.held.release()
			assert.Zero(t, len(out))
		}
	}
	assert.NotNil(t, blocked)
}

// Escapes filled the window of a stream with six characters each, so that the beginning of a key that was written in
// them was sent before its end came.
func TestEscapesCountOnce(t *testing.T) {
	for _, letter := range []string{`\u0041`, `\\\\u004A`, `%4a`} {
		key := strings.Repeat(letter, 250)
		for _, cut := range []int{len(key) - 1, len(key) - 4, len(key) - len(letter)} {
			sent := sentOf(t, masking{mask: key}, strings.Repeat("x", 1024)+key[:cut], key[cut:])
			assert.NotContains(t, sent, "4", letter)
			assert.Contains(t, sent, "[m]", letter)
		}
	}
}

func TestTheEscapeAtTheEndOfAText(t *testing.T) {
	for text, want := range map[string]int{
		`x\u0041`: 6, `\u004A`: 6, `\\\\u0041`: 9, strings.Repeat(`\`, 20) + `u0041`: 6 + mostBackslashes, `x%4a`: 3, `u0041`: 0, `\u00`: 0, "": 0, "041": 0, `\n`: 0, "é": 0,
	} {
		assert.Equal(t, want, escapeBefore(text, false), text)
	}
	for text, want := range map[string]int{`\u`: 2, `x\\u00`: 5, `%`: 1, `%4`: 2, `%41`: 3, `\u0041`: 6, `\`: 0, "u00": 0} {
		assert.Equal(t, want, escapeBefore(text, true), text)
	}
}

// FuzzHeld divides a text into deltas. Whatever the division, what is sent is the text with all
// masks, and nothing of a word that blocks.
func FuzzHeld(f *testing.F) {
	f.Add("a secret in a secretsecret text, 😀 \"quoted\" secre", []byte{3, 1, 0, 7, 2}, uint8(6), uint8(0))
	f.Add(strings.Repeat("secret", 20), []byte{1}, uint8(8), uint8(5))
	f.Add("say forbidden things", []byte{5, 2}, uint8(16), uint8(3))
	f.Fuzz(func(t *testing.T, text string, cuts []byte, overlap, step uint8) {
		text = strings.ToValidUTF8(text, "?")
		const mask, block = "secret", "forbidden"
		a := checkOf(t.Context(), aigateway.GuardWindow{Overlap: max(int(overlap), len(block)), Step: int(step)}, masking{mask, block}, masking{mask: "[m] t"})
		var sent strings.Builder
		blocked := false
		send := func(final bool) {
			if blocked = blocked || a.check(final) != nil; blocked {
				return
			}
			out, ok := a.held.release()
			require.True(t, ok)
			for line := range strings.Lines(string(out)) {
				var delta string
				require.NoError(t, json.Unmarshal([]byte(line), &delta))
				sent.WriteString(delta)
			}
		}
		rest := []rune(text)
		for i := 0; len(rest) > 0 && !blocked; i++ {
			n := len(rest)
			if len(cuts) > 0 {
				n = min(n, int(cuts[i%len(cuts)])+1)
			}
			hold(a, string(rest[:n]), "\n")
			rest = rest[n:]
			send(false)
		}
		send(true)
		if strings.Contains(text, block) {
			assert.True(t, blocked)
			before, _, _ := strings.Cut(strings.ReplaceAll(strings.ReplaceAll(text, mask, "[m]"), "[m] t", "[m]"), block)
			assert.LessOrEqual(t, sent.Len(), len(before), "nothing of the word is sent")
			return
		}
		require.False(t, blocked)
		assert.NotContains(t, sent.String(), mask)
		assert.Equal(t, strings.ReplaceAll(strings.ReplaceAll(text, mask, "[m]"), "[m] t", "[m]"), sent.String())
	})
}
