package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// recording is a recorded stream.
type recording struct {
	name   string
	format translate.Format
	bytes  []byte
}

// recordings returns all recorded streams, each with its own line ends, with CRLF, and with
// CR.
func recordings(t testing.TB) (all []recording) {
	t.Helper()
	for _, format := range formats.Names() {
		paths, err := filepath.Glob("../../testdata/streams/" + string(format) + "/*.sse")
		require.NoError(t, err)
		require.NotEmpty(t, paths)
		for _, path := range paths {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			name := string(format) + "/" + strings.TrimSuffix(filepath.Base(path), ".sse")
			lf := bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
			all = append(all,
				recording{name + "/LF", format, lf},
				recording{name + "/CRLF", format, bytes.ReplaceAll(lf, []byte("\n"), []byte("\r\n"))},
				recording{name + "/CR", format, bytes.ReplaceAll(lf, []byte("\n"), []byte("\r"))})
		}
	}
	return all
}

// mutated returns a recording whose events are repeated, some of them with another byte, or
// without one.
func (r recording) mutated(random *rand.Rand) recording {
	var stream []byte
	for event := range bytes.SplitAfterSeq(r.bytes, []byte("\n\n")) {
		for range 1 + random.IntN(3) {
			offset := len(stream) + random.IntN(len(event)+1)
			if stream = append(stream, event...); offset == len(stream) || random.IntN(2) == 0 {
				continue
			}
			if stream[offset] = "\"\\{}\n\r: ax\xff"[random.IntN(11)]; random.IntN(3) == 0 {
				stream = slices.Delete(stream, offset, offset+1)
			}
		}
	}
	return recording{r.name, r.format, append(stream, "\n\n"...)}
}

// expected is the expected result of a stream, which only the lexer and the observer have
// read, in one piece.
type expected struct {
	output   string // the bytes that may be passed on
	terminal int64  // offset of the end of the terminal event, 0 without one
	content  bool
	finished bool
	failed   bool // by an error event
	relayed  bool // the client gets this event unchanged
	usage    token.Usage
	text     token.Text
	model    string
	number   string // of an event of a failure behind the stream, "" for a format without numbers
}

func (r recording) expect(withhold bool) (x expected) {
	lexer, observer := sse.NewLexer(0), formats.Of(r.format).Answers.NewObserver()
	lexer.Feed(r.bytes)
	next := func() (sse.Event, bool) {
		if event, ok := lexer.Next(); ok {
			return event, true
		}
		return lexer.Close() // an event that ends with a lone CR
	}
	offset, ends, ended, failing := int64(0), false, false, false
	for event, ok := next(); ok && !ended && !x.failed; event, ok = next() {
		sig := observer.Observe(event)
		x.content = x.content || sig.Has(signal.Content)
		ends = sig.Has(signal.Finish) || ends && !sig.Has(signal.Content)
		ended, x.failed = sig.Has(signal.Terminal), sig.Has(signal.Failed)
		x.finished = ended && observer.Fault() == nil
		if x.finished {
			x.terminal = event.End
		}
		isError := sig&(signal.Failed|signal.Failing) != 0
		relayed := isError && formats.Of(r.format).Errors.RelayableEvent(event.Name, event.Data)
		x.relayed = x.relayed || relayed
		if withhold && sig.Has(signal.UsageOnly) || isError && !relayed || failing && !isError {
			x.output += string(r.bytes[offset:event.Start])
			offset = event.End
		}
		failing = failing || sig.Has(signal.Failing)
		if ended || x.failed {
			x.output += string(r.bytes[offset:event.End])
			offset = event.End
		}
	}
	if !ended && !x.failed {
		x.output += string(r.bytes[offset:lexer.Settled()])
		x.finished = ends && formats.Of(r.format).Answers.NoLastEvent && lexer.Settled() == int64(len(r.bytes))
	}
	if f := observer.Fault(); f != nil && !x.failed { // what the provider itself states about its answer is relayed
		x.finished, x.failed, x.relayed = false, failing, x.relayed || f.IsBrokenOff() && (ended || x.finished)
	}
	if withhold && formats.Of(r.format).Answers.Usage.Ask != nil {
		x.output = usageMember.ReplaceAllString(x.output, "")
	}
	x.usage, x.text, x.model = observer.Usage(), observer.Text(), observer.Model()
	if c, ok := observer.(format.Continuation); ok {
		x.number = number.FindString(string(c.AppendFailure(nil, translate.IDs{}, fault.Truncated(nil))))
	}
	return x
}

// usageMember is the usage of a chunk that has other members, too.
var usageMember = regexp.MustCompile(`,\s*"usage"\s*:\s*\{(?:[^{}]|\{[^{}]*\})*\}`)

// number is the number of an event.
var number = regexp.MustCompile(`"sequence_number":\d+`)

