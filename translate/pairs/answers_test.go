package pairs_test

import (
	"bytes"
	"encoding/json"
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
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

// remembered returns the context of a request that asked for everything that its format
// has.
func (w way) remembered(stream bool) translate.AnswerContext {
	m := translate.AnswerContext{Stream: stream, Cuts: translate.Cuts{Stops: []string{"END"}}}
	switch w.target {
	case translate.Completions:
		m.IncludeUsage, m.Input.Echo, m.Input.Length = stream, []byte("Once "), 5
	case translate.Chat:
		m.IncludeUsage, m.Logprobs.Asked = stream, true
	case translate.Responses, translate.Gemini:
		m.Logprobs.Asked = true
	}
	if w.source == translate.Responses || w.source == translate.Gemini || w.target == translate.Responses || w.target == translate.Gemini {
		m.Seals = sealer
	}
	return m
}

// sealer seals reasoning between the responses format and others.
var sealer = func() *seal.Sealer {
	ring, err := seal.NewRing([]byte("a key of goldens"))
	if err != nil {
		panic(err)
	}
	return ring.For("provider", "tenant")
}()

func newIDs() translate.IDs {
	n := 0
	return translate.IDs{Message: "id_1", Created: 1700000000, Model: "asked", NewToolID: func() string {
		n++
		return fmt.Sprintf("toolu_new%d", n)
	}}
}

// outcome is an answer after its translation.
type outcome struct {
	way
	out     string
	signals []signal.Signal
	*pairs.Translator
}

// translated translates a stream, chunk by chunk.
func translated(w way, m translate.AnswerContext, chunks [][]byte, clean bool) outcome {
	o := outcome{way: w, Translator: pairs.NewTranslator(w.source, w.target, &m, newIDs())}
	lexer := sse.NewLexer(0)
	var out bytes.Buffer
	handle := func(event sse.Event) {
		o.signals = append(o.signals, o.Event(event))
		out.Write(o.Output())
	}
	for _, chunk := range chunks {
		lexer.Feed(chunk)
		for event, ok := lexer.Next(); ok; event, ok = lexer.Next() {
			handle(event)
		}
	}
	if event, ok := lexer.Close(); ok && clean {
		handle(event)
	}
	o.End(clean)
	out.Write(o.Output())
	o.out = out.String()
	return o
}

// answered translates a JSON answer.
func answered(w way, m translate.AnswerContext, body []byte) outcome {
	o := outcome{way: w, Translator: pairs.NewTranslator(w.source, w.target, &m, newIDs())}
	o.Answer(body)
	o.out = string(o.Output())
	return o
}

// requireAgreement requires that a stream and a JSON answer have the same content, or that
// both failed without looking finished.
func requireAgreement(t testing.TB, w way, stream, answer outcome) {
	t.Helper()
	require.Equal(t, answer.Finished(), stream.Finished())
	require.Equal(t, stream.Fault() == nil, stream.Finished())
	require.Equal(t, answer.Fault() == nil, answer.Finished())
	require.Equal(t, answer.Usage(), stream.Usage())
	require.Equal(t, answer.Model(), stream.Model())
	if !stream.Finished() {
		requireUnfinished(t, stream)
		require.Empty(t, answer.out)
		return
	}
	added, err := w.added(stream.out, true)
	require.NoError(t, err, "%s", stream.out)
	whole, err := client.Decode([]byte(answer.out))
	require.NoError(t, err, "%s", answer.out)
	require.Equal(t, whole, added)
}

// requireUnfinished requires that a stream consists of whole events without an end.
func requireUnfinished(t testing.TB, o outcome) {
	t.Helper()
	_, err := client.EmittedEvents([]byte(o.out))
	require.NoError(t, err)
	for _, end := range lastEvents {
		require.False(t, strings.Contains(o.out, end), "%s in %s", end, o.out)
	}
	if o.target != translate.Responses { // every response of this format has a member error
		require.False(t, strings.Contains(o.out, `"error"`), "%s", o.out)
	}
}

// summary returns the parts of an outcome other than its output, as text.
func (o outcome) summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "model %q, usage %s, finished %t\n", o.Model(), usageText(o.Usage()), o.Finished())
	if fault := o.Fault(); fault != nil {
		fmt.Fprintf(&b, "fault %d %s\n", formats.Of(o.target).Errors.Status(fault), formats.Of(o.target).Errors.Append(nil, fault, ""))
	}
	return b.String()
}

