//go:build !race

// The race detector takes ten times as long for streams byte by byte, and each has one
// goroutine: the tests of recordings run without it.

package transport

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
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