// chunks is a body that arrives in pieces, and then ends with an error.
type chunks struct {
	pieces [][]byte
	end    error
	closed bool
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.pieces) == 0 {
		return 0, c.end
	}
	n := copy(p, c.pieces[0])
	if c.pieces[0] = c.pieces[0][n:]; len(c.pieces[0]) == 0 {
		c.pieces = c.pieces[1:]
	}
	return n, nil
}

func (c *chunks) Close() error {
	c.closed = true
	return nil
}

// answers is an inner transport that answers without a network.
type answers func(*http.Request) (*http.Response, error)

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

// body answers with 200 and an event stream.
func body(b io.ReadCloser) answers {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: http.StatusOK, Body: b, ContentLength: -1,
			Header: http.Header{"Content-Type": {"text/event-stream"}},
		}, nil
	}
}

// newTransport returns a transport above inner, for a provider with an address.
func newTransport(inner http.RoundTripper, change ...func(*Transport)) *Transport {
	t := &Transport{inner: inner, base: &url.URL{Scheme: "https", Host: "provider.example"}, header: "Authorization"}
	for _, c := range change {
		c(t)
	}
	t.AnswerBounds.Inherit(aigateway.DefaultAnswerBounds)
	return t
}

func endsWithFinish(t *Transport) { t.StreamEnd = aigateway.StreamEndFinish }

// attemptFor returns an attempt at a streaming request, which asks for usage or leaves that to
// the gateway.
func attemptFor(t testing.TB, format translate.Format, usage bool) *exchange.Attempt {
	t.Helper()
	bodies := map[translate.Format]string{
		translate.Messages:    `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],"stream":true`,
		translate.Chat:        `{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true`,
		translate.Completions: `{"model":"m","prompt":"x","stream":true`,
		translate.Responses:   `{"model":"m","input":"x","stream":true`,
		translate.Gemini:      `{"contents":[{"parts":[{"text":"x"}]}]`,
	}
	text := bodies[format]
	if usage && formats.Of(format).Answers.Usage.Ask != nil {
		text += `,"stream_options":{"include_usage":true}`
	}
	ex := &exchange.Exchange{ID: "req_0", Request: exchange.Request{Format: formats.Of(format), Body: []byte(text + "}"), Client: http.Header{}}}
	view, fault := formats.Of(format).Requests.Inspect(ex.Body, translate.Generate)
	require.Nil(t, fault)
	if formats.Of(format).Requests.ModelName != nil { // the path names the model, and asks for a stream
		view.Model, view.Stream = "m", true
	}
	ex.View = view
	return &exchange.Attempt{Exchange: ex, Provider: "p", Format: formats.Of(format), Model: view.Model, Traits: new(trait.Traits)}
}

// replayed is the result of a call.
type replayed struct {
	*exchange.Result
	status int // of the response, 0 for an error
	output string
	err    error
}

// carry makes the attempt and reads its answer to the end.
func carry(tb testing.TB, t *Transport, a *exchange.Attempt) replayed {
	tb.Helper()
	return carryBy(tb, t, a, io.ReadAll)
}

// carryBy is carry with a reader of the answer.
func carryBy(tb testing.TB, t *Transport, a *exchange.Attempt, read func(io.Reader) ([]byte, error)) replayed {
	tb.Helper()
	c := &exchange.Conduit{Attempt: *a}
	res, err := t.Ask(context.Background(), c)
	if err != nil {
		require.Nil(tb, res)
		return replayed{Result: &c.Result, err: err}
	}
	output, err := read(res.Body)
	require.NoError(tb, err, "a reader of the answer never sees an error")
	require.NoError(tb, res.Body.Close())
	return replayed{&c.Result, res.StatusCode, string(output), nil}
}

// replay plays a stream in pieces that ends with an error, which may be io.EOF.
func replay(t testing.TB, format translate.Format, withhold bool, pieces [][]byte, end error, change ...func(*Transport)) replayed {
	t.Helper()
	source := &chunks{pieces: pieces, end: end}
	got := carry(t, newTransport(body(source), change...), attemptFor(t, format, !withhold))
	require.True(t, source.closed, "the provider's body was left open")
	return got
}

// whole returns a stream in one piece.
func whole(data []byte) [][]byte { return [][]byte{data} }

// split cuts data into pieces of the sizes given.
func split(data []byte, size func() int) (pieces [][]byte) {
	for len(data) > 0 {
		n := min(size(), len(data))
		pieces = append(pieces, data[:n])
		data = data[n:]
	}
	return pieces
}

var errReset = errors.New("connection reset by peer")

// setCredential gives t one credential.
func setCredential(t *Transport, secret aigateway.Secret) {
	t.secrets = make([]atomic.Pointer[aigateway.Secret], 1)
	t.secrets[0].Store(&secret)
}
