package transport

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// fanned is an attempt of a completions client at a chat provider whose request
// holds these prompts.
func fanned(t testing.TB, stream bool, prompts ...string) *exchange.Attempt {
	t.Helper()
	body := `{"model":"m","prompt":["` + strings.Join(prompts, `","`) + `"]`
	if stream {
		body += `,"stream":true,"stream_options":{"include_usage":true}`
	}
	ex := &exchange.Exchange{ID: "req_0", Format: translate.Completions, Body: []byte(body + "}"), Client: http.Header{}}
	view, fault := pairs.For(ex.Format).Inspect(ex.Body, translate.Generate)
	require.Nil(t, fault)
	ex.View = view
	return &exchange.Attempt{Exchange: ex, Provider: "p", Format: translate.Chat, Model: "m"}
}

// byPrompt answers each call by the prompt in its body.
type byPrompt map[string]answers

func (b byPrompt) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err != nil {
		return nil, err
	}
	for prompt, answer := range b {
		if bytes.Contains(body, []byte(`"content":"`+prompt+`"`)) {
			return answer(r)
		}
	}
	return nil, fmt.Errorf("no answer to %s", body)
}

func responds(status int, contentType string, body io.ReadCloser, headers ...string) *http.Response {
	h := http.Header{"Content-Type": {contentType}}
	for i := 0; i+1 < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: body, ContentLength: -1}
}

// says answers a stream of these texts, or a JSON answer of them.
func says(stream bool, texts ...string) answers {
	return func(*http.Request) (*http.Response, error) {
		if !stream {
			text := strings.ReplaceAll(answer, `"hi"`, `"`+strings.Join(texts, "")+`"`)
			return responds(http.StatusOK, "application/json", io.NopCloser(strings.NewReader(text))), nil
		}
		return responds(http.StatusOK, "text/event-stream", io.NopCloser(strings.NewReader(chunksOf(texts...)+chunkFinish+chunkUsage+done))), nil
	}
}

func chunksOf(texts ...string) string {
	var all strings.Builder
	for _, text := range texts {
		all.WriteString(strings.Replace(chunkText, `"hi"`, `"`+text+`"`, 1))
	}
	return all.String()
}

// refuses answers an error status.
func refuses(status int, headers ...string) answers {
	return func(*http.Request) (*http.Response, error) {
		return responds(status, "application/json", io.NopCloser(strings.NewReader(`{"error":{"message":"no"}}`)), headers...), nil
	}
}

