package transport

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

// fanned is an attempt of a completions client at a chat provider whose request
// holds these prompts.
func fanned(t testing.TB, stream bool, prompts ...string) *exchange.Attempt {
	t.Helper()
	body := `{"model":"m","prompt":["` + strings.Join(prompts, `","`) + `"]`
	if stream {
		body += `,"stream":true,"stream_options":{"include_usage":true}`
	}
	ex := &exchange.Exchange{ID: "req_0", Request: exchange.Request{Format: formats.Of(translate.Completions), Body: []byte(body + "}"), Client: http.Header{}}}
	view, fault := ex.Request.Format.Requests.Inspect(ex.Request.Body, translate.Generate)
	require.Nil(t, fault)
	ex.Request.View = view
	traits := new(trait.Traits)
	require.NoError(t, traits.SetAll(map[string]string{"native_n": "false", "max_fan_out": "64"}))
	return &exchange.Attempt{Exchange: ex, Provider: "p", Format: formats.Of(translate.Chat), Model: "m", Traits: traits}
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

// says returns answers with these texts: a stream, or JSON.
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

// refuses answers with an error status.
func refuses(status int, headers ...string) answers {
	return func(*http.Request) (*http.Response, error) {
		return responds(status, "application/json", io.NopCloser(strings.NewReader(`{"error":{"message":"no"}}`)), headers...), nil
	}
}

// hangs does not answer until its call is cancelled. It counts cancelled calls.
func hangs(cancelled *sync.WaitGroup) answers {
	cancelled.Add(1)
	return func(r *http.Request) (*http.Response, error) {
		defer cancelled.Done()
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
}

// streams answers with a stream of some bytes that ends with an error.
func streams(text string, end error) answers {
	return func(*http.Request) (*http.Response, error) {
		return responds(http.StatusOK, "text/event-stream", &chunks{pieces: whole([]byte(text)), end: end}), nil
	}
}

// stalls answers with the beginning of a stream, and nothing more.
func stalls(begin string) answers {
	return func(r *http.Request) (*http.Response, error) {
		return responds(http.StatusOK, "text/event-stream", then(begin, silent{r.Context()})), nil
	}
}

// choicesOf returns the texts of an answer by their index.
func choicesOf(t *testing.T, stream bool, output string) (texts []string) {
	t.Helper()
	read := func() (client.Object, error) { return client.Decode([]byte(output)) }
	if stream {
		read = func() (client.Object, error) { return client.Completions.Emitted([]byte(output)) }
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
