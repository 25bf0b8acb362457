package clients

import (
	"maps"
	"net/http"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// textOnly are the models of providers that do nothing but go on with a text,
// each with another template for conversations.
var textOnly = []string{"completions-only", "completions-chatml"}

// eachTextOnly runs a test with them. What they repeat of the prompt holds the
// stop of its template, where the gateway cuts.
func eachTextOnly(t *testing.T, test func(t *testing.T, model string)) {
	for _, model := range textOnly {
		t.Run(model, func(t *testing.T) { test(t, model) })
	}
}

func TestTextOnlyMessageStreamAccumulatesToTheJSONAnswer(t *testing.T) {
	threeTurns := []any{userTurn("Hello"), fields{"role": "assistant", "content": "Hi!"}, userTurn("And now?")}
	eachMajor(t, func(t *testing.T, m major) {
		eachTextOnly(t, func(t *testing.T, model string) {
			for name, c := range map[string]struct {
				messages any
				more     fields
				reason   string
				begins   string
			}{
				"text":            {"Compare a stream", nil, "end_turn", "This is the demo provider"},
				"three turns":     {threeTurns, fields{"system": "Be kind.", "top_k": 4}, "end_turn", `(?s)This is .* in the completions format.*Be kind\.`},
				"a begun answer":  {append(threeTurns, fields{"role": "assistant", "content": "Well,"}), nil, "end_turn", "This is"},
				"a budget":        {"Tell a long story", fields{"max_tokens": 3}, "max_tokens", "This is the$"},
				"a stop sequence": {"Hi", fields{"stop_sequences": []string{"answering"}}, "end_turn", "This is the demo provider, $"},
				"a refusal":       {"[[refuse]] this", nil, "refusal", "I cannot help with that.$"},
			} {
				t.Run(name, func(t *testing.T) {
					more := fields{"model": model}
					maps.Copy(more, c.more)
					body := request(t, c.messages, more)
					plain, err := m.create(t.Context(), body)
					require.NoError(t, err)
					streamed, err := m.stream(t.Context(), body)
					require.NoError(t, err)
					assert.Equal(t, plain.unmarked(), streamed.unmarked())
					assert.Equal(t, c.reason, plain.StopReason)
					assert.Regexp(t, "^"+c.begins, plain.text())
					assert.Positive(t, plain.Input)
					assert.Positive(t, plain.Output)
				})
			}
		})
	})
}

func TestTextOnlyMessageErrorsAreTyped(t *testing.T) {
	image := fields{"type": "image", "source": fields{"type": "base64", "media_type": "image/png", "data": pixel}}
	eachMajor(t, func(t *testing.T, m major) {
		eachTextOnly(t, func(t *testing.T, model string) {
			refused := "cannot be translated for model '" + model + "' (upstream format completions)"
			for _, c := range []struct {
				messages any
				tools    []any
				status   int
				kind     string
				message  string
			}{
				{"Hi", []any{toolNamed("get_time", fields{})}, http.StatusBadRequest, "invalid_request_error", "tools: " + refused},
				{[]any{userTurn([]any{image})}, nil, http.StatusBadRequest, "invalid_request_error", "messages.0.content.0.type: 'image' " + refused},
				{"[[fault:429]]", nil, http.StatusTooManyRequests, "rate_limit_error", ""},
				{"[[fault:503]]", nil, 529, "overloaded_error", ""},
			} {
				body := request(t, c.messages, fields{"model": model, "tools": c.tools})
				_, plain := m.create(t.Context(), body)
				_, streamed := m.stream(t.Context(), body)
				for _, err := range []error{plain, streamed} {
					got := refusalOf(t, err)
					assert.Equal(t, c.status, got.status, got.body)
					assert.Equal(t, c.kind, got.kind, got.body)
					assert.Contains(t, got.body, c.message)
				}
			}
			message, err := m.stream(t.Context(), request(t, "[[fault:cut]] Tell a story that breaks off", fields{"model": model}))
			assert.NotEmpty(t, refusalOf(t, err).kind)
			assert.Empty(t, message.StopReason)
		})
	})
}

// completing is a chat request for a model of a provider that only completes.
func completing(model, prompt string, change func(*openai.ChatCompletionNewParams)) openai.ChatCompletionNewParams {
	return chatting(func(p *openai.ChatCompletionNewParams) {
		p.Model = model
		if change != nil {
			change(p)
		}
	}, openai.SystemMessage("Be kind."), openai.UserMessage(prompt))
}

func TestTextOnlyChatStreamAccumulatesToTheJSONAnswer(t *testing.T) {
	eachTextOnly(t, func(t *testing.T, model string) {
		for name, c := range map[string]struct {
			prompt string
			change func(*openai.ChatCompletionNewParams)
			finish string
			begins string
		}{
			"text":      {"Compare a stream", nil, "stop", `(?s)This is .* in the completions format.*Be kind\.`},
			"a budget":  {"Tell a long story", func(p *openai.ChatCompletionNewParams) { p.MaxCompletionTokens = openai.Int(3) }, "length", "This is the$"},
			"a stop":    {"Hi", func(p *openai.ChatCompletionNewParams) { p.Stop.OfString = openai.String("answering") }, "stop", "This is the demo provider, $"},
			"a refusal": {"[[refuse]] this", nil, "content_filter", "I cannot help with that.$"},
			"no budget": {"As you like", func(p *openai.ChatCompletionNewParams) { p.MaxCompletionTokens = param.Opt[int64]{} }, "stop", "This is"},
			"two":       {"Twice", func(p *openai.ChatCompletionNewParams) { p.N = openai.Int(2) }, "stop", "This is"},
		} {
			t.Run(name, func(t *testing.T) {
				params := completing(model, c.prompt, c.change)
				service := chats()
				plain, err := service.New(t.Context(), params)
				require.NoError(t, err)
				all, err := accumulated(t, params)
				require.NoError(t, err)
				require.Len(t, all.Choices, len(plain.Choices))
				require.Len(t, plain.Choices, int(params.N.Or(1)))
				for i, want := range plain.Choices {
					assert.Equal(t, want.Message.Content, all.Choices[i].Message.Content)
					assert.Regexp(t, "^"+c.begins, want.Message.Content)
					assert.Equal(t, c.finish, want.FinishReason)
					assert.Equal(t, c.finish, all.Choices[i].FinishReason)
				}
				assert.Positive(t, plain.Usage.TotalTokens)
				assert.Equal(t, plain.Usage.TotalTokens, all.Usage.TotalTokens)
				assert.Equal(t, model, plain.Model)
			})
		}
	})
}

func TestTextOnlyChatErrorsAreTyped(t *testing.T) {
	eachTextOnly(t, func(t *testing.T, model string) {
		for _, c := range []struct {
			prompt      string
			change      func(*openai.ChatCompletionNewParams)
			status      int
			param, code string
		}{
			{"Hi", withTools, http.StatusBadRequest, "tools", "unsupported_for_upstream"},
			{"Hi", func(p *openai.ChatCompletionNewParams) {
				p.Messages = []openai.ChatCompletionMessageParamUnion{openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
					openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64," + pixel}),
				})}
			}, http.StatusBadRequest, "messages[0].content[0].type", "unsupported_for_upstream"},
			{"[[fault:429]]", nil, http.StatusTooManyRequests, "", "rate_limit_exceeded"},
			{"[[fault:529]]", nil, http.StatusServiceUnavailable, "", "overloaded"},
		} {
			service := chats()
			_, plain := service.New(t.Context(), completing(model, c.prompt, c.change))
			_, streamed := accumulated(t, completing(model, c.prompt, c.change))
			for _, err := range []error{plain, streamed} {
				var failure *openai.Error
				require.ErrorAs(t, err, &failure, c.prompt)
				assert.Equal(t, c.status, failure.StatusCode)
				assert.Equal(t, c.param, failure.Param)
				assert.Equal(t, c.code, failure.Code)
			}
		}
		all, err := accumulated(t, completing(model, "[[fault:cut]] Tell a story that breaks off", nil))
		require.Error(t, err)
		assert.NotEmpty(t, all.Choices[0].Message.Content, "what came before arrived")
		assert.Empty(t, all.Choices[0].FinishReason)
	})
}
