package transport

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

const (
	chunkText         = `data: {"id":"c","model":"m1","choices":[{"index":0,"delta":{"content":"hi"}}]}` + "\n\n"
	chunkFinish       = `data: {"id":"c","model":"m1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	chunkSecond       = `data: {"id":"c","model":"m1","choices":[{"index":1,"delta":{"content":"ho"}}]}` + "\n\n"
	chunkSecondFinish = `data: {"id":"c","model":"m1","choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}` + "\n\n"

	chunkEmpty = `data: {"id":"c","model":"m1","choices":[{"index":0,"delta":{}}]}` + "\n\n"
	chunkUsage = `data: {"id":"c","model":"m1","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9}}` + "\n\n"
	chunkError = `data: {"error":{"message":"slow down","type":"rate_limit_error","code":"rate_limit_exceeded"}}` + "\n\n"
	done       = "data: [DONE]\n\n"
)

func TestTheUsageChunkIsWithheldOnlyFromAClientThatDidNotAskForIt(t *testing.T) {
	for _, test := range []struct {
		name       string
		asked      bool // the client asks for usage
		includeOff bool // the configuration switches include_usage off
		want       string
	}{
		{"nobody but the gateway asked", false, false, chunkText + chunkFinish + done},
		{"the client asked", true, false, chunkText + chunkFinish + chunkUsage + done},
		{"nobody asked, and the provider sends it anyway", false, true, chunkText + chunkFinish + chunkUsage + done},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := attemptFor(t, translate.Chat, test.asked)
			a.Traits.WithoutUsage = test.includeOff
			got := carry(t, newTransport(body(&chunks{pieces: whole([]byte(chunkText + chunkFinish + chunkUsage + done)), end: io.EOF})), a)
			assert.Equal(t, test.want, got.output)
			assert.Equal(t, token.Usage{Counts: token.Counts{Fresh: 7, Answer: 2}, Known: true}, got.Usage, "the usage is always counted")
		})
	}
}

// If the first choice had finished before the second one began, a stream that broke off in
// the second choice looked finished.
func TestStreamEndFinishTakesAnOrderlyEndForTheEnd(t *testing.T) {
	for _, test := range []struct {
		name, stream string
		end          error
		finished     bool
	}{
		{"after the finish", chunkText + chunkFinish, io.EOF, true},
		{"after the usage", chunkText + chunkFinish + chunkUsage, io.EOF, true},
		{"with [DONE] after all", chunkText + chunkFinish + done, io.EOF, true},
		{"before the finish", chunkText, io.EOF, false},
		{"by a reset", chunkText + chunkFinish, errReset, false},
		{"of one choice, within another", chunkText + chunkFinish + chunkSecond, io.EOF, false},
		{"of both choices", chunkText + chunkSecond + chunkFinish + chunkSecondFinish, io.EOF, true},
		{"within an event", chunkText + chunkFinish + `data: {"id":`, io.EOF, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := replay(t, translate.Chat, false, whole([]byte(test.stream)), test.end, endsWithFinish)
			assert.Equal(t, test.finished, got.Whole())
			assert.Equal(t, !test.finished, got.Fault != nil)
		})
	}
	got := replay(t, translate.Chat, false, whole([]byte(chunkText+chunkFinish)), io.EOF)
	assert.False(t, got.Whole(), "without the option [DONE] is the only end")
}

// TestALastEventWithoutItsBlankLineCounts covers servers that leave out the line breaks at the
// end. Such an error event was taken for a stream that broke off; such a usage chunk was
// relayed instead of withheld; and the client got the event without the blank line, so that
// a reader that follows the standard dropped it.
func TestALastEventWithoutItsBlankLineCounts(t *testing.T) {
	bare := func(events ...string) []byte { return []byte(strings.TrimRight(strings.Join(events, ""), "\n")) }

	t.Run("the terminal event ends the stream", func(t *testing.T) {
		got := replay(t, translate.Chat, true, whole(bare(chunkText, chunkFinish, done)), io.EOF)
		assert.True(t, got.Whole())
		assert.Equal(t, chunkText+chunkFinish+done, got.output)
	})
	t.Run("one line break is completed by one", func(t *testing.T) {
		got := replay(t, translate.Chat, true, whole(append(bare(chunkText, chunkFinish, done), '\n')), io.EOF)
		assert.True(t, got.Whole())
		assert.Equal(t, chunkText+chunkFinish+done, got.output)
	})
	t.Run("an error before content is the provider's own", func(t *testing.T) {
		got := replay(t, translate.Chat, true, whole(bare(chunkError)), io.EOF)
		assert.Equal(t, 429, got.status)
		assert.Equal(t, "slow down", got.Fault.Message)
	})
	t.Run("an error after content is relayed", func(t *testing.T) {
		got := replay(t, translate.Chat, true, whole(bare(chunkText, chunkError)), io.EOF)
		assert.Equal(t, chunkText+chunkError, got.output)
		assert.True(t, got.State == exchange.Relayed)
		assert.Equal(t, "slow down", got.Fault.Message)
	})
	t.Run("a usage chunk is withheld", func(t *testing.T) {
		got := replay(t, translate.Chat, true, whole(bare(chunkText, chunkFinish, chunkUsage)), io.EOF, endsWithFinish)
		assert.True(t, got.Whole())
		assert.Equal(t, chunkText+chunkFinish, got.output)
		assert.EqualValues(t, 2, got.Usage.Output())
	})
	t.Run("an event in the middle of a turn does not end it", func(t *testing.T) {
		got := replay(t, translate.Chat, true, whole(bare(chunkText, chunkText)), io.EOF)
		assert.False(t, got.Whole())
		assert.Equal(t, chunkText+chunkText, got.output)
	})
}

