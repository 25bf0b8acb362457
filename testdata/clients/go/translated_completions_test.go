package clients

import (
	"net/http"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func completions() openai.CompletionService {
	return openai.NewCompletionService(
		option.WithBaseURL(gatewayURL+"/v1"), option.WithAPIKey(gatewayKey), option.WithMaxRetries(0))
}

// eachFormat runs a test with the model of a provider that speaks chat alone,
// and with one that speaks messages alone. Both refuse fields of other formats.
func eachFormat(t *testing.T, test func(t *testing.T, ask func(string, ...func(*openai.CompletionNewParams)) openai.CompletionNewParams)) {
	for _, model := range []openai.CompletionNewParamsModel{"chat-only", "messages-only"} {
		t.Run(string(model), func(t *testing.T) {
			test(t, func(prompt string, more ...func(*openai.CompletionNewParams)) openai.CompletionNewParams {
				params := openai.CompletionNewParams{
					Model: model, MaxTokens: openai.Int(256),
					Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String(prompt)},
				}
				for _, change := range more {
					change(&params)
				}
				return params
			})
		})
	}
}

// whole is a stream put together.
type whole struct {
	text, finish string
	usage        []openai.CompletionUsage
	ids          map[string]bool
}

func streamed(t *testing.T, params openai.CompletionNewParams) (whole, error) {
	t.Helper()
	service := completions()
	stream := service.NewStreaming(t.Context(), params)
	w := whole{ids: map[string]bool{}}
	for stream.Next() {
		chunk := stream.Current()
		w.ids[chunk.ID] = true
		if chunk.JSON.Usage.Valid() {
			w.usage = append(w.usage, chunk.Usage)
		}
		for _, choice := range chunk.Choices {
			w.text += choice.Text
			w.finish += string(choice.FinishReason)
		}
	}
	return w, stream.Err()
}

func TestTranslatedCompletionStreamAddsUpToTheJSONAnswer(t *testing.T) {
	eachFormat(t, func(t *testing.T, ask func(string, ...func(*openai.CompletionNewParams)) openai.CompletionNewParams) {
		for name, c := range map[string]struct {
			prompt string
			change func(*openai.CompletionNewParams)
			finish string
			begins string
		}{
			"text":      {"Compare a stream", func(*openai.CompletionNewParams) {}, "stop", "This is the demo provider"},
			"echo":      {"Once upon a time", func(p *openai.CompletionNewParams) { p.Echo = openai.Bool(true) }, "stop", "Once upon a timeThis is the demo provider"},
			"a stop":    {"first second third", func(p *openai.CompletionNewParams) { p.Stop.OfString = openai.String("second") }, "stop", "This is the demo provider"},
			"a budget":  {"Tell a long story", func(p *openai.CompletionNewParams) { p.MaxTokens = openai.Int(3) }, "length", "This is the"},
			"no budget": {"As you like", func(p *openai.CompletionNewParams) { p.MaxTokens = param.Opt[int64]{} }, "stop", "This is the demo provider"},
		} {
			t.Run(name, func(t *testing.T) {
				service := completions()
				plain, err := service.New(t.Context(), ask(c.prompt, c.change))
				require.NoError(t, err)
				require.Len(t, plain.Choices, 1)
				stream, err := streamed(t, ask(c.prompt, c.change, func(p *openai.CompletionNewParams) {
					p.StreamOptions.IncludeUsage = openai.Bool(true)
				}))
				require.NoError(t, err)
				assert.Equal(t, plain.Choices[0].Text, stream.text)
				assert.Equal(t, c.finish, stream.finish)
				assert.Equal(t, c.finish, string(plain.Choices[0].FinishReason))
				assert.Regexp(t, "^"+c.begins, stream.text)
				assert.NotContains(t, stream.text, "second third")
				assert.Len(t, stream.ids, 1)
				require.Len(t, stream.usage, 1)
				assert.JSONEq(t, plain.Usage.RawJSON(), stream.usage[0].RawJSON())
			})
		}
	})
}

func TestTranslatedCompletionUsageHasItsDetails(t *testing.T) {
	eachFormat(t, func(t *testing.T, ask func(string, ...func(*openai.CompletionNewParams)) openai.CompletionNewParams) {
		service := completions()
		answer, err := service.New(t.Context(), ask("[[think]] How much was that?"))
		require.NoError(t, err)
		u := answer.Usage
		assert.Positive(t, u.PromptTokens)
		assert.Equal(t, u.PromptTokens+u.CompletionTokens, u.TotalTokens)
		assert.Equal(t, u.PromptTokens, u.PromptTokensDetails.TextTokens)
		assert.True(t, u.PromptTokensDetails.JSON.CachedTokens.Valid())
		assert.True(t, u.PromptTokensDetails.JSON.AudioTokens.Valid())
		assert.True(t, u.PromptTokensDetails.JSON.ImageTokens.Valid())
		assert.Positive(t, u.CompletionTokensDetails.ReasoningTokens, "counted, though a completion shows no reasoning")
		assert.Equal(t, u.CompletionTokens, u.CompletionTokensDetails.TextTokens+u.CompletionTokensDetails.ReasoningTokens)
		assert.NotContains(t, answer.Choices[0].Text, "I shall answer")
	})
}

func TestTranslatedCompletionErrorsAreTyped(t *testing.T) {
	eachFormat(t, func(t *testing.T, ask func(string, ...func(*openai.CompletionNewParams)) openai.CompletionNewParams) {
		for prompt, want := range map[string]struct {
			status     int
			code       string
			retryAfter string
		}{
			"[[fault:429 retry-after=7]]": {http.StatusTooManyRequests, "rate_limit_exceeded", "7"},
			"[[fault:529]]":               {http.StatusServiceUnavailable, "overloaded", ""},
			"[[fault:401]]":               {http.StatusBadGateway, "upstream_auth", ""},
			"[[fault:reset]]":             {http.StatusBadGateway, "upstream_unreachable", ""},
		} {
			service := completions()
			_, plain := service.New(t.Context(), ask(prompt))
			_, stream := streamed(t, ask(prompt))
			for _, err := range []error{plain, stream} {
				var failure *openai.Error
				require.ErrorAs(t, err, &failure, prompt)
				assert.Equal(t, want.status, failure.StatusCode, prompt)
				assert.Equal(t, want.code, failure.Code, prompt)
				assert.Equal(t, want.retryAfter, failure.Response.Header.Get("Retry-After"), prompt)
				assert.Regexp(t, requestID, failure.Response.Header.Get("X-Request-Id"))
			}
		}
		service := completions()
		_, err := service.New(t.Context(), ask("Hi", func(p *openai.CompletionNewParams) { p.Suffix = openai.String("the end") }))
		var failure *openai.Error
		require.ErrorAs(t, err, &failure)
		assert.Equal(t, "suffix", failure.Param)
		assert.Equal(t, "unsupported_for_upstream", failure.Code)
	})
}

func TestTranslatedCompletionStreamThatFailsMidwayIsAnError(t *testing.T) {
	eachFormat(t, func(t *testing.T, ask func(string, ...func(*openai.CompletionNewParams)) openai.CompletionNewParams) {
		for _, fault := range []string{"cut", "no-finish", "error-event", "garbage"} {
			w, err := streamed(t, ask("[[fault:"+fault+"]] Tell a story that breaks off"))
			assert.Error(t, err, fault)
			assert.NotEmpty(t, w.text, fault)
			assert.Empty(t, w.finish, fault)
		}
	})
}