// hangs answers nothing until its call is cancelled, which it counts.
func hangs(cancelled *sync.WaitGroup) answers {
	cancelled.Add(1)
	return func(r *http.Request) (*http.Response, error) {
		defer cancelled.Done()
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
}

// streams answers a stream of these bytes with this end.
func streams(text string, end error) answers {
	return func(*http.Request) (*http.Response, error) {
		return responds(http.StatusOK, "text/event-stream", &chunks{pieces: whole([]byte(text)), end: end}), nil
	}
}

// stalls answers the beginning of a stream and nothing more.
func stalls(begin string) answers {
	return func(r *http.Request) (*http.Response, error) {
		return responds(http.StatusOK, "text/event-stream", then(begin, silent{r.Context()})), nil
	}
}

// choicesOf are the texts of an answer by their index.
func choicesOf(t *testing.T, stream bool, output string) (texts []string) {
	t.Helper()
	read := func() (translatetest.Object, error) { return translatetest.Decode([]byte(output)) }
	if stream {
		read = func() (translatetest.Object, error) { return translatetest.Completion([]byte(output), true) }
	}
	completion, err := read()
	require.NoError(t, err, output)
	for i, one := range completion["choices"].([]any) {
		choice := one.(map[string]any)
		assert.EqualValues(t, fmt.Sprint(i), fmt.Sprint(choice["index"]))
		assert.Equal(t, "stop", choice["finish_reason"])
		texts = append(texts, choice["text"].(string))
	}
	return texts
}

func provisioned(t testing.TB, inner http.RoundTripper, change ...func(*Transport)) *Transport {
	transport := newTransport(inner, change...)
	require.NoError(t, transport.setTraits(map[string]string{"native_n": "false", "max_fan_out": "64"}))
	return transport
}

func TestSeveralCallsGiveOneAnswer(t *testing.T) {
	for _, stream := range []bool{false, true} {
		inner := byPrompt{"a": says(stream, "1", "2"), "b": says(stream, "3"), "c": says(stream, "4", "5", "6")}
		got := carry(t, provisioned(t, inner), fanned(t, stream, "a", "b", "c"))
		require.NoError(t, got.err)
		assert.Equal(t, http.StatusOK, got.status)
		assert.Nil(t, got.Fault)
		assert.True(t, got.Finished)
		assert.Equal(t, []string{"12", "3", "456"}, choicesOf(t, stream, got.output))
		assert.Equal(t, translate.Usage{Input: 21, Output: 6, Known: true}, got.Usage)
		assert.Equal(t, "m1", got.AnsweredBy)
		assert.Equal(t, http.StatusOK, got.Status)
		assert.Equal(t, 1, strings.Count(got.output, `"total_tokens":27`))
	}
}

// However the calls' bytes are cut and whichever comes first, the client adds
// up the same answer.
func TestAnyInterleavingOfCallsGivesTheSameAnswer(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	prompts, want := []string{}, []string{}
	for i := range 12 {
		prompts = append(prompts, fmt.Sprintf("p%d.", i))
	}
	texts := make(map[string][]string)
	for i, prompt := range prompts {
		for j := range i {
			texts[prompt] = append(texts[prompt], fmt.Sprintf("<%d.%d>", i, j))
		}
		want = append(want, strings.Join(texts[prompt], ""))
	}
	for range 30 {
		inner := byPrompt{}
		for _, prompt := range prompts {
			bytes := []byte(chunksOf(texts[prompt]...) + chunkFinish + chunkUsage + done)
			most := 1 + random.IntN(300)
			pieces := split(bytes, func() int { return 1 + random.IntN(most) })
			inner[prompt] = func(*http.Request) (*http.Response, error) {
				return responds(http.StatusOK, "text/event-stream", &chunks{pieces: pieces, end: io.EOF}), nil
			}
		}
		got := carry(t, provisioned(t, inner), fanned(t, true, prompts...))
		require.True(t, got.Finished)
		require.Equal(t, want, choicesOf(t, true, got.output))
		require.EqualValues(t, 12*7, got.Usage.Input)
	}
}

// What each call waits for before the first word is told by a status.
func TestOneCallThatFailsBeforeContentFailsTheWhole(t *testing.T) {
	for _, test := range []struct {
		name   string
		fails  answers
		status int // 0 for an error
		kind   translate.Kind
		code   string
	}{
		{"an error status", refuses(http.StatusInternalServerError), 500, translate.Internal, ""},
		{"a rate limit", refuses(http.StatusTooManyRequests, "Retry-After", "7", "X-Request-Id", "theirs"), 429, translate.RateLimited, "rate_limit_exceeded"},
		{"a reset", func(*http.Request) (*http.Response, error) { return nil, errReset }, 0, translate.BadGateway, "upstream_unreachable"},
		{"no JSON", func(*http.Request) (*http.Response, error) {
			return responds(200, "text/html", io.NopCloser(strings.NewReader("<html>"))), nil
		}, 502, translate.BadGateway, "upstream_invalid_response"},
		{"an error in 200", func(*http.Request) (*http.Response, error) {
			return responds(200, "application/json", io.NopCloser(strings.NewReader(`{"error":{"message":"no","code":503}}`))), nil
		}, 503, translate.Overloaded, "overloaded"},
		{"half an answer", func(*http.Request) (*http.Response, error) {
			return responds(200, "application/json", &chunks{pieces: whole([]byte(`{"id":`)), end: errReset}), nil
		}, 0, translate.BadGateway, "upstream_unreachable"},
		{"an unknown coding", func(*http.Request) (*http.Response, error) {
			return responds(200, "text/event-stream", io.NopCloser(strings.NewReader(chunkText)), "Content-Encoding", "compress"), nil
		}, 0, translate.BadGateway, "upstream_invalid_response"},
	} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stream %t", test.name, stream), func(t *testing.T) {
				var cancelled sync.WaitGroup
				inner := byPrompt{"a": hangs(&cancelled), "b": test.fails, "c": hangs(&cancelled)}
				got := carry(t, provisioned(t, inner), fanned(t, stream, "a", "b", "c"))
				cancelled.Wait()
				require.NotNil(t, got.Fault)
				assert.Equal(t, test.kind, got.Fault.Kind)
				assert.Equal(t, test.code, got.Fault.Code)
				assert.Equal(t, test.status, got.status)
				assert.Equal(t, test.status == 0, got.err != nil)
				assert.NotErrorIs(t, got.err, context.Canceled)
				assert.Empty(t, got.output)
				assert.False(t, got.Finished)
				if test.status == 429 {
					assert.Equal(t, http.Header{"Retry-After": {"7"}}, got.Header)
					assert.Equal(t, "theirs", got.RequestID)
					assert.Equal(t, 429, got.Status)
				}
			})
		}
	}
}