// TestAnEventBeyondTheLimitEndsTheStream takes minutes if the beginning of an event is copied
// with each of its pieces, which was the case.
func TestAnEventBeyondTheLimitEndsTheStream(t *testing.T) {
	giant := []byte("data: " + strings.Repeat("x", 33<<20))
	after := replay(t, translate.Chat, true, [][]byte{[]byte(chunkText), giant}, io.EOF)
	assert.Equal(t, chunkText, after.output)
	assert.False(t, after.Whole())
	assert.NotNil(t, after.Fault)
}

// everyLane has an attempt at a chat stream for each lane.
func everyLane(t *testing.T) map[string]*exchange.Attempt {
	translated := attemptFor(t, translate.Messages, false)
	translated.Format = formats.Of(translate.Chat)
	return map[string]*exchange.Attempt{
		"bytes": attemptFor(t, translate.Chat, true), "translation": translated, "fan": fanned(t, true, "a", "b"),
	}
}

// endless is a reader of a beginning, and then of a text that it repeats for ever.
type endless struct {
	begin *strings.Reader
	text  string
}

func (e endless) Read(p []byte) (int, error) {
	if e.begin.Len() > 0 {
		return e.begin.Read(p)
	}
	for i := range p {
		p[i] = e.text[i%len(e.text)]
	}
	return len(p), nil
}

func (endless) Close() error { return nil }

// A long stream of events that are alike is no silence.
func TestEventsAreNoSilence(t *testing.T) {
	pieces := slices.Repeat(whole([]byte(chunkText)), (aigateway.MinMaxEventBytes+maxPrelude)/len(chunkText)+2)
	source := &chunks{append(pieces, []byte(chunkFinish+chunkUsage+done)), io.EOF, false}
	transport := newTransport(body(source), func(t *Transport) { t.MaxEventBytes = aigateway.MinMaxEventBytes })
	got := carryBy(t, transport, attemptFor(t, translate.Chat, true), func(answer io.Reader) ([]byte, error) {
		_, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, answer, make([]byte, 4<<10))
		return nil, err
	})
	assert.True(t, got.Whole())
}

// A translated stream of comments was read without a bound, because nothing of it is held
// back. The bytes of a stream without a blank line were kept in memory, up to 4 GB.
// Compressed, both arrive faster than any timeout.
func TestWhatIsNoEventIsBounded(t *testing.T) {
	for comment, want := range map[string]error{":\n": sse.ErrTooLarge, "x: y\n": sse.ErrTooLarge, ":\n\n": coding.ErrTooLarge} {
		for name, begin := range map[string]string{"before content": "", "behind content": chunkText, "behind the finish": chunkText + chunkFinish} {
			for lane, a := range everyLane(t) {
				t.Run(fmt.Sprintf("%q %s on the lane of %s", comment, name, lane), func(t *testing.T) {
					inner := answers(func(*http.Request) (*http.Response, error) {
						return responds(http.StatusOK, "text/event-stream", endless{strings.NewReader(begin), comment}), nil
					})
					got := carry(t, newTransport(inner, func(t *Transport) { t.MaxEventBytes = aigateway.MinMaxEventBytes }), a)
					require.NotNil(t, got.Fault)
					assert.ErrorIs(t, got.Fault.Cause, want)
					assert.Equal(t, "the upstream returned an unusable answer", got.Fault.Message)
					assert.False(t, got.Whole())
				})
			}
		}
	}
}
