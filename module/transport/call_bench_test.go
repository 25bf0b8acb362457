package transport

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// calls are the usual calls of a chat provider, which have one prompt and one answer, and a
// call that is refused. allocations are what each makes at most, those of the test included. A
// stream of any length has the same, except for the growth of buffers.
var calls = []struct {
	name        string
	client      translate.Format
	body        string
	status      int
	kind        string
	answer      func(events int) string
	allocations float64
}{
	{"byte lane/stream", translate.Chat, `{"model":"m","messages":[{"role":"user","content":"a"}],"stream":true}`, http.StatusOK, "text/event-stream", longStream, 50},
	{"byte lane/JSON", translate.Chat, `{"model":"m","messages":[{"role":"user","content":"a"}]}`, http.StatusOK, "application/json", always(answer), 41},
	{"byte lane/refused", translate.Chat, `{"model":"m","messages":[{"role":"user","content":"a"}]}`, http.StatusTooManyRequests, "application/json", always(`{"error":{"message":"slow down","type":"rate_limit"}}`), 130},
	{"translated/stream", translate.Completions, `{"model":"m","prompt":"a","stream":true}`, http.StatusOK, "text/event-stream", longStream, 63},
	{"translated/JSON", translate.Completions, `{"model":"m","prompt":"a"}`, http.StatusOK, "application/json", always(answer), 58},
}

func longStream(events int) string {
	return strings.Repeat(chunkText, events) + chunkFinish + chunkUsage + done
}

func always(answer string) func(int) string { return func(int) string { return answer } }

// BenchmarkOneCall measures the calls with streams of a hundred events.
func BenchmarkOneCall(b *testing.B) {
	for i, bench := range calls {
		b.Run(bench.name, func(b *testing.B) {
			call := newCallOf(b, i, 100)
			b.ReportAllocs()
			for b.Loop() {
				call(io.ReadAll)
			}
		})
	}
}

// newCallOf returns a function that makes one of the calls.
func newCallOf(tb testing.TB, i, events int) func(read func(io.Reader) ([]byte, error)) {
	tb.Helper()
	c := calls[i]
	answer := c.answer(events)
	inner := answers(func(r *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
		return responds(c.status, c.kind, io.NopCloser(strings.NewReader(answer))), nil
	})
	ex := &exchange.Exchange{ID: "req_0", Request: exchange.Request{Format: formats.Of(c.client), Client: http.Header{}, Body: []byte(c.body)}}
	view, fault := ex.Request.Format.Requests.Inspect(ex.Request.Body, translate.Generate)
	require.Nil(tb, fault)
	ex.Request.View = view
	transport, traits := newTransport(inner), new(trait.Traits)
	setCredential(transport, "sk-secret")
	return func(read func(io.Reader) ([]byte, error)) {
		a := &exchange.Attempt{Exchange: ex, Provider: "p", Format: formats.Of(translate.Chat), Model: "m", Traits: traits}
		if got := carryBy(tb, transport, a, read); got.Status != c.status || got.Whole() != (c.status == http.StatusOK) {
			tb.Fatal(got.Fault)
		}
	}
}

// BenchmarkByteLane measures the byte lane with recorded streams, of which one delta comes a
// hundred times, with its own text or with one of ASCII. Each event arrives alone, as models
// write them, or all together.
func BenchmarkByteLane(b *testing.B) {
	texts := map[string]*strings.Replacer{"any": strings.NewReplacer(), "ASCII": strings.NewReplacer("ö", "o", "☂", "and an umbrella")}
	for _, name := range []translate.Format{translate.Messages, translate.Chat, translate.Completions, translate.Responses} {
		recorded, err := os.ReadFile("../../testdata/streams/" + string(name) + "/text.sse")
		require.NoError(b, err)
		var events [][]byte
		for event := range bytes.SplitAfterSeq(recorded, []byte("\n\n")) {
			if events = append(events, event); bytes.Contains(event, []byte("☂")) && len(events) < 100 {
				events = append(events, slices.Repeat([][]byte{event}, 100)...)
			}
		}
		for text, replacer := range texts {
			stream := []byte(replacer.Replace(string(bytes.Join(events, nil))))
			for way, feeds := range map[string][][]byte{"paced": bytes.SplitAfter(stream, []byte("\n\n")), "burst": {stream}} {
				b.Run(string(name)+"/"+text+"/"+way, func(b *testing.B) { benchmarkByteLane(b, name, feeds) })
			}
		}
	}
}

func benchmarkByteLane(b *testing.B, name translate.Format, feeds [][]byte) {
	described := formats.Of(name)
	b.ReportAllocs()
	for b.Loop() {
		lane := &byteLane{Observer: described.Answers.NewObserver(), events: newEvents(new(Transport)), format: described}
		for _, feed := range feeds {
			if lane.take(feed, 0, nil) != len(feed) {
				b.Fatal("an event is held back")
			}
		}
	}
}