func TestAStreamThatFailsBeforeContentFailsTheWhole(t *testing.T) {
	for name, test := range map[string]struct {
		stream string
		end    error
		code   string
	}{
		"an error event": {chunkError, io.EOF, "rate_limit_exceeded"},
		"nothing":        {"", io.EOF, "upstream_stream_truncated"},
		"a reset":        {": comment\n\n", errReset, "upstream_unreachable"},
		"garbage":        {"data: x\n\n", io.EOF, "upstream_invalid_response"},
		"a giant":        {"data: " + strings.Repeat("x", 33<<20), errReset, "upstream_invalid_response"},
	} {
		t.Run(name, func(t *testing.T) {
			var cancelled sync.WaitGroup
			inner := byPrompt{"a": hangs(&cancelled), "b": streams(test.stream, test.end)}
			got := carry(t, provisioned(t, inner), fanned(t, true, "a", "b"))
			cancelled.Wait()
			require.NotNil(t, got.Fault)
			assert.Equal(t, test.code, got.Fault.Code)
			assert.NotEqual(t, 200, got.status)
			assert.Empty(t, got.output)
		})
	}
}

// behind lets a call answer once the reader of the whole has seen content.
func behind(seen <-chan struct{}, rest answers) answers {
	return func(r *http.Request) (*http.Response, error) {
		<-seen
		return rest(r)
	}
}

// untilContent reads an answer and tells when its first content came.
func untilContent(seen chan<- struct{}) func(io.Reader) ([]byte, error) {
	return func(r io.Reader) ([]byte, error) {
		var head []byte
		for !bytes.Contains(head, []byte(`"text":"hi"`)) {
			buf := make([]byte, 1<<10)
			n, err := r.Read(buf)
			if head = append(head, buf[:n]...); err != nil {
				return head, err
			}
		}
		close(seen)
		rest, err := io.ReadAll(r)
		return append(head, rest...), err
	}
}

// Once a call has spoken, the failure of another cuts the answer off (G109).
func TestOneCallThatFailsBehindContentCutsTheWholeOff(t *testing.T) {
	for name, fails := range map[string]answers{
		"an error status": refuses(http.StatusInternalServerError),
		"a failed call":   func(*http.Request) (*http.Response, error) { return nil, errReset },
		"no end":          streams(chunkText, io.EOF),
		"a reset":         streams(chunkText, errReset),
		"an early reset":  streams("", errReset),
		"an error event":  streams(chunkText+chunkError+done, io.EOF),
		"nothing at all":  streams("", io.EOF),
		"no JSON": func(*http.Request) (*http.Response, error) {
			return responds(200, "application/json", io.NopCloser(strings.NewReader("<html>"))), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			seen := make(chan struct{})
			inner := byPrompt{"a": stalls(chunkText), "b": behind(seen, fails), "c": says(true, "c")}
			got := carryBy(t, provisioned(t, inner), fanned(t, true, "a", "b", "c"), untilContent(seen))
			assert.Equal(t, 200, got.status)
			require.NotNil(t, got.Fault)
			assert.False(t, got.Finished)
			assert.False(t, got.Relayed, "the gateway tells the error in the client's format")
			assert.Contains(t, got.output, `"text":"hi"`)
			assert.NotContains(t, got.output, `"finish_reason":"`)
			assert.NotContains(t, got.output, "[DONE]")
			assert.True(t, strings.HasSuffix(got.output, "\n\n"))
		})
	}
}

