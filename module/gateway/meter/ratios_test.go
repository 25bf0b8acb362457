package meter

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

func emptyRatios() *Ratios { return &Ratios{models: make(map[Model]*ratio)} }

var keyM = Model{"p", "m"}

// answered returns an exchange of a messages client with a chat provider that has counted
// a number of tokens for a text of a length in bytes.
func answered(bytes int, tokens int64) *exchange.Exchange {
	ex := &exchange.Exchange{
		Request: exchange.Request{
			Format: formats.Of(translate.Messages), Operation: translate.Generate, Body: []byte(`{"messages":[{"role":"user","content":"` + strings.Repeat("x", bytes) + `"}]}`),
		},
	}
	ex.Course.Attempt = &exchange.Attempt{
		Exchange: ex, Provider: "p", Model: "m", Format: formats.Of(translate.Chat),
	}
	ex.Course.Result = new(exchange.Result)
	ex.Course.Result.Finish(token.Usage{Counts: token.Counts{Fresh: tokens / 2, CacheRead: tokens - tokens/2}, Known: true})
	return ex
}

// learn makes r learn from an answered exchange.
func learn(r *Ratios, ex *exchange.Exchange) {
	r.Learn(&exchange.Conduit{Attempt: *ex.Course.Attempt, Result: *ex.Course.Result}, r.Measure(ex.Course.Attempt))
}

func TestTheRatioOfAModelIsLearned(t *testing.T) {
	r := emptyRatios()
	assert.EqualValues(t, 4, r.BytesPerToken(keyM))
	distance := 4 - 2.5
	for range 20 {
		learn(r, answered(5000, 2000))
		nearer := r.BytesPerToken(keyM) - 2.5
		assert.Less(t, nearer, distance, "each request moves the ratio closer to 2.5")
		distance = nearer
	}
	assert.InDelta(t, 2.5, r.BytesPerToken(keyM), 0.02)
	assert.EqualValues(t, 4, r.BytesPerToken(Model{"p", "other"}), "the ratios of other models do not change")
	assert.EqualValues(t, 4, r.BytesPerToken(Model{"other", "m"}))
}

func TestWhatWasLearnedIsForgottenWhenTheModelChanges(t *testing.T) {
	known := newRatio()
	for range 100 {
		known.add(50_000, 10_000)
	}
	assert.InDelta(t, 5, known.bytes/known.tokens, 0.01)
	for range 200 {
		known.add(20_000, 10_000)
	}
	assert.InDelta(t, 2, known.bytes/known.tokens, 0.1)
	assert.LessOrEqual(t, known.tokens, 2.0*rememberedFor)
}

func TestUsageThatCannotBeTrueIsIgnored(t *testing.T) {
	r := emptyRatios()
	for _, ex := range []*exchange.Exchange{
		answered(4000, 0), answered(4000, -1000), answered(4000, 1), answered(4000, 499), answered(4000, 4001), answered(4000, 1<<62),
		answered(0, 1), answered(0, 0), answered(2, 10),
	} {
		learn(r, ex)
		assert.EqualValues(t, 4, r.BytesPerToken(keyM), "%d tokens", ex.Course.Result.Usage.Input())
	}
	for range 1000 {
		learn(r, answered(4000, 4000))
	}
	assert.GreaterOrEqual(t, r.BytesPerToken(keyM), 1.0)
}

func TestOnlyAnsweredTextsTeach(t *testing.T) {
	for name, change := range map[string]func(*exchange.Exchange){
		"a chat client":       func(ex *exchange.Exchange) { ex.Request.Format = formats.Of(translate.Chat) },
		"a count of tokens":   func(ex *exchange.Exchange) { ex.Request.Operation = translate.CountTokens },
		"an answer cut short": func(ex *exchange.Exchange) { ex.Course.Result.State = exchange.Broken },
		"usage not reported":  func(ex *exchange.Exchange) { ex.Course.Result.Usage.Known = false },
		"the byte lane":       func(ex *exchange.Exchange) { ex.Course.Attempt.Format = formats.Of(translate.Messages) },
		"an image": func(ex *exchange.Exchange) {
			ex.Request.Body = []byte(strings.Replace(string(ex.Request.Body), `"content":"`, `"content":[{"type":"image","source":{"type":"url","url":"u"}},{"type":"text","text":"`, 1))
			ex.Request.Body = []byte(strings.Replace(string(ex.Request.Body), `"}]}`, `"}]}]}`, 1))
		},
		"a very long request": func(ex *exchange.Exchange) { ex.Request.Body = append(ex.Request.Body, make([]byte, maxLearned)...) },
	} {
		r, ex := emptyRatios(), answered(5000, 2000)
		change(ex)
		learn(r, ex)
		assert.EqualValues(t, 4, r.BytesPerToken(keyM), name)
	}
}

func TestAProviderThatTurnedOutNotToCountTeachesToo(t *testing.T) {
	r, ex := emptyRatios(), answered(5000, 2000)
	ex.Course.Attempt.Format = formats.Of(translate.Messages)
	r.Track(keyM)
	learn(r, ex)
	assert.Less(t, r.BytesPerToken(keyM), 4.0)
}

func TestOnceAModelIsKnownFewRequestsAreRead(t *testing.T) {
	known, read := newRatio(), 0
	for range settledAfter + 10*readOneOf {
		if known.due() {
			read++
		}
	}
	assert.Equal(t, settledAfter+10, read)
}

// Clients may use any number of model names of some providers.
func TestTheMemoryOfRatiosIsBounded(t *testing.T) {
	r := emptyRatios()
	for i := range 3 * maxRatios {
		r.Track(Model{"p", fmt.Sprint(i)})
	}
	assert.Len(t, r.models, maxRatios)
	assert.NotNil(t, r.find(Model{"p", fmt.Sprint(3*maxRatios - 1)}), "the newest model is tracked")
}

func TestRatiosAreSharedByAllRequests(t *testing.T) {
	r := emptyRatios()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 200 {
				learn(r, answered(500, 200))
				r.Track(Model{"p", fmt.Sprint(i, j)})
				assert.GreaterOrEqual(t, r.BytesPerToken(keyM), 1.0)
			}
		})
	}
	all.Wait()
	assert.Less(t, r.BytesPerToken(keyM), 4.0)
}

func TestRatiosOutliveAConfiguration(t *testing.T) {
	first := LoadRatios()
	first.Track(keyM)
	second := LoadRatios()
	assert.NoError(t, ReleaseRatios())
	assert.Same(t, first, second)
	assert.Same(t, first, LoadRatios(), "the next configuration uses the same ratios")
	assert.NoError(t, ReleaseRatios())
	assert.NoError(t, ReleaseRatios())
	assert.NotSame(t, first, LoadRatios(), "unused ratios are removed")
	assert.NoError(t, ReleaseRatios())
}

func TestWithoutRatiosTheDefaultHolds(t *testing.T) {
	var r *Ratios
	r.Track(keyM)
	learn(r, answered(5000, 2000))
	assert.EqualValues(t, 4, r.BytesPerToken(keyM))
}
