package clients

import (
	"context"
	"net/http"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/toolrunner"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// models are answered by providers of the format of the client, and of another.
var models = []anthropic.Model{model, "chat-only"}

const weather = `[{"name":"get_weather","input_schema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}]`

func TestAMessageStreamAccumulatesToTheJSONAnswer(t *testing.T) {
	for name, c := range map[string]struct{ prompt, more, stopReason string }{
		"text":     {"Compare a stream with a plain answer", `"max_tokens":4096`, "end_turn"},
		"bound":    {"Tell a long story about a river", `"max_tokens":3`, "max_tokens"},
		"thinking": {"Think about prime numbers", `"max_tokens":4096,"thinking":{"type":"enabled","budget_tokens":1024}`, "end_turn"},
		"a call":   {"Please call get_weather", `"max_tokens":4096,"tools":` + weather, "tool_use"},
	} {
		for _, m := range majors {
			for _, model := range models {
				t.Run(name+"/"+m.name+"/"+model, func(t *testing.T) {
					body := []byte(`{"model":"` + model + `","messages":[{"role":"user","content":"` + c.prompt + `"}],` + c.more + `}`)
					plain, err := m.create(t.Context(), body)
					require.NoError(t, err)
					streamed, err := m.stream(t.Context(), body)
					require.NoError(t, err)
					assert.Equal(t, c.stopReason, plain.StopReason)
					assert.Equal(t, plain.unmarked(), streamed.unmarked())
				})
			}
		}
	}
}

func TestTheToolRunnerRunsToTheEnd(t *testing.T) {
	for _, model := range models {
		type place struct {
			City string `json:"city" jsonschema:"required"`
		}
		var asked []string
		tool, err := toolrunner.NewBetaToolFromJSONSchema("get_weather", "Gives the weather", func(_ context.Context, p place) (anthropic.BetaToolResultBlockParamContentUnion, error) {
			asked = append(asked, p.City)
			return anthropic.BetaToolResultBlockParamContentUnion{OfText: &anthropic.BetaTextBlockParam{Text: "sunny"}}, nil
		})
		require.NoError(t, err)
		client := newClient()
		runner := client.Beta.Messages.NewToolRunner([]anthropic.BetaTool{tool}, anthropic.BetaToolRunnerParams{
			BetaMessageNewParams: anthropic.BetaMessageNewParams{
				Model: model, MaxTokens: 1024,
				Messages: []anthropic.BetaMessageParam{anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock("call get_weather"))},
			},
			MaxIterations: 5,
		})
		last, err := runner.RunToCompletion(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{"demo city"}, asked)
		assert.Contains(t, last.Content[0].Text, `The tools answered: "sunny"`)
	}
}

// The client repeats what waiting may mend, after the time that retry-after names, and
// nothing else: an account that the provider refuses has status 502, which it repeats
// otherwise.
func TestErrorsOfMessagesAreTypedAndRepeatedWhereThatHelps(t *testing.T) {
	for prompt, c := range map[string]struct {
		key    string
		status int
		kind   anthropic.ErrorType
		sent   int
	}{
		"Let me in":                   {"sk-wrong", http.StatusUnauthorized, "authentication_error", 1},
		"[[fault:429 retry-after=1]]": {gatewayKey, http.StatusTooManyRequests, "rate_limit_error", 2},
		"[[fault:404]]":               {gatewayKey, http.StatusNotFound, "not_found_error", 1},
		"[[fault:401]]":               {gatewayKey, http.StatusBadGateway, "api_error", 1},
	} {
		t.Run(prompt, func(t *testing.T) {
			sent := 0
			client := newClient(option.WithMaxRetries(1), option.WithAPIKey(c.key), option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
				sent++
				return next(r)
			}))
			_, err := client.Messages.New(t.Context(), ask(prompt))
			failure := apiError(t, err)
			assert.Equal(t, c.status, failure.StatusCode)
			assert.Equal(t, c.kind, failure.Type())
			assert.Regexp(t, `^req_[0-9A-Za-z]{24}$`, failure.RequestID)
			assert.Equal(t, c.sent, sent)
		})
	}
}

func TestAMessageStreamThatFailsMidwayIsNeverFinished(t *testing.T) {
	for _, model := range models {
		for _, fault := range []string{"cut", "no-finish", "error-event"} {
			message, err := accumulate(t, newClient(), ask("[[fault:"+fault+"]] Tell a story that breaks off", func(p *anthropic.MessageNewParams) { p.Model = model }))
			assert.NotEmpty(t, apiError(t, err).Type(), fault)
			assert.NotEmpty(t, text(&message), "%s: the text before the failure", fault)
			assert.Empty(t, message.StopReason, fault)
		}
	}
}

func TestACancelledContextEndsTheStreamAndTheGatewayGoesOn(t *testing.T) {
	client := newClient()
	for _, model := range models {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		stream := client.Messages.NewStreaming(ctx, ask("[[words:500]] Tell a story that nobody hears to its end", func(p *anthropic.MessageNewParams) { p.Model = model }))
		for stream.Next() {
			if stream.Current().Type == "content_block_delta" {
				cancel()
			}
		}
		require.ErrorIs(t, stream.Err(), context.Canceled)
		message, err := client.Messages.New(t.Context(), ask("Still there?"))
		require.NoError(t, err)
		assert.Equal(t, anthropic.StopReasonEndTurn, message.StopReason)
	}
}