func TestAJSONAnswerAmongStreamsIsReplayed(t *testing.T) {
	seen := make(chan struct{})
	inner := byPrompt{"a": says(true, "hi"), "b": behind(seen, says(false, "whole"))}
	got := carryBy(t, provisioned(t, inner), fanned(t, true, "a", "b"), untilContent(seen))
	assert.Equal(t, []string{"hi", "whole"}, choicesOf(t, true, got.output))
	assert.True(t, got.Finished)
}

// TestEveryCallHasTimesOfItsOwn also ensures that no goroutine outlives the
// answer: the bubble would not end.
func TestEveryCallHasTimesOfItsOwn(t *testing.T) {
	limits := func(t *Transport) {
		t.ResponseHeaderTimeout = caddy.Duration(10 * time.Second)
		t.FirstEventTimeout = caddy.Duration(20 * time.Second)
		t.IdleTimeout = caddy.Duration(40 * time.Second)
		t.UsageWait = caddy.Duration(80 * time.Second)
	}
	busy := func(pause time.Duration, texts int) answers { // a call with signs of life
		return func(r *http.Request) (*http.Response, error) {
			reader, writer := io.Pipe()
			go func() {
				for range texts {
					select {
					case <-time.After(pause):
						_, _ = io.WriteString(writer, chunkText)
					case <-r.Context().Done():
						_ = writer.CloseWithError(r.Context().Err())
						return
					}
				}
				_, _ = io.WriteString(writer, chunkFinish+chunkUsage+done)
				_ = writer.Close()
			}()
			return responds(200, "text/event-stream", reader), nil
		}
	}
	for _, test := range []struct {
		name     string
		a, b     answers
		wait     time.Duration
		finished bool
	}{
		{"no headers", stalls(": wait\n\n"), func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, 10 * time.Second, false},
		{"no event", stalls(""), stalls(": wait\n\n"), 20 * time.Second, false},
		{"no event beside a call that speaks", busy(9*time.Second, 9), stalls(""), 20 * time.Second, false},
		{"no more events beside a call that speaks", busy(9*time.Second, 9), stalls(chunkText), 40 * time.Second, false},
		{"no usage and no end", busy(9*time.Second, 2), stalls(chunkText + chunkFinish), 80 * time.Second, true},
		{"no end behind the last event", busy(9*time.Second, 2), stalls(chunkText + chunkFinish + done), 80 * time.Second, true},
		{"all speak", busy(9*time.Second, 20), busy(19*time.Second, 10), 190 * time.Second, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				got := carry(t, provisioned(t, byPrompt{"a": test.a, "b": test.b}, limits), fanned(t, true, "a", "b"))
				assert.Equal(t, test.wait, time.Since(start))
				assert.Equal(t, test.finished, got.Finished)
				if test.finished {
					assert.Nil(t, got.Fault)
					assert.Contains(t, got.output, "[DONE]")
					return
				}
				require.NotNil(t, got.Fault)
				assert.Equal(t, translate.Timeout, got.Fault.Kind)
				assert.NotErrorIs(t, got.err, context.Canceled)
			})
		})
	}
}

// carryUntil makes the attempt for a client that can leave.
func carryUntil(ctx context.Context, t *Transport, a *exchange.Attempt) (*http.Response, error) {
	r := (&http.Request{Method: http.MethodPost, URL: new(url.URL)}).WithContext(exchange.WithAttempt(ctx, a))
	return t.RoundTrip(r)
}

