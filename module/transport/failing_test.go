package transport

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

const (
	responseText   = "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"content_index\":0,\"delta\":\"half\"}\n\n"
	responseFailed = "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"id\":\"r\",\"output\":[],\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"failed\"}}}\n\n"
	errorReason    = "event: error\ndata: {\"type\":\"error\",\"code\":\"%s\",\"message\":\"%s\",\"param\":null}\n\n"
)

// A service ended its streams with response.failed and the message "failed", and then with an error
// event whose message was the reason: clients of the same format did not get it.
func TestTheReasonBehindAFailedResponseWins(t *testing.T) {
	for _, reason := range []struct{ code, message string }{
		{"content_filter", "the policy of the deployment"}, {"rate_limit_exceeded", "slow down"}, {"server_is_overloaded", "no capacity"},
	} {
		event := fmt.Sprintf(errorReason, reason.code, reason.message)
		pause := "event: response.in_progress\ndata: {\"type\":\"response.in_progress\",\"response\":{\"id\":\"r\"}}\n\n: comment\n\n"
		for _, before := range []string{"", responseText} {
			for _, client := range formats.Names() {
				for _, middle := range []string{"", pause} {
					stream := before + responseFailed + middle + event
					got := replayFor(t, client, translate.Responses, split([]byte(stream), func() int { return 40 }), io.EOF)
					name := fmt.Sprint(client, " ", before != "", " ", reason.code)
					require.NotNil(t, got.Fault, name)
					assert.Equal(t, reason.message, got.Fault.Message, name)
					switch {
					case before == "":
						assert.NotEqual(t, http.StatusOK, got.status, name)
					case client == translate.Responses:
						assert.Equal(t, before+responseFailed+event, strings.ReplaceAll(got.output, ": comment\n\n", ""), name)
						assert.Equal(t, exchange.Relayed, got.State)
					default:
						assert.Equal(t, exchange.Broken, got.State)
					}
				}
			}
		}
	}
}

// A reason that clients must not read ends the stream as well, and is no second failure for them.
func TestAPrivateReasonIsNotPassedOn(t *testing.T) {
	stream := responseText + responseFailed + fmt.Sprintf(errorReason, "insufficient_quota", "the account")
	got := replay(t, translate.Responses, false, whole([]byte(stream)), io.EOF)
	assert.Equal(t, responseText+responseFailed, got.output)
	assert.Equal(t, exchange.Relayed, got.State)
	assert.Equal(t, fault.AccountExhausted, got.Fault.Kind)
}

// talkative is the end of a body: events without end, with pauses between them.
type talkative struct {
	silent
	pause time.Duration
}

func (b talkative) Read(p []byte) (int, error) {
	select {
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	case <-time.After(b.pause):
		return copy(p, responseText), nil
	}
}

// Without a reason, the wait for one is bounded, and the answer fails with what is known. A service
// that sent events without a pause behind the failure held the exchange without end.
func TestTheWaitForAReasonIsBounded(t *testing.T) {
	for _, before := range []string{"", responseText} {
		for _, client := range formats.Names() {
			for _, pause := range []time.Duration{time.Hour, time.Second, 0} {
				synctest.Test(t, func(t *testing.T) {
					answering := answers(func(r *http.Request) (*http.Response, error) {
						return &http.Response{
							StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, ContentLength: -1,
							Body: then(before+responseFailed, talkative{silent{r.Context()}, pause}),
						}, nil
					})
					start := time.Now()
					a := attemptFor(t, client, true)
					a.Format = formats.Of(translate.Responses)
					got := carry(t, newTransport(answering, func(t *Transport) {
						t.UsageWait, t.MaxEventBytes = caddy.Duration(7*time.Second), 64<<10
					}), a)
					wait := 7 * time.Second
					if pause == 0 {
						wait = 0 // so many events end it before
					}
					assert.Equal(t, wait, time.Since(start), client)
					require.NotNil(t, got.Fault, client)
					assert.Equal(t, "failed", got.Fault.Message, client)
					require.NoError(t, got.err)
				})
			}
		}
	}
}

