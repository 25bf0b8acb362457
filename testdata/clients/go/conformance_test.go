package clients

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// conformance is a numbered case of the wire formats, from
// ../../conformance/answers.json; the README there says what the members are.
type conformance struct {
	Name, Lane string
	Request    fields
	Answer     json.RawMessage
	Plain      bool
	Events     []json.RawMessage
	Want       json.RawMessage
	Failure    json.RawMessage
}

// TestConformance plays the cases as the gateway's provider, and has the
// vendors' own clients add up what they read.
func TestConformance(t *testing.T) {
	raw, err := os.ReadFile("../../conformance/answers.json")
	require.NoError(t, err)
	var cases []conformance
	require.NoError(t, json.Unmarshal(raw, &cases))
	startReplay(t, cases)
	for i, c := range cases {
		body := fields{"model": fmt.Sprintf("%c-%d", c.Lane[2], i)}
		switch c.Lane[0] {
		case 'm':
			maps.Copy(body, fields{"max_tokens": 1000, "messages": []any{userTurn("hello")}})
			maps.Copy(body, c.Request)
			t.Run(c.Name+" "+c.Lane, func(t *testing.T) {
				eachMajor(t, func(t *testing.T, m major) { c.read(t, body, answerOf(m.create), answerOf(m.stream)) })
			})
		case 'c':
			maps.Copy(body, fields{"messages": []any{userTurn("hello")}})
			maps.Copy(body, c.Request)
			t.Run(c.Name+" "+c.Lane, func(t *testing.T) { c.read(t, body, plainChat, streamedChat) })
		case 't':
			maps.Copy(body, fields{"prompt": "hello"})
			maps.Copy(body, c.Request)
			t.Run(c.Name+" "+c.Lane, func(t *testing.T) { c.read(t, body, plainCompletion, streamedCompletion) })
		}
	}
}

// startReplay is the provider that the gateway expects at REPLAY_PORT.
func startReplay(t *testing.T, cases []conformance) {
	listener, err := net.Listen("tcp", "127.0.0.1:"+replayPort)
	require.NoError(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Model string }
		err := json.NewDecoder(r.Body).Decode(&body)
		_, number, _ := strings.Cut(body.Model, "-")
		index, wrong := strconv.Atoi(number)
		if err != nil || wrong != nil || index >= len(cases) {
			http.NotFound(w, r)
			return
		}
		cases[index].play(w)
	})}
	go func() { _ = server.Serve(listener) }() // ends with the test
	t.Cleanup(func() { _ = server.Close() })
}

func (c conformance) play(w http.ResponseWriter) {
	if c.Events == nil {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(c.Answer)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, raw := range c.Events {
		var view struct{ Type string }
		text := string(raw)
		if json.Unmarshal(raw, &view) != nil {
			_ = json.Unmarshal(raw, &text) // what is no object is a text
		}
		if view.Type != "" {
			_, _ = fmt.Fprintf(w, "event: %s\n", view.Type)
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", text)
	}
}

// reader asks with a body and gives what the client makes of the answer.
type reader func(ctx context.Context, body []byte) (any, error)

func (c conformance) read(t *testing.T, body fields, plain, streamed reader) {
	t.Helper()
	if c.Failure != nil {
		_, err := streamed(t.Context(), encoded(t, body))
		require.Error(t, err)
		return
	}
	if !c.Plain {
		answer, err := streamed(t.Context(), encoded(t, body))
		require.NoError(t, err)
		c.assertHeld(t, answer)
	}
	if c.Events == nil {
		body = maps.Clone(body)
		delete(body, "stream_options")
		answer, err := plain(t.Context(), encoded(t, body))
		require.NoError(t, err)
		c.assertHeld(t, answer)
	}
}

func encoded(t *testing.T, value any) []byte {
	t.Helper()
	raw, err := json.Marshal(value)
	require.NoError(t, err)
	return raw
}

// assertHeld demands what the case names, as far as the client has a member for
// it.
func (c conformance) assertHeld(t *testing.T, answer any) {
	t.Helper()
	var want, got any
	require.NoError(t, json.Unmarshal(c.Want, &want))
	require.NoError(t, json.Unmarshal(encoded(t, answer), &got))
	if !held(want, got) {
		assert.Equal(t, want, got)
	}
}

func held(want, got any) bool {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		for name, value := range want {
			if there, has := object[name]; has {
				ok = ok && held(value, there)
			}
		}
		return ok
	case []any:
		list, ok := got.([]any)
		ok = ok && len(list) == len(want)
		for i := range want {
			ok = ok && held(want[i], list[i])
		}
		return ok
	}
	return reflect.DeepEqual(want, got)
}

// answerOf is what the vendor's client of messages would send back, with what
// else it says.
func answerOf(ask func(context.Context, []byte) (*turn, error)) reader {
	return func(ctx context.Context, body []byte) (any, error) {
		answer, err := ask(ctx, body)
		if err != nil {
			return nil, err
		}
		var param struct {
			Content json.RawMessage `json:"content"`
		}
		err = json.Unmarshal(answer.Param, &param)
		return fields{
			"content": param.Content, "stop_reason": answer.StopReason,
			"usage": fields{"input_tokens": answer.Input, "output_tokens": answer.Output},
		}, err
	}
}

func newOpenAI() openai.Client {
	return openai.NewClient(option.WithBaseURL(gatewayURL+"/v1"), option.WithAPIKey(gatewayKey), option.WithMaxRetries(0))
}

func plainChat(ctx context.Context, body []byte) (any, error) {
	client := newOpenAI()
	return client.Chat.Completions.New(ctx, param.Override[openai.ChatCompletionNewParams](json.RawMessage(body)))
}

var errRefusedChunk = errors.New("the accumulator refuses a chunk")

func streamedChat(ctx context.Context, body []byte) (any, error) {
	client := newOpenAI()
	stream := client.Chat.Completions.NewStreaming(ctx, param.Override[openai.ChatCompletionNewParams](json.RawMessage(body)))
	var all openai.ChatCompletionAccumulator
	for stream.Next() {
		if !all.AddChunk(stream.Current()) {
			return nil, errRefusedChunk
		}
	}
	// The accumulator adds up the totals alone.
	usage := fields{"prompt_tokens": all.Usage.PromptTokens, "completion_tokens": all.Usage.CompletionTokens, "total_tokens": all.Usage.TotalTokens}
	return fields{"choices": all.Choices, "usage": usage}, stream.Err()
}

func plainCompletion(ctx context.Context, body []byte) (any, error) {
	client := newOpenAI()
	return client.Completions.New(ctx, param.Override[openai.CompletionNewParams](json.RawMessage(body)))
}

// streamedCompletion adds up the texts, which the client leaves to its users.
func streamedCompletion(ctx context.Context, body []byte) (any, error) {
	client := newOpenAI()
	stream := client.Completions.NewStreaming(ctx, param.Override[openai.CompletionNewParams](json.RawMessage(body)))
	var all openai.Completion
	for stream.Next() {
		chunk := stream.Current()
		for _, choice := range chunk.Choices {
			for len(all.Choices) <= int(choice.Index) {
				all.Choices = append(all.Choices, openai.CompletionChoice{Index: int64(len(all.Choices))})
			}
			sum := &all.Choices[choice.Index]
			sum.Text += choice.Text
			sum.FinishReason = choice.FinishReason
		}
		if chunk.Usage.TotalTokens > 0 {
			all.Usage = chunk.Usage
		}
	}
	return all, stream.Err()
}