func TestAClientThatLeavesEndsEveryCall(t *testing.T) {
	for name, first := range map[string]answers{"before content": stalls(""), "in mid-stream": stalls(chunkText)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var cancelled sync.WaitGroup
				ctx, leave := context.WithCancel(t.Context())
				a := fanned(t, true, "a", "b", "c")
				time.AfterFunc(time.Second, leave)
				res, err := carryUntil(ctx, provisioned(t, byPrompt{"a": first, "b": hangs(&cancelled), "c": hangs(&cancelled)}), a)
				if err == nil {
					_, err := io.ReadAll(res.Body)
					require.NoError(t, err)
					require.NoError(t, res.Body.Close())
				} else {
					assert.ErrorIs(t, err, context.Canceled)
				}
				cancelled.Wait()
				assert.Nil(t, a.Fault)
				assert.False(t, a.Finished)
			})
		})
	}
}

func TestAnAnswerThatIsClosedEarlyEndsEveryCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cancelled sync.WaitGroup
		inner := byPrompt{"a": stalls(chunkText), "b": hangs(&cancelled), "c": streams(strings.Repeat(chunkText, 10_000), io.EOF)}
		res, err := carryUntil(t.Context(), provisioned(t, inner), fanned(t, true, "a", "b", "c"))
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		cancelled.Wait()
	})
}

// A panic in a goroutine that nobody recovers would end the whole server.
func TestAPanicInACallIsRaisedWhereTheAnswerIsRead(t *testing.T) {
	seen := make(chan struct{})
	panics := func(*http.Request) (*http.Response, error) { panic("boom") }
	early := provisioned(t, byPrompt{"a": panics, "b": stalls("")})
	assert.PanicsWithValue(t, "boom", func() { carry(t, early, fanned(t, true, "a", "b")) })
	late := provisioned(t, byPrompt{"a": stalls(chunkText), "b": behind(seen, panics)})
	assert.PanicsWithValue(t, "boom", func() { carryBy(t, late, fanned(t, true, "a", "b"), untilContent(seen)) })
}

// The map has no lock, and Caddy's http transport writes it.
func TestEveryCallHasVariablesOfItsOwn(t *testing.T) {
	writes := func(r *http.Request) (*http.Response, error) {
		for range 100 {
			caddyhttp.SetVar(r.Context(), "x", 1)
		}
		assert.Equal(t, "chosen", caddyhttp.GetVar(r.Context(), "address"))
		return says(false, "x")(r)
	}
	vars := map[string]any{"address": "chosen"}
	ctx := context.WithValue(t.Context(), caddyhttp.VarsCtxKey, vars)
	a := fanned(t, false, "a", "b")
	res, err := carryUntil(ctx, provisioned(t, byPrompt{"a": writes, "b": writes}), a)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Len(t, vars, 1)
	assert.True(t, a.Finished)
}

// Nothing is sent when a later prompt is at fault, and the memory of what was
// rendered goes back.
func TestAFaultOfALaterPromptIsFoundBeforeAnythingIsSent(t *testing.T) {
	inner := answers(func(*http.Request) (*http.Response, error) {
		assert.Fail(t, "something was sent")
		return nil, errReset
	})
	got := carry(t, provisioned(t, inner), fanned(t, true, "a", ""))
	assert.Equal(t, 400, got.status)
	assert.True(t, got.Refused)
	require.NotNil(t, got.Fault)
	assert.Equal(t, "prompt[1]", got.Fault.Param)
}

// A bug was here: the wait for the usage of a finished stream was forgotten
// when its finish came together with the first content.
func TestTheWaitForUsageCountsFromAFinishThatCameAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		got := carry(t, provisioned(t, stalls(chunkText+chunkFinish)), fanned(t, true, "a"))
		assert.Equal(t, time.Duration(exchange.DefaultLimits.UsageWait), time.Since(start))
		assert.True(t, got.Finished)
	})
}

// A bug was here: every call could give an answer of the largest size, all of
// which were held at once.
func TestTheAnswersOfAllCallsTogetherAreBounded(t *testing.T) {
	large := says(false, strings.Repeat("x", maxAnswer/2))
	got := carry(t, provisioned(t, byPrompt{"a": large, "b": large, "c": says(false, "x")}), fanned(t, false, "a", "b", "c"))
	require.NotNil(t, got.Fault)
	assert.ErrorIs(t, got.Fault.Cause, coding.ErrTooLarge)
	assert.False(t, got.Finished)
}
