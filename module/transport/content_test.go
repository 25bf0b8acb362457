package transport

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
)

// Each line of results is edited once and whole, however the parts of it arrive, and all other bytes stay.
func TestLinesOfResultsAreEditedWhole(t *testing.T) {
	by := func(edits []edit.Edit, line []byte) []edit.Edit {
		if i := bytes.Index(line, []byte("raw")); i >= 0 {
			edits = append(edits, edit.Edit{Span: translate.Span{Start: i, End: i + 3}, With: []byte("sealed")})
		}
		return edits
	}
	long := strings.Repeat("x", 10_000)
	for text, want := range map[string]string{
		"":                                  "",
		"a\r\n\nb raw":                      "a\r\n\nb sealed",
		"raw\nraw\n":                        "sealed\nsealed\n",
		long + "raw" + long + "\nraw\n":     long + "sealed" + long + "\nsealed\n",
		strings.Repeat("y", 4096) + "\nraw": strings.Repeat("y", 4096) + "\nsealed",
	} {
		for name, src := range map[string]io.Reader{"whole": strings.NewReader(text), "bytes": iotest.OneByteReader(strings.NewReader(text)), "end": iotest.DataErrReader(strings.NewReader(text))} {
			got, err := io.ReadAll(newResults(src, by))
			require.NoError(t, err)
			assert.Equal(t, want, string(got), name)
		}
	}
	tooLong := strings.Repeat("z", maxResult) + "raw\nraw"
	got, err := io.ReadAll(newResults(strings.NewReader(tooLong), by))
	require.NoError(t, err)
	assert.Len(t, got, len(tooLong)+3)
	assert.True(t, bytes.HasSuffix(got, []byte("zraw\nsealed")), "a line that is too long stays")
	_, err = io.ReadAll(newResults(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("ab"))), by))
	assert.ErrorIs(t, err, iotest.ErrTimeout)
}
