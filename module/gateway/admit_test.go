package gateway

import (
	"encoding/base64"
	"math"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

func TestPromptsAreEstimatedByTheirLengthAndFilesByTheirNumber(t *testing.T) {
	english := strings.Repeat("the quick brown fox jumps over the lazy dog. ", 1000)
	chinese := strings.Repeat("\u654f\u6377\u7684\u68d5\u8272\u72d0\u72f8", 2000)
	file := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x00\x10\x83\x10\x51\x87\x20\x92\x8b\x30\xd3\x8f", 50_000)))
	for name, c := range map[string]struct {
		body     string
		low, top int64
	}{
		"nothing":                   {"", 1, 1},
		"a short text":              {`{"prompt":"hello"}`, 4, 6},
		"a long text":               {`{"prompt":"` + english + `"}`, 11_000, 12_000},
		"a text without ends":       {english, 11_000, 12_000},
		"a language without spaces": {`{"prompt":"` + chinese + `"}`, 10_000, 12_000},
		"tokens":                    {`{"prompt":[` + strings.Repeat("12345,", 10_000) + `1]}`, 14_000, 16_000},
		"an image":                  {`{"source":{"type":"base64","data":"` + file + `"}}`, 1500, 1520},
		"an image by its URL":       {`[{"url":"data:image/png;base64,` + file + `"},"` + english + `"]`, 12_500, 13_600},
		"two images":                {`["` + file + `","` + file + `"]`, 3000, 3010},
	} {
		got := promptTokens([]byte(c.body))
		assert.GreaterOrEqual(t, got, c.low, name)
		assert.LessOrEqual(t, got, c.top, name)
	}
}

func FuzzPromptTokens(f *testing.F) {
	f.Add([]byte(strings.Repeat("a", 5000)+`"`), 3)
	f.Add([]byte(`"`), 9000)
	f.Fuzz(func(t *testing.T, piece []byte, times int) {
		times = min(max(times, 0), 1000)
		body := make([]byte, 0, len(piece)*times)
		for range times {
			body = append(body, piece...)
		}
		got := promptTokens(body)
		assert.GreaterOrEqual(t, got, int64(1))
		assert.LessOrEqual(t, got, int64(len(body))/2+1500*int64(len(body)/unbroken)+1)
	})
}

func TestAnswersAreExpectedToBeAsLongAsTheyMay(t *testing.T) {
	standard := &model{targets: []target{{traits: new(translate.Traits)}}}
	own := &model{targets: []target{{traits: &translate.Traits{DefaultMaxTokens: 10}}, {traits: new(translate.Traits)}}}
	for _, c := range []struct {
		view translate.View
		m    *model
		want int64
	}{
		{translate.View{MaxTokens: 1000}, standard, 1001},
		{translate.View{}, standard, 4097},
		{translate.View{}, own, 11},
		{translate.View{MaxTokens: 100, Answers: 3}, own, 301},
		{translate.View{MaxTokens: 100, Answers: 3, Prompts: 4}, own, 1201},
		{translate.View{MaxTokens: math.MaxInt64, Answers: math.MaxInt64, Prompts: 9}, own, math.MaxInt64},
		{translate.View{MaxTokens: math.MaxInt64 - 1}, own, math.MaxInt64},
	} {
		assert.Equal(t, c.want, expectedTokens(&exchange.Exchange{View: c.view}, c.m), "%+v", c.view)
	}
	assert.Zero(t, expectedTokens(&exchange.Exchange{Operation: translate.CountTokens, View: translate.View{MaxTokens: 5}}, own))
}

func TestWhatAnExchangeUsedIsToldAsFarAsItIsKnown(t *testing.T) {
	usage := translate.Usage{Input: 1, CacheRead: 2, CacheWrite: 4, Output: 8, Reasoning: 3, Known: true}
	for name, c := range map[string]struct {
		a    exchange.Attempt
		sent bool
		want int64
	}{
		"a whole answer":                    {exchange.Attempt{Finished: true, Usage: usage, Status: 200}, true, 15},
		"a whole answer without usage":      {exchange.Attempt{Finished: true, Status: 200}, true, exchange.UnknownTokens},
		"a usage that cannot be":            {exchange.Attempt{Finished: true, Usage: translate.Usage{Input: -5, Output: -5, Known: true}}, true, 0},
		"a cut answer":                      {exchange.Attempt{Usage: usage, Status: 200}, true, exchange.UnknownTokens},
		"a refusal of the provider":         {exchange.Attempt{Status: 400, Fault: translate.Unusable(nil)}, false, 0},
		"a provider that cannot be reached": {exchange.Attempt{Fault: translate.Unreachable(nil)}, false, 0},
		"a provider that is silent":         {exchange.Attempt{Fault: translate.UpstreamTimeout(nil)}, false, exchange.UnknownTokens},
		"a client that leaves":              {exchange.Attempt{}, false, exchange.UnknownTokens},
		"what no target can take":           {exchange.Attempt{Refused: true, Fault: translate.Unusable(nil)}, false, 0},
		"a 200 that is none":                {exchange.Attempt{Status: 200, Fault: translate.Unusable(nil)}, false, exchange.UnknownTokens},
	} {
		s, _ := sinkFor(translate.Chat, true)
		s.ex.Attempts, s.ex.Attempt, s.content = 1, &c.a, c.sent
		assert.Equal(t, c.want, s.usedTokens(), name)
		s.ex.Attempts = 0
		assert.Zero(t, s.usedTokens(), "nobody was asked")
	}
}

// counted is a reservation that remembers how it was settled.
type counted struct{ settled []int64 }

func (c *counted) Settle(tokens int64) { c.settled = append(c.settled, tokens) }

// A client that had read its whole answer could once be told that its request
// still ran.
func TestWhatIsKnownIsSettledBeforeTheLastBytesGoOut(t *testing.T) {
	s, c := sinkFor(translate.Chat, true)
	reservation := new(counted)
	s.ex.Reservation, s.ex.Attempts = reservation, 1
	s.WriteHeader(200)
	_, _ = s.Write([]byte(event))
	assert.Empty(t, reservation.settled)
	s.ex.Attempt.Finished, s.ex.Attempt.Usage = true, translate.Usage{Input: 3, Output: 4, Known: true}
	c.leave() // nothing goes out any more, and it is settled all the same
	_, _ = s.Write([]byte(event))
	assert.Equal(t, []int64{7}, reservation.settled)
	s.stop()
	assert.Equal(t, []int64{7}, reservation.settled, "once")
}

func TestEveryEndSettles(t *testing.T) {
	for name, end := range map[string]func(s *sink){
		"a fault":                     func(s *sink) { s.fail(translate.Unusable(nil)) },
		"a fault in the middle":       func(s *sink) { s.WriteHeader(200); _, _ = s.Write([]byte(event)); s.fail(translate.Unusable(nil)) },
		"an answer of the gateway's":  func(s *sink) { s.write([]byte("{}")) },
		"a client that went away":     func(s *sink) { s.abandoned(t.Context()); s.stop() },
		"a panic, or anything at all": (*sink).stop,
	} {
		s, _ := sinkFor(translate.Messages, true)
		reservation := new(counted)
		s.ex.Reservation, s.ex.Attempts = reservation, 1
		end(s)
		s.stop()
		assert.Len(t, reservation.settled, 1, name)
	}
}

// BenchmarkAdmitWithoutALimit shows that keys without a limit pay nothing.
func BenchmarkAdmitWithoutALimit(b *testing.B) {
	s, _ := sinkFor(translate.Chat, false)
	s.ex.Key = new(exchange.Key)
	h, r := new(Handler), httptest.NewRequest("POST", "/", nil)
	b.ReportAllocs()
	for b.Loop() {
		_ = h.admit(nil, s, r)
	}
}

func TestKeysWithoutALimitPayNothing(t *testing.T) {
	s, _ := sinkFor(translate.Chat, false)
	s.ex.Key = new(exchange.Key)
	h, r := new(Handler), httptest.NewRequest("POST", "/", nil)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if h.admit(nil, s, r) != nil {
			t.Fail()
		}
	}))
	assert.Nil(t, s.ex.Reservation)
}
