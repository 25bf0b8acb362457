package pairs_test

import (
	"bytes"
	"encoding/json"
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
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// remembered is the memory of a request that asked for all that its format has.
func (w way) remembered(stream bool) translate.AnswerContext {
	m := translate.AnswerContext{Stream: stream, Stops: []string{"END"}}
	switch w.to {
	case translate.Completions:
		m.IncludeUsage, m.Echo, m.PromptLength = stream, []byte("Once "), 5
	case translate.Chat:
		m.IncludeUsage, m.Logprobs = stream, true
	case translate.Responses:
		m.Logprobs = true
	}
	if w.from == translate.Responses || w.to == translate.Responses {
		m.Seals = sealer
	}
	return m
}

// sealer seals what goes between the responses format and others.
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

// outcome is what became of an answer.
type outcome struct {
	way
	out     string
	signals []signal.Signal
	*pairs.Translator
}

// translated puts a stream through a translator, chunk by chunk.
func translated(w way, m translate.AnswerContext, chunks [][]byte, clean bool) outcome {
	o := outcome{way: w, Translator: pairs.NewTranslator(w.from, w.to, &m, newIDs())}
	lexer := sse.NewLexer(0)
	var out bytes.Buffer
	take := func(event sse.Event) {
		o.signals = append(o.signals, o.Event(event))
		out.Write(o.Output())
	}
	for _, chunk := range chunks {
		lexer.Feed(chunk)
		for event, ok := lexer.Next(); ok; event, ok = lexer.Next() {
			take(event)
		}
	}
	if event, ok := lexer.Close(); ok && clean {
		take(event)
	}
	o.End(clean)
	out.Write(o.Output())
	o.out = out.String()
	return o
}

// answered puts a JSON answer through a translator.
func answered(w way, m translate.AnswerContext, body []byte) outcome {
	o := outcome{way: w, Translator: pairs.NewTranslator(w.from, w.to, &m, newIDs())}
	o.Answer(body)
	o.out = string(o.Output())
	return o
}

// requireAgreement requires that a stream and a JSON answer tell the same, or
// failed both without looking finished.
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
	whole, err := translatetest.Decode([]byte(answer.out))
	require.NoError(t, err, "%s", answer.out)
	require.Equal(t, whole, added)
}

// requireUnfinished requires that a stream is one of whole events without an
// end.
func requireUnfinished(t testing.TB, o outcome) {
	t.Helper()
	_, err := translatetest.Events([]byte(o.out))
	require.NoError(t, err)
	for _, c := range clients {
		for _, end := range c.ends {
			require.NotContains(t, o.out, end)
		}
	}
	if o.to != translate.Responses { // which has a member of that name in every response
		require.NotContains(t, o.out, `"error"`)
	}
}

// told writes an outcome down.
func (o outcome) told(w way) string {
	var b strings.Builder
	fmt.Fprintf(&b, "model %q, usage %s, finished %t\n", o.Model(), usageText(o.Usage()), o.Finished())
	if fault := o.Fault(); fault != nil {
		fmt.Fprintf(&b, "fault %d %s\n", formats.Of(w.to).Errors.Status(fault), formats.Of(w.to).Errors.Append(nil, fault, ""))
	}
	return b.String()
}

