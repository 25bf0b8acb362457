package guarding

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// applied returns an original with the edits of a revision.
func applied(original string, edits []aigateway.GuardEdit) string {
	for i := len(edits) - 1; i >= 0; i-- {
		original = original[:edits[i].Start] + edits[i].With + original[edits[i].End:]
	}
	return original
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
			with := "XYZVW"[:steps[2]%6]
			want = want[:start] + with + want[end:]
			r.apply("g", []aigateway.GuardEdit{{Start: start, End: end, With: with}})
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
