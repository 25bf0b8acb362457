package transport

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

func TestSeveralCallsGiveOneAnswer(t *testing.T) {
	for _, stream := range []bool{false, true} {
		inner := byPrompt{"a": says(stream, "1", "2"), "b": says(stream, "3"), "c": says(stream, "4", "5", "6")}
		got := carry(t, newTransport(inner), fanned(t, stream, "a", "b", "c"))
		require.NoError(t, got.err)
		assert.Equal(t, http.StatusOK, got.status)
		assert.Nil(t, got.Fault)
		assert.True(t, got.Whole())
		assert.Equal(t, []string{"12", "3", "456"}, choicesOf(t, stream, got.output))
		assert.Equal(t, token.Usage{Counts: token.Counts{Fresh: 21, Answer: 6}, Known: true}, got.Usage)
		assert.Equal(t, "m1", got.Result.Head.AnsweredBy)
		assert.Equal(t, http.StatusOK, got.Status)
		assert.Equal(t, 1, strings.Count(got.output, `"total_tokens":27`))
	}
}

// The client reads the same answer for any split of the bytes, and for any order in which
// they arrive.
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
			limit := 1 + random.IntN(300)
			pieces := split(bytes, func() int { return 1 + random.IntN(limit) })
			inner[prompt] = func(*http.Request) (*http.Response, error) {
				return responds(http.StatusOK, "text/event-stream", &chunks{pieces: pieces, end: io.EOF}), nil
			}
		}
		got := carry(t, newTransport(inner), fanned(t, true, prompts...))
		require.True(t, got.Whole())
		require.Equal(t, want, choicesOf(t, true, got.output))
		require.EqualValues(t, 12*7, got.Usage.Fresh)
	}
}

func TestAJSONAnswerAmongStreamsIsReplayed(t *testing.T) {
	seen := make(chan struct{})
	inner := byPrompt{"a": says(true, "hi"), "b": after(seen, says(false, "whole"))}
	got := carryBy(t, newTransport(inner), fanned(t, true, "a", "b"), untilContent(seen))
	assert.Equal(t, []string{"hi", "whole"}, choicesOf(t, true, got.output))
	assert.True(t, got.Whole())
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
	c := &exchange.Conduit{Attempt: *fanned(t, false, "a", "b")}
	res, err := carryUntil(ctx, newTransport(byPrompt{"a": writes, "b": writes}), c)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Len(t, vars, 1)
	assert.True(t, c.Result.Whole())
}

// If a later prompt is invalid, nothing is sent, and the memory of the rendered prompts is
// released.
func TestAFaultOfALaterPromptIsFoundBeforeAnythingIsSent(t *testing.T) {
	inner := answers(func(*http.Request) (*http.Response, error) {
		assert.Fail(t, "something was sent")
		return nil, errReset
	})
	got := carry(t, newTransport(inner), fanned(t, true, "a", ""))
	assert.Equal(t, 400, got.status)
	assert.True(t, got.State == exchange.Unasked)
	require.NotNil(t, got.Fault)
	assert.Equal(t, "prompt[1]", got.Fault.Param)
}

// Each call could return an answer of the largest size, and all of these were in memory at
// once.
func TestTheAnswersOfAllCallsTogetherAreBounded(t *testing.T) {
	large := says(false, strings.Repeat("x", maxAnswer/2))
	got := carry(t, newTransport(byPrompt{"a": large, "b": large, "c": says(false, "x")}), fanned(t, false, "a", "b", "c"))
	require.NotNil(t, got.Fault)
	assert.ErrorIs(t, got.Fault.Cause, coding.ErrTooLarge)
	assert.False(t, got.Whole())
}
