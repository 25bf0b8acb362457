package guardrails

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/texts"
)

// applied returns an original with the edits of a revision.
func applied(original string, edits []aigateway.GuardEdit) string {
	for i := len(edits) - 1; i >= 0; i-- {
		original = original[:edits[i].Start] + edits[i].With + original[edits[i].End:]
	}
	return original
}

// Each edit of a text copied the whole text, so that a request of 560 kB with a mask every seven
// bytes took 20 seconds.
func TestManyEditsOfATextCopyItOnce(t *testing.T) {
	text := strings.Repeat("a@b.co ", 300_000)
	a := checkOf(t.Context(), aigateway.GuardWindow{}, masking{mask: "a@b.co"})
	r := requestCheck{Checks: a.Checks, texts: make([]texts.Text, 1), now: []aigateway.GuardText{{Kind: aigateway.GuardUser, Text: text}}}
	a.guards[0].passed = new(passed)
	want := strings.Repeat("[m] ", 300_000)
	v := revision{text: text}
	verdict, _ := masking{mask: "a@b.co"}.Check(t.Context(), &aigateway.GuardView{Texts: []aigateway.GuardText{{Text: text}}})
	v.apply("g", verdict.Edits)
	assert.True(t, v.text == want)
	of := new(channel)
	of.text.WriteString(text)
	of.edits = v.edits
	p := piece{channel: of, end: len(text)}
	sent, _ := p.edited()
	assert.True(t, sent == want)
	for _, run := range []func(){
		func() {
			r.now[0].Text = text
			r.check(t.Context(), a.guards[0])
		},
		func() { p.edited() },
	} {
		assert.Less(t, testing.AllocsPerRun(1, run), 200.0)
	}
	assert.True(t, r.now[0].Text == want)
}

// FuzzRevision edits a text several times. The edits of the original must have the same result.
func FuzzRevision(f *testing.F) {
	f.Add("abcdefghij", []byte{2, 3, 1, 1, 4, 5, 0, 2, 0, 9})
	f.Add("abc", []byte{0, 0, 3, 0, 3, 0, 1, 1, 2})
	f.Fuzz(func(t *testing.T, original string, steps []byte) {
		r := revision{text: original}
		want := original
		for ; len(steps) >= 3 && len(original) > 0; steps = steps[3:] {
			start := int(steps[0]) % (len(want) + 1)
			end := start + int(steps[1])%(len(want)-start+1)
			next := end + int(steps[0]/16)%(len(want)-end+1) // of a second edit
			edits := []aigateway.GuardEdit{
				{Start: start, End: end, With: "XYZVW"[:steps[2]%6]},
				{Start: next, End: next + int(steps[2]/16)%(len(want)-next+1), With: "PQRST"[:steps[1]%6]},
			}
			want = applied(want, edits)
			r.apply("g", edits)
			require.Equal(t, want, r.text)
			assert.Equal(t, want, applied(original, r.edits))
			last := 0
			for _, e := range r.edits {
				require.True(t, last <= e.Start && e.Start <= e.End && e.End <= len(original), "%+v", r.edits)
				last = e.End
			}
		}
	})
}
