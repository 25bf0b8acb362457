package clients

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

func TestAnswerHasTextAStopReasonAndUsage(t *testing.T) {
	client := newClient()
	message, err := client.Messages.New(t.Context(), ask("Say hello to the gateway"))
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(message.ID, "msg_"), message.ID)
	assert.Equal(t, anthropic.StopReasonEndTurn, message.StopReason)
	assert.Contains(t, text(message), "hello to the gateway")
	assert.Positive(t, message.Usage.InputTokens)
	assert.Positive(t, message.Usage.OutputTokens)
}

func TestStreamAccumulatesToTheSameContentAsThePlainAnswer(t *testing.T) {
	client := newClient()
	plain, err := client.Messages.New(t.Context(), ask("Compare a stream with a plain answer"))
	require.NoError(t, err)
	streamed, err := accumulate(t, client, ask("Compare a stream with a plain answer"))
	require.NoError(t, err)
	assert.Equal(t, text(plain), text(&streamed))
	assert.Equal(t, plain.StopReason, streamed.StopReason)
	assert.Equal(t, plain.Usage.InputTokens, streamed.Usage.InputTokens)
	assert.Equal(t, plain.Usage.OutputTokens, streamed.Usage.OutputTokens)
}

func TestMaxTokensEndsAnAnswer(t *testing.T) {
	short := func(p *anthropic.MessageNewParams) { p.MaxTokens = 3 }
	client := newClient()
	plain, err := client.Messages.New(t.Context(), ask("Tell a long story about a river", short))
	require.NoError(t, err)
	streamed, err := accumulate(t, client, ask("Tell a long story about a river", short))
	require.NoError(t, err)
	assert.Equal(t, anthropic.StopReasonMaxTokens, plain.StopReason)
	assert.Equal(t, anthropic.StopReasonMaxTokens, streamed.StopReason)
	assert.EqualValues(t, 3, streamed.Usage.OutputTokens)
}

func TestThinkingComesWithItsSignature(t *testing.T) {
	think := func(p *anthropic.MessageNewParams) {
		p.MaxTokens = 4096
		p.Thinking = anthropic.ThinkingConfigParamUnion{OfEnabled: &anthropic.ThinkingConfigEnabledParam{BudgetTokens: 1024}}
	}
	client := newClient()
	streamed, err := accumulate(t, client, ask("Think about prime numbers", think))
	require.NoError(t, err)
	require.NotEmpty(t, streamed.Content)
	assert.Equal(t, "thinking", streamed.Content[0].Type)
	assert.NotEmpty(t, streamed.Content[0].Thinking)
	assert.NotEmpty(t, streamed.Content[0].Signature)
}

func TestTokensAreCounted(t *testing.T) {
	client := newClient()
	count := func(prompt string) int64 {
		counted, err := client.Messages.CountTokens(t.Context(), anthropic.MessageCountTokensParams{
			Model: model, Messages: ask(prompt).Messages,
		})
		require.NoError(t, err)
		return counted.InputTokens
	}
	assert.Positive(t, count("short"))
	assert.Greater(t, count(strings.Repeat("long ", 200)), count("short"))
}

func TestModelsAreListedInTheMessagesShape(t *testing.T) {
	client := newClient()
	page, err := client.Models.List(t.Context(), anthropic.ModelListParams{})
	require.NoError(t, err)
	var names []string
	for _, info := range page.Data {
		names = append(names, info.ID)
	}
	assert.Contains(t, names, string(model))
	info, err := client.Models.Get(t.Context(), string(model), anthropic.ModelGetParams{})
	require.NoError(t, err)
	assert.Equal(t, string(model), info.ID)
}

func TestUnreachableProviderIsPassedOverForTheNextOne(t *testing.T) {
	message, err := accumulate(t, newClient(), ask("Who answers?", func(p *anthropic.MessageNewParams) { p.Model = "fallback" }))
	require.NoError(t, err)
	assert.Contains(t, text(&message), "Who answers?")
}

func TestManyStreamsAtOnceKeepApart(t *testing.T) {
	client := newClient()
	var group errgroup.Group
	for i := range 12 {
		group.Go(func() error {
			name := fmt.Sprintf("traveller%d!", i)
			message, err := accumulate(t, client, ask("Greet "+name))
			assert.Contains(t, text(&message), name)
			return err
		})
	}
	require.NoError(t, group.Wait())
}
