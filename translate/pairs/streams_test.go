package pairs_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

var update = flag.Bool("update", false, "write the golden files")

// recording is a stream in the shape of a real one.
type recording struct {
	format translate.Format
	path   string
	bytes  []byte
}

func recordings(t testing.TB) []recording {
	t.Helper()
	var all []recording
	for _, format := range known {
		paths, err := filepath.Glob("../../testdata/streams/" + string(format) + "/*.sse")
		require.NoError(t, err)
		require.NotEmpty(t, paths, "testdata/streams/%s has no recorded streams", format)
		for _, path := range paths {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			all = append(all, recording{format, path, data})
		}
	}
	return all
}

// everyStream are the recordings and the streams of the exchanges, the shortest
// first, since that is the one to look at when several break a law.
func everyStream(t testing.TB) []recording {
	t.Helper()
	all := recordings(t)
	paths, err := filepath.Glob(exchangesDir + "/*/answer.*.sse")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		all = append(all, recording{translate.Format(strings.Split(filepath.Base(path), ".")[1]), path, data})
	}
	slices.SortStableFunc(all, func(a, b recording) int { return len(a.bytes) - len(b.bytes) })
	return all
}

func (r recording) name() string {
	return filepath.Base(filepath.Dir(r.path)) + "/" + strings.TrimSuffix(filepath.Base(r.path), ".sse")
}

// observed is what an observer said of a stream.
type observed struct {
	lines    []string
	all      signal.Signal
	terminal sse.Event
}

// observe feeds the chunks to an observer; the end of the last is the end of
// the stream when closed is set.
func observe(format translate.Format, chunks [][]byte, closed bool) (o observed) {
	lexer := sse.NewLexer(0)
	observer := formats.Of(format).Answers.NewObserver()
	see := func(event sse.Event) {
		sig := observer.Observe(event)
		if sig.Has(signal.Terminal) {
			o.terminal = sse.Event{Start: event.Start, End: event.End}
		}
		o.all |= sig
		o.lines = append(o.lines, fmt.Sprintf("%-24s %.60s", words(sig), string(event.Name)+" "+string(event.Data)))
	}
	for _, chunk := range chunks {
		lexer.Feed(chunk)
		for event, ok := lexer.Next(); ok; event, ok = lexer.Next() {
			see(event)
		}
	}
	if closed {
		if event, ok := lexer.Close(); ok {
			see(event)
		}
	}
	o.lines = append(o.lines, fmt.Sprintf("model %q", observer.Model()), fmt.Sprintf("usage %s", usageText(observer.Usage())))
	if fault := observer.Fault(); fault != nil {
		body := formats.Of(format).Errors.Append(nil, fault, "")
		o.lines = append(o.lines, fmt.Sprintf("fault %d %s", formats.Of(format).Errors.Status(fault), body))
	}
	return o
}

// words writes a signal out.
func words(s signal.Signal) string {
	names := []string{"content", "finish", "terminal", "usage-only", "failed", "usage"}
	var found []string
	for i, name := range names {
		if s.Has(1 << i) {
			found = append(found, name)
		}
	}
	if found == nil {
		return "-"
	}
	return strings.Join(found, "+")
}

func TestObserversGiveTheRecordedSignals(t *testing.T) {
	for _, r := range recordings(t) {
		t.Run(r.name(), func(t *testing.T) {
			got := strings.Join(observe(r.format, [][]byte{r.bytes}, true).lines, "\n") + "\n"
			golden := strings.TrimSuffix(r.path, ".sse") + ".signals"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), got)
		})
	}
}

func TestAnyChunkingGivesTheSameSignals(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, r := range everyStream(t) {
		t.Run(r.name(), func(t *testing.T) {
			want := observe(r.format, [][]byte{r.bytes}, true).lines
			require.Equal(t, want, observe(r.format, split(r.bytes, func() int { return 1 }), true).lines)
			for range 8 {
				chunks := split(r.bytes, func() int { return 1 + random.IntN(97) })
				require.Equal(t, want, observe(r.format, chunks, true).lines)
			}
		})
	}
}

// split cuts data into pieces of the sizes given.
func split(data []byte, size func() int) (chunks [][]byte) {
	for len(data) > 0 {
		n := min(size(), len(data))
		chunks = append(chunks, data[:n])
		data = data[n:]
	}
	return chunks
}

// TestNoPrefixOfAStreamLooksFinished ensures that a stream which broke off can
// never be taken for a whole one.
func TestNoPrefixOfAStreamLooksFinished(t *testing.T) {
	for _, r := range everyStream(t) {
		end := int(observe(r.format, [][]byte{r.bytes}, true).terminal.End)
		if end == 0 {
			continue
		}
		t.Run(r.name(), func(t *testing.T) {
			bytewise := split(r.bytes[:end-1], func() int { return 1 })
			require.False(t, observe(r.format, bytewise, false).all.Has(signal.Terminal))
			// An orderly end of the connection may stand for the blank line
			// behind the last event, so with it shorter prefixes are asked for.
			data := len(strings.TrimRight(string(r.bytes[:end]), "\r\n"))
			for _, n := range cuts(r.bytes[:data]) {
				require.False(t, observe(r.format, [][]byte{r.bytes[:n]}, true).all.Has(signal.Terminal), "%d bytes", n)
			}
		})
	}
}

// cuts are the places where a cut is likeliest to be mistaken for an end: all
// around the line ends, and every one within the last 100 bytes.
func cuts(data []byte) (at []int) {
	for n := range data {
		around := data[max(0, n-2):min(len(data), n+2)]
		if n > len(data)-100 || bytes.ContainsAny(around, "\r\n") {
			at = append(at, n)
		}
	}
	return at
}

// usageText returns usage as goldens have it. Counts that few providers have are left
// out where they are zero.
func usageText(u token.Usage) string {
	text := fmt.Sprintf("{Input:%d CacheRead:%d CacheWrite:%d Output:%d Reasoning:%d Known:%t", u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning, u.Known)
	if u.CacheWriteLong != 0 || u.Searches != 0 {
		text += fmt.Sprintf(" CacheWriteLong:%d Searches:%d", u.CacheWriteLong, u.Searches)
	}
	return text + "}"
}