func TestRecordedStreamsAreTranslated(t *testing.T) {
	for _, w := range ways {
		for _, r := range recordings(t) {
			if r.format != w.source {
				continue
			}
			t.Run(w.name()+"/"+r.name(), func(t *testing.T) {
				stream := translated(w, w.remembered(true), [][]byte{r.bytes}, true)
				answer := translated(w, w.remembered(false), [][]byte{r.bytes}, true)
				requireAgreement(t, w, stream, answer)
				golden(t, w, filepath.Base(r.path), stream, answer)
			})
		}
	}
}

// golden compares both forms of an answer with the recorded ones.
func golden(t *testing.T, w way, name string, stream, answer outcome) {
	t.Helper()
	got := stream.summary() + "\n" + stream.out
	if answer.out != "" {
		var indented bytes.Buffer
		require.NoError(t, json.Indent(&indented, []byte(answer.out), "", "  "))
		got += indented.String() + "\n"
	}
	dir := filepath.Join("../../testdata/goldens/answers", string(w.source)+"-"+string(w.target))
	require.NoError(t, os.MkdirAll(dir, 0o755))
	requireGolden(t, filepath.Join(dir, strings.TrimSuffix(strings.TrimSuffix(name, ".sse"), ".json")+".txt"), []byte(got))
}

// TestAnswersAreReplayedAsStreams ensures that a JSON answer becomes the same answer, and a
// stream that adds up to it: some servers answer a request for a stream with JSON.
func TestAnswersAreReplayedAsStreams(t *testing.T) {
	for _, w := range ways {
		paths, err := filepath.Glob("../../testdata/goldens/answers/" + string(w.source) + "/*.json")
		require.NoError(t, err)
		require.NotEmpty(t, paths, "testdata/goldens/answers/%s has no answers", w.source)
		for _, path := range paths {
			t.Run(w.name()+"/"+filepath.Base(path), func(t *testing.T) {
				body, err := os.ReadFile(path)
				require.NoError(t, err)
				stream := answered(w, w.remembered(true), body)
				answer := answered(w, w.remembered(false), body)
				requireAgreement(t, w, stream, answer)
				golden(t, w, filepath.Base(path), stream, answer)
			})
		}
	}
}

func TestAnyChunkingGivesTheSameAnswer(t *testing.T) {
	for i, r := range everyStream(t) {
		for _, w := range waysFrom(r.format) {
			t.Run(w.name()+"/"+r.name(), func(t *testing.T) {
				t.Parallel()
				assertAnyChunking(t, w, r.bytes, rand.New(rand.NewPCG(3, uint64(i))))
			})
		}
	}
}

var divisions = flag.Int("divisions", 10, "the number of divisions of each stream of TestAnyChunking, with each line end, in each form")

// assertAnyChunking translates a stream with each line end, in both forms, byte by byte and
// in random chunks.
func assertAnyChunking(t *testing.T, w way, stream []byte, random *rand.Rand) {
	t.Helper()
	lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(stream))
	for _, streaming := range []bool{true, false} {
		m := w.remembered(streaming)
		want := translated(w, m, [][]byte{stream}, true)
		summary := want.summary()
		for _, end := range []string{"\n", "\r\n", "\r"} {
			data := []byte(strings.ReplaceAll(lines, "\n", end))
			for n := range *divisions {
				limit := 1 // byte by byte
				if n > 0 {
					limit += random.IntN(97)
				}
				got := translated(w, m, split(data, func() int { return 1 + random.IntN(limit) }), true)
				require.Equal(t, want.out, got.out)
				require.True(t, slices.Equal(want.signals, got.signals))
				require.Equal(t, summary, got.summary())
			}
		}
	}
}

