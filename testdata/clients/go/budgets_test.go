package clients

import (
	"net/http"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const priced = "priced" // a model that has a price

const usedUp = `the budget of this key, 65 USD per month, has less left than this request may cost, [\d.]+ USD: send less, or lower the bound of its answer; there is room again at \d{4}-\d\d-01 00:00 UTC$`

// exhaust sends requests until the budget refuses one, and returns the number of
// answers before it and its error.
func exhaust(t *testing.T, send func() error) (answers int, err error) {
	t.Helper()
	for ; answers < 5; answers++ {
		if err := send(); err != nil {
			return answers, err
		}
	}
	require.Fail(t, "more requests were served than the budget has room for")
	return answers, nil
}

// Waiting helps against a rate, and not against a budget: the client sends the request
// once, although it has retries left.
func TestAnExhaustedBudgetIsNoRateToMessagesClients(t *testing.T) {
	var wire wire
	client := newClient(option.WithAPIKey(budgetKey), option.WithMaxRetries(2), wire.option())
	params := ask("How much is left?", func(p *anthropic.MessageNewParams) { p.Model, p.MaxTokens = priced, 64 })
	answers, err := exhaust(t, func() error {
		_, err := client.Messages.New(t.Context(), params)
		return err
	})
	failure := apiError(t, err)
	assert.Equal(t, http.StatusTooManyRequests, failure.StatusCode)
	assert.EqualValues(t, "rate_limit_error", failure.Type())
	assert.Regexp(t, usedUp, failure.Message)
	assert.Equal(t, "false", failure.Response.Header.Get("X-Should-Retry"))
	assert.Len(t, wire.retryCounts(), answers+1)
}

func TestAnExhaustedBudgetIsNoRateToOpenAIClients(t *testing.T) {
	sent := 0
	client := openai.NewClient(openaioption.WithBaseURL(gatewayURL+"/v1"), openaioption.WithAPIKey(budgetKey), openaioption.WithMaxRetries(2),
		openaioption.WithMiddleware(func(r *http.Request, next openaioption.MiddlewareNext) (*http.Response, error) {
			sent++
			return next(r)
		}))
	question := respond("", nil, user("How much is left?"))
	question.Model, question.MaxOutputTokens = responses.ResponsesModel(priced), openai.Int(64)
	for format, send := range map[string]func() error{
		"chat": func() error {
			_, err := client.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{
				Model: priced, MaxCompletionTokens: openai.Int(64), Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("How much is left?")},
			})
			return err
		},
		"responses": func() error {
			_, err := client.Responses.New(t.Context(), question)
			return err
		},
	} {
		t.Run(format, func(t *testing.T) {
			sent = 0
			answers, err := exhaust(t, send)
			var failure *openai.Error
			require.ErrorAs(t, err, &failure)
			assert.Equal(t, http.StatusTooManyRequests, failure.StatusCode)
			assert.Equal(t, []string{"insufficient_quota", "insufficient_quota"}, []string{failure.Type, failure.Code})
			assert.Regexp(t, usedUp, failure.Message)
			assert.Equal(t, "false", failure.Response.Header.Get("X-Should-Retry"))
			assert.Equal(t, answers+1, sent)
		})
	}
}