// A stream that a provider's word for its end calls broken is relayed as it is, and recorded as one
// that is not whole.
func TestABrokenOffStreamIsRelayedAndRecorded(t *testing.T) {
	const model = `"id":"c","model":"m1",`
	for name, tt := range map[string]struct {
		format        translate.Format
		content, ends string
	}{
		"vLLM":        {translate.Chat, chunkText, `data: {` + model + `"choices":[{"index":0,"delta":{},"finish_reason":"abort"}]}` + "\n\n" + done},
		"DeepSeek":    {translate.Chat, chunkText, `data: {` + model + `"choices":[{"index":0,"delta":{},"finish_reason":"insufficient_system_resource"}]}` + "\n\n" + done},
		"completions": {translate.Completions, `data: {` + model + `"choices":[{"index":0,"text":"hi"}]}` + "\n\n", `data: {` + model + `"choices":[{"index":0,"text":"","finish_reason":"network_error"}]}` + "\n\n" + done},
		"messages": {translate.Messages, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n",
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"cancelled\"},\"usage\":{\"output_tokens\":3}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"},
		"responses": {translate.Responses, responseText, "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"cancelled\",\"output\":[]}}\n\n"},
		"gemini":    {translate.Gemini, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hi\"}]}}]}\n\n", "data: {\"candidates\":[{\"finishReason\":\"MALFORMED_RESPONSE\"}]}\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			stream := tt.content + tt.ends
			got := replay(t, tt.format, false, split([]byte(stream), func() int { return 33 }), io.EOF)
			assert.Equal(t, stream, got.output)
			assert.Equal(t, exchange.Relayed, got.State)
			require.NotNil(t, got.Fault)
			assert.True(t, got.Fault.IsBrokenOff())
			got = replay(t, tt.format, false, whole([]byte(tt.ends)), io.EOF)
			assert.Empty(t, got.output, "before content, another target can be asked")
			assert.NotEqual(t, http.StatusOK, got.status)
		})
	}
}

// A byte order mark at the beginning of a JSON answer became a part of an event, which no client
// could read, when the client had asked for a stream.
func TestAByteOrderMarkIsNotCopied(t *testing.T) {
	for format, text := range map[translate.Format]string{
		translate.Messages:    `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}`,
		translate.Chat:        `{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
		translate.Completions: `{"id":"c","model":"m","choices":[{"index":0,"text":"hi","finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
		translate.Responses:   `{"id":"r","model":"m","status":"completed","output":[{"type":"message","id":"i","content":[{"type":"output_text","text":"hi"}]}]}`,
		translate.Gemini:      `{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}`,
	} {
		for _, client := range formats.Names() {
			if client != format && !pairs.CanTranslate(client, format) {
				continue
			}
			output := func(mark string, gzipped bool) string {
				content := []byte(mark + text)
				header := http.Header{"Content-Type": {"application/json"}}
				if gzipped {
					content = compressed(t, mark+text)
					header.Set("Content-Encoding", "gzip")
				}
				a := attemptFor(t, client, true)
				a.Format = formats.Of(format)
				got := carry(t, newTransport(answers(func(*http.Request) (*http.Response, error) {
					return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(bytes.NewReader(content)), ContentLength: int64(len(content))}, nil
				})), a)
				require.Nil(t, got.Fault, "%s for %s", format, client)
				return randomParts.ReplaceAllString(got.output, "")
			}
			want := output("", false)
			assert.Contains(t, want, "hi")
			for _, gzipped := range []bool{false, true} {
				assert.Equal(t, want, output("\ufeff", gzipped), "%s for %s", format, client)
				assert.Equal(t, want, output("\ufeff \n", gzipped), "%s for %s", format, client)
			}
		}
	}
}