func TestRecordedStreamsAreTranslated(t *testing.T) {
	for _, w := range ways {
		for _, r := range recordings(t) {
			if r.format != w.from {
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
	got := stream.told(w) + "\n" + stream.out
	if answer.out != "" {
		var indented bytes.Buffer
		require.NoError(t, json.Indent(&indented, []byte(answer.out), "", "  "))
		got += indented.String() + "\n"
	}
	dir := filepath.Join("../../testdata/goldens/answers", string(w.from)+"-"+string(w.to))
	require.NoError(t, os.MkdirAll(dir, 0o755))
	requireGolden(t, filepath.Join(dir, strings.TrimSuffix(strings.TrimSuffix(name, ".sse"), ".json")+".txt"), []byte(got))
}

// TestAnswersAreReplayedAsStreams ensures that a JSON answer becomes the same
// answer, and a stream that adds up to it: some servers answer so to a request
// for a stream.
func TestAnswersAreReplayedAsStreams(t *testing.T) {
	for _, w := range ways {
		paths, err := filepath.Glob("../../testdata/goldens/answers/" + string(w.from) + "/*.json")
		require.NoError(t, err)
		require.NotEmpty(t, paths, "testdata/goldens/answers/%s has no answers", w.from)
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

// assertAnyChunking puts a stream through with each line end, in both forms and
// in chunks of every size.
func assertAnyChunking(t *testing.T, w way, stream []byte, random *rand.Rand) {
	t.Helper()
	const splits = 200 // with each line end
	lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(stream))
	for _, end := range []string{"\n", "\r\n", "\r"} {
		data := []byte(strings.ReplaceAll(lines, "\n", end))
		for _, streaming := range []bool{true, false} {
			m := w.remembered(streaming)
			want := translated(w, m, [][]byte{stream}, true)
			told := want.told(w)
			for range splits / 2 {
				most := 1 + random.IntN(97)
				got := translated(w, m, split(data, func() int { return 1 + random.IntN(most) }), true)
				require.Equal(t, want.out, got.out)
				require.True(t, slices.Equal(want.signals, got.signals))
				require.Equal(t, told, got.told(w))
			}
		}
	}
}

// TestNoPrefixOfAStreamIsAWholeAnswer ensures that an answer which broke off
// before its provider said that it is over is never shown as finished, and that
// nothing is shown of it that the whole one does not show.
func TestNoPrefixOfAStreamIsAWholeAnswer(t *testing.T) {
	for _, r := range everyStream(t) {
		for _, w := range waysFrom(r.format) {
			t.Run(w.name()+"/"+r.name(), func(t *testing.T) {
				whole := translated(w, w.remembered(true), [][]byte{r.bytes}, true)
				for i, n := range cuts(r.bytes) {
					chunks := [][]byte{r.bytes[:n]}
					said := observe(r.format, chunks, true).all
					assertCutOff(t, w, whole, translated(w, w.remembered(true), chunks, true), said&(signal.Finish|signal.Terminal) != 0)
					if i%4 > 0 {
						continue
					}
					said = observe(r.format, chunks, false).all
					assertCutOff(t, w, whole, translated(w, w.remembered(true), chunks, false), said.Has(signal.Terminal))
					answer := translated(w, w.remembered(false), chunks, false)
					require.Equal(t, answer.Finished(), answer.out != "")
					require.True(t, said.Has(signal.Terminal) || !answer.Finished())
				}
			})
		}
	}
}

func assertCutOff(t *testing.T, w way, whole, part outcome, mayFinish bool) {
	t.Helper()
	if part.Finished() {
		require.True(t, mayFinish, "%s", part.out)
		_, err := w.added(part.out, true)
		require.NoError(t, err)
		return
	}
	require.NotNil(t, part.Fault())
	requireUnfinished(t, part)
	require.True(t, strings.HasPrefix(whole.out, part.out), "%s", part.out)
}

// TestAnswersReachExactlyOneEnd ensures that the signals of an answer tell one
// end, and nothing behind it.
func TestAnswersReachExactlyOneEnd(t *testing.T) {
	const ends = signal.Terminal | signal.Failed
	for _, r := range everyStream(t) {
		for _, w := range waysFrom(r.format) {
			o := translated(w, w.remembered(true), [][]byte{r.bytes}, true)
			over := false
			for _, s := range o.signals {
				assert.False(t, over && s != 0, r.name())
				over = over || s&ends != 0
			}
			assert.Equal(t, o.Finished(), o.Fault() == nil, r.name())
			before := o.told(w)
			o.End(false)
			assert.Empty(t, o.Output(), r.name())
			assert.Zero(t, o.Event(sse.Event{Data: []byte(`{"choices":[{"delta":{"content":"late"}}]}`)}), r.name())
			assert.Empty(t, o.Output(), r.name())
			assert.Equal(t, before, o.told(w), r.name())
		}
	}
}