// TestNoPrefixOfAStreamIsAWholeAnswer ensures that an answer which broke off before the
// provider ended it is never shown as finished, and that its output is a prefix of the
// whole output.
func TestNoPrefixOfAStreamIsAWholeAnswer(t *testing.T) {
	for _, r := range everyStream(t) {
		t.Run(r.name(), func(t *testing.T) {
			t.Parallel()
			prefixes := prefixesOf(r)
			for _, w := range waysFrom(r.format) {
				whole := translated(w, w.remembered(true), [][]byte{r.bytes}, true)
				for i := range prefixes {
					assertPrefix(t, w, whole, &prefixes[i])
				}
			}
		})
	}
}

// prefix is the beginning of a stream whose connection ends.
type prefix struct {
	bytes []byte
	clean bool // the connection ends in an orderly way
	seen  signal.Signal
}

// prefixesOf returns the prefixes of a stream that differ in their events. All others have
// the same translation as one of them.
func prefixesOf(r recording) (all []prefix) {
	for _, clean := range []bool{false, true} {
		events := -1
		for _, n := range cuts(r.bytes) {
			if o := observe(r.format, [][]byte{r.bytes[:n]}, clean); len(o.events) != events {
				events = len(o.events)
				all = append(all, prefix{r.bytes[:n], clean, o.all()})
			}
		}
	}
	return all
}

// assertPrefix asserts that neither the stream nor the JSON answer of a prefix is a whole
// answer.
func assertPrefix(t *testing.T, w way, whole outcome, p *prefix) {
	t.Helper()
	ends := signal.Terminal
	if p.clean {
		ends |= signal.Finish // some servers send nothing after it
	}
	mayFinish := p.seen&ends != 0
	assertCutOff(t, whole, translated(w, w.remembered(true), [][]byte{p.bytes}, p.clean), mayFinish)
	answer := translated(w, w.remembered(false), [][]byte{p.bytes}, p.clean)
	require.Equal(t, answer.Finished(), answer.out != "")
	require.True(t, mayFinish || !answer.Finished())
}

func assertCutOff(t *testing.T, whole, part outcome, mayFinish bool) {
	t.Helper()
	switch {
	case !part.Finished():
		require.NotNil(t, part.Fault())
		requireUnfinished(t, part)
		require.True(t, strings.HasPrefix(whole.out, part.out), "%s", part.out)
	case part.out != whole.out: // other tests read the whole output
		_, err := part.added(part.out, true)
		require.NoError(t, err)
		fallthrough
	default:
		require.True(t, mayFinish, "%s", part.out)
	}
}

// TestAnswersReachExactlyOneEnd ensures that the signals of an answer contain one end, and
// nothing after it.
func TestAnswersReachExactlyOneEnd(t *testing.T) {
	const ends = signal.Terminal | signal.Failed
	for _, r := range everyStream(t) {
		for _, w := range waysFrom(r.format) {
			o := translated(w, w.remembered(true), [][]byte{r.bytes}, true)
			isOver := false
			for _, s := range o.signals {
				assert.False(t, isOver && s != 0, r.name())
				isOver = isOver || s&ends != 0
			}
			assert.Equal(t, o.Finished(), o.Fault() == nil, r.name())
			before := o.summary()
			o.End(false)
			assert.Empty(t, o.Output(), r.name())
			assert.Zero(t, o.Event(sse.Event{Data: []byte(`{"choices":[{"delta":{"content":"late"}}]}`)}), r.name())
			assert.Empty(t, o.Output(), r.name())
			assert.Equal(t, before, o.summary(), r.name())
		}
	}
}
