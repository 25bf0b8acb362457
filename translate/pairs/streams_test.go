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
	for _, format := range spoken {
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

// everyStream returns the recordings and the streams of the exchanges, the shortest first,
// since that is the easiest one to debug.
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

// observed is an observer after a stream, with the signals of its events.
type observed struct {
	signal.Observer
	format  translate.Format
	events  []sse.Event
	signals []signal.Signal
}

// observe feeds the chunks to an observer; closed reports that the connection ends in an
// orderly way after the last.
func observe(format translate.Format, chunks [][]byte, closed bool) observed {
	o := observed{Observer: formats.Of(format).Answers.NewObserver(), format: format}
	lexer := sse.NewLexer(0)
	see := func(event sse.Event) {
		o.signals = append(o.signals, o.Observe(event))
		event.Name, event.Data = bytes.Clone(event.Name), bytes.Clone(event.Data)
		o.events = append(o.events, event)
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
	return o
}

// all returns the signals of all events together.
func (o observed) all() (union signal.Signal) {
	for _, s := range o.signals {
		union |= s
	}
	return union
}

// end returns the position after the last terminal event, 0 without one.
func (o observed) end() (position int64) {
	for i, s := range o.signals {
		if s.Has(signal.Terminal) {
			position = o.events[i].End
		}
	}
	return position
}

// lines returns the events with their signals, and what the observer has read.
func (o observed) lines() (lines []string) {
	for i, event := range o.events {
		lines = append(lines, fmt.Sprintf("%-24s %.60s", words(o.signals[i]), string(event.Name)+" "+string(event.Data)))
	}
	lines = append(lines, fmt.Sprintf("model %q", o.Model()), fmt.Sprintf("usage %s", usageText(o.Usage())))
	if fault := o.Fault(); fault != nil {
		errors := formats.Of(o.format).Errors
		if errors.Append == nil { // no client reads errors of the format
			errors = formats.Unspecified().Errors
		}
		lines = append(lines, fmt.Sprintf("fault %d %s", errors.Status(fault), errors.Append(nil, fault, "")))
	}
	return lines
}

// words returns the names of the signals in a union.
func words(s signal.Signal) string {
	names := []string{"content", "finish", "terminal", "usage-only", "failed", "usage"}
	var matches []string
	for i, name := range names {
		if s.Has(1 << i) {
			matches = append(matches, name)
		}
	}
	if matches == nil {
		return "-"
	}
	return strings.Join(matches, "+")
}

func TestObserversGiveTheRecordedSignals(t *testing.T) {
	for _, r := range recordings(t) {
		t.Run(r.name(), func(t *testing.T) {
			got := strings.Join(observe(r.format, [][]byte{r.bytes}, true).lines(), "\n") + "\n"
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
			want := observe(r.format, [][]byte{r.bytes}, true).lines()
			require.Equal(t, want, observe(r.format, split(r.bytes, func() int { return 1 }), true).lines())
			for range 8 {
				chunks := split(r.bytes, func() int { return 1 + random.IntN(97) })
				require.Equal(t, want, observe(r.format, chunks, true).lines())
			}
		})
	}
}

// A relay passes over deltas that repeat. Their number, texts and signals must be those of
// observing each of them.
func TestRepeatedDeltasAreReadAsAllOthers(t *testing.T) {
	random, repeated := rand.New(rand.NewPCG(3, 4)), 0
	for _, r := range everyStream(t) {
		want := observe(r.format, [][]byte{r.bytes}, false)
		for _, most := range []int{len(r.bytes), 1000, 100} {
			o, lexer, events, union := formats.Of(r.format).Answers.NewObserver(), sse.NewLexer(0), 0, signal.Signal(0)
			for _, chunk := range split(r.bytes, func() int { return 1 + random.IntN(most) }) {
				lexer.Feed(chunk)
				for more := true; more; {
					if n := o.Repeat(lexer); n > 0 {
						events, repeated, union = events+n, repeated+n, union|signal.Content
					}
					var event sse.Event
					if event, more = lexer.Next(); more {
						events, union = events+1, union|o.Observe(event)
					}
				}
			}
			require.Equal(t, len(want.events), events, r.name())
			require.Equal(t, want.all(), union, r.name())
			require.Equal(t, want.Text(), o.Text(), r.name())
			require.Equal(t, want.lines()[events:], observed{Observer: o, format: r.format}.lines(), r.name())
		}
	}
	require.NotZero(t, repeated)
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

// TestNoPrefixOfAStreamLooksFinished ensures that a stream which broke off is never mistaken
// for a whole one.
func TestNoPrefixOfAStreamLooksFinished(t *testing.T) {
	for _, r := range everyStream(t) {
		end := int(observe(r.format, [][]byte{r.bytes}, true).end())
		if end == 0 {
			continue
		}
		t.Run(r.name(), func(t *testing.T) {
			bytewise := split(r.bytes[:end-1], func() int { return 1 })
			require.False(t, observe(r.format, bytewise, false).all().Has(signal.Terminal))
			// An orderly end of the connection replaces the blank line after the last
			// event, so the prefixes for it end before that line.
			data := len(strings.TrimRight(string(r.bytes[:end]), "\r\n"))
			for _, n := range cuts(r.bytes[:data]) {
				require.False(t, observe(r.format, [][]byte{r.bytes[:n]}, true).all().Has(signal.Terminal), "%d bytes", n)
			}
		})
	}
}

// cuts returns the positions where a cut is most likely to be mistaken for an end: all
// around the line ends, and all within the last 100 bytes.
func cuts(data []byte) (positions []int) {
	for n := range data {
		window := data[max(0, n-2):min(len(data), n+2)]
		if n > len(data)-100 || bytes.ContainsAny(window, "\r\n") {
			positions = append(positions, n)
		}
	}
	return positions
}

// usageText returns usage in the form of the goldens. Counts that few providers send are
// left out if they are zero.
func usageText(u token.Usage) string {
	text := fmt.Sprintf("{Input:%d CacheRead:%d CacheWrite:%d Output:%d Reasoning:%d Known:%t", u.Fresh, u.CacheRead, u.Written(), u.Output(), u.Reasoning, u.Known)
	if u.CacheWriteLong != 0 || u.Searches != 0 {
		text += fmt.Sprintf(" CacheWriteLong:%d Searches:%d", u.CacheWriteLong, u.Searches)
	}
	return text + "}"
}

// A server wrote a space behind the mark of the end. The answer was whole, and clients of other
// formats got an error in place of its end.
func TestTheMarkOfTheEndMayHaveSpaceAroundIt(t *testing.T) {
	const mark = "data: [DONE]"
	for _, r := range everyStream(t) {
		if !bytes.Contains(r.bytes, []byte(mark)) {
			continue
		}
		for _, spaced := range []string{"data: [DONE] ", "data:  [DONE]", "data: [DONE]\t ", "data: [DONE]\ndata:"} {
			stream := bytes.ReplaceAll(r.bytes, []byte(mark), []byte(spaced))
			assert.Equal(t, observe(r.format, [][]byte{r.bytes}, true).signals, observe(r.format, [][]byte{stream}, true).signals, "%s: %q", r.name(), spaced)
			for _, w := range waysFrom(r.format) {
				want, got := translated(w, w.remembered(true), [][]byte{r.bytes}, false), translated(w, w.remembered(true), [][]byte{stream}, false)
				assert.Equal(t, want.out+want.summary(), got.out+got.summary(), "%s to %s: %q", r.name(), w.target, spaced)
				assert.Equal(t, want.signals, got.signals)
			}
		}
		unterminated := bytes.TrimRight(bytes.ReplaceAll(r.bytes, []byte(mark), []byte(mark+" ")), "\n")
		assert.Equal(t, observe(r.format, [][]byte{r.bytes}, true).signals, observe(r.format, [][]byte{unterminated}, true).signals, r.name())
	}
}
