package transport

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// late is a body whose text arrives after a while, unless the call ends before.
type late struct {
	silent
	text  *strings.Reader
	after <-chan struct{}
}

func (l late) Read(p []byte) (int, error) {
	if l.text.Len() == 0 {
		return l.silent.Read(p)
	}
	select {
	case <-l.after:
		return l.text.Read(p)
	case <-l.ctx.Done():
		return 0, l.ctx.Err()
	}
}

const (
	messagesStart = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m1\",\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}}\n\n"
	messagesText  = messagesStart +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n"
	messagesTool = messagesStart +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}}\n\n"
	messagesBlockEnd = "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
	messagesEnd      = "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\n" +
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	responsesText = "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"hi\"}\n\n"
	responsesItem = "event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"message\"}}\n\n"
	responsesEnd  = "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"model\":\"m1\",\"status\":\"completed\",\"error\":null,\"usage\":{\"input_tokens\":7,\"output_tokens\":2}}}\n\n"
)

// A client that left while its JSON answer arrived was charged for the input only: 0.0003 of
// 2.5 USD. The provider charges for the whole answer, which is complete when its headers
// arrive, or soon.
func TestAJSONAnswerThatHasBegunIsReadForItsUsageWithoutTheClient(t *testing.T) {
	for name, test := range map[string]struct {
		after, lasts time.Duration // from the client's end to the rest, and to the end of the call
		usage        token.Usage
	}{
		"in time":  {time.Second, time.Second, token.Usage{Counts: token.Counts{Fresh: 7, Answer: 2}, Known: true}},
		"too late": {time.Minute, linger, token.Usage{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				inner := answers(func(r *http.Request) (*http.Response, error) {
					after := make(chan struct{})
					time.AfterFunc(time.Second+test.after, func() { close(after) })
					const begin, rest = `{"model":"m1","choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]`, `,"usage":{"prompt_tokens":7,"completion_tokens":2}}`
					late := late{silent{r.Context()}, strings.NewReader(rest), after}
					body := struct {
						io.Reader
						io.Closer
					}{io.LimitReader(late, int64(len(rest))), late}
					return responds(http.StatusOK, "application/json", then(begin, body)), nil
				})
				ctx, leave := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, leave)
				c := &exchange.Conduit{Attempt: *attemptFor(t, translate.Chat, false)}
				_, _ = carryUntil(ctx, newTransport(inner), c)
				assert.Equal(t, time.Second+test.lasts, time.Since(start))
				assert.Equal(t, test.usage.Known, c.Result.Whole())
				assert.Equal(t, test.usage, c.Result.Usage)
				assert.Nil(t, c.Result.Fault)
			})
		})
	}
}

// A client that left after the end of the turn and before the usage was charged for the
// visible text only, while the provider charged for hidden reasoning, too. A client that
// leaves in the middle of a turn still ends the call at once.
func TestAFinishedTurnIsReadForItsUsageWithoutTheClient(t *testing.T) {
	for _, test := range []struct {
		name             string
		provider, client translate.Format
		begin, rest      string
		after            time.Duration // from the client's end to the rest
		cause            error         // of the end of the client's context
		lasts            time.Duration // from the client's end to the end of the call
		whole            bool
	}{
		{"chat", translate.Chat, translate.Chat, chunkText + chunkFinish, chunkUsage + done, time.Second, nil, time.Second, true},
		{"messages", translate.Messages, translate.Messages, messagesText + messagesBlockEnd, messagesEnd, time.Second, nil, time.Second, true},
		{"responses", translate.Responses, translate.Responses, responsesText + responsesItem, responsesEnd, time.Second, nil, time.Second, true},
		{"translated chat", translate.Chat, translate.Messages, chunkText + chunkFinish, chunkUsage + done, time.Second, nil, time.Second, true},
		{"translated messages", translate.Messages, translate.Responses, messagesTool + messagesBlockEnd, messagesEnd, time.Second, nil, time.Second, true},
		{"no usage in time", translate.Chat, translate.Chat, chunkText + chunkFinish, chunkUsage + done, time.Minute, nil, linger, false},
		{"another choice", translate.Chat, translate.Chat, chunkText + chunkFinish, chunkSecond, time.Second, nil, time.Second, false},
		{"another block", translate.Messages, translate.Messages, messagesText + messagesBlockEnd, messagesText, time.Second, nil, time.Second, false},
		{"in the middle of chat", translate.Chat, translate.Chat, chunkText, chunkFinish + chunkUsage + done, time.Second, nil, 0, false},
		{"in the middle of messages", translate.Messages, translate.Messages, messagesText, messagesBlockEnd + messagesEnd, time.Second, nil, 0, false},
		{"HTTP/3", translate.Chat, translate.Chat, chunkText + chunkFinish, chunkUsage + done, time.Second, errReset, time.Second, true},
		{"a shutdown", translate.Chat, translate.Chat, chunkText + chunkFinish, chunkUsage + done, time.Second, exchange.EndCause("shutdown"), 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				inner := answers(func(r *http.Request) (*http.Response, error) {
					after := make(chan struct{})
					time.AfterFunc(time.Second+test.after, func() { close(after) })
					rest := late{silent{r.Context()}, strings.NewReader(test.rest), after}
					return responds(http.StatusOK, "text/event-stream", then(test.begin, rest)), nil
				})
				ctx, leave := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { leave(test.cause) })
				c := &exchange.Conduit{Attempt: *attemptFor(t, test.client, true)}
				c.Attempt.Format = formats.Of(test.provider)
				res, err := carryUntil(ctx, newTransport(inner), c)
				require.NoError(t, err)
				output, err := io.ReadAll(res.Body)
				require.NoError(t, err)
				require.NoError(t, res.Body.Close())
				assert.Equal(t, time.Second+test.lasts, time.Since(start))
				assert.Equal(t, test.whole, c.Result.Whole())
				assert.Equal(t, test.name != "a shutdown", c.Result.Reading.Unread)
				assert.Nil(t, c.Result.Fault)
				assert.NotRegexp(t, `\[DONE\]|message_stop|response\.completed`, string(output), "a client that has left gets nothing")
				if test.whole {
					assert.Equal(t, token.Usage{Counts: token.Counts{Fresh: 7, Answer: 2}, Known: true}, c.Result.Usage)
				}
			})
		})
	}
}
