package gateway

import (
	"math"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

func TestAnswersAreExpectedToBeAsLongAsTheyMay(t *testing.T) {
	chat, messages := &provider{formats: []translate.Format{translate.Chat}}, &provider{formats: []translate.Format{translate.Messages}}
	standard := &model{targets: []target{{provider: chat, traits: new(translate.Traits)}}}
	own := &model{targets: []target{{provider: chat, traits: &translate.Traits{DefaultMaxTokens: 10}}, {traits: new(translate.Traits)}}}
	calls := &model{targets: []target{{provider: messages, traits: new(translate.Traits)}}}
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
		{translate.View{MaxTokens: 100, Answers: 3}, calls, 303}, // each is a call with the whole prompt
		{translate.View{MaxTokens: math.MaxInt64, Answers: math.MaxInt64, Prompts: 9}, own, math.MaxInt64},
		{translate.View{MaxTokens: math.MaxInt64 - 1}, own, math.MaxInt64},
	} {
		assert.Equal(t, c.want, expectedTokens(&exchange.Exchange{Format: translate.Chat, View: c.view}, c.m).Reserved, "%+v", c.view)
	}
	assert.Zero(t, expectedTokens(&exchange.Exchange{Operation: translate.CountTokens, View: translate.View{MaxTokens: 5}}, own).Reserved)
}

// counted is a reservation that remembers how it was settled.
type counted struct {
	settled  []int64
	released int
}

func (c *counted) Settle(tokens int64) { c.settled = append(c.settled, tokens) }

func (c *counted) Release() { c.released++ }

// A client that had read its whole answer could once be told that its request
// still ran.
func TestWhatIsKnownIsSettledBeforeTheLastBytesGoOut(t *testing.T) {
	s, c := sinkFor(translate.Chat, true)
	reservation := new(counted)
	s.ex.Attempts = 1
	s.meter.Reserve(reservation)
	s.WriteHeader(200)
	_, _ = s.Write([]byte(event))
	assert.Empty(t, reservation.settled)
	s.ex.Result.Finish(translate.Usage{Input: 3, Output: 4, Known: true})
	c.leave() // nothing goes out any more, and it is settled all the same
	_, _ = s.Write([]byte(event))
	assert.Equal(t, []int64{7}, reservation.settled)
	s.close(false)
	assert.Equal(t, []int64{7}, reservation.settled, "once")
}

// A client that read 400 KB and left before the usage came once paid for 4096
// tokens, since no more were reserved.
func TestACutAnswerCostsWhatCanBeSeenOfIt(t *testing.T) {
	for name, c := range map[string]struct {
		piece     string
		low, most int64
	}{
		"long events":  {"data: " + strings.Repeat("word", 1000) + "\n\n", 95_000, 100_100},
		"short events": {"data: " + strings.Repeat("m", 190) + "\n\n", 1000, 1100}, // a token each, and nearly nothing but names
	} {
		s, _ := sinkFor(translate.Chat, true)
		reservation := new(counted)
		s.ex.Attempts, s.meter.Estimate = 1, meter.Estimate{Prompt: 18, Reserved: 20}
		s.meter.Reserve(reservation)
		s.ex.Result.Status, s.ex.Result.Sent = 200, true
		s.WriteHeader(200)
		for sent, times := 0, 400_000; sent < times && (name == "long events" || sent < 1000*198); sent += len(c.piece) {
			_, _ = s.Write([]byte(c.piece))
		}
		s.close(false)
		assert.GreaterOrEqual(t, reservation.settled[0], c.low, name)
		assert.LessOrEqual(t, reservation.settled[0], c.most, name)
	}
}

// A JSON answer once made room for the next request with its first bytes: any
// number of large ones could be held in memory by clients who do not read them.
func TestALargeAnswerRunsUntilItsLastBytesGoOut(t *testing.T) {
	s, _ := sinkFor(translate.Chat, false)
	reservation := new(counted)
	s.ex.Attempts = 1
	s.meter.Reserve(reservation)
	s.ex.Result.Finish(translate.Usage{Output: 4, Known: true})
	s.Header().Set("Content-Length", "20")
	s.WriteHeader(200)
	_, _ = s.Write(make([]byte, 19))
	assert.Equal(t, []int64{4}, reservation.settled)
	assert.Zero(t, reservation.released)
	_, _ = s.Write(make([]byte, 1))
	assert.Equal(t, 1, reservation.released, "before the exchange ends")
	s.close(false)
	assert.Equal(t, 1, reservation.released)
}

func TestEveryEndSettles(t *testing.T) {
	for name, end := range map[string]func(s *sink){
		"a fault":                     func(s *sink) { s.fail(translate.Unusable(nil)) },
		"a fault in the middle":       func(s *sink) { s.WriteHeader(200); _, _ = s.Write([]byte(event)); s.fail(translate.Unusable(nil)) },
		"an answer of the gateway's":  func(s *sink) { s.write([]byte("{}")) },
		"a client that went away":     func(s *sink) { s.abandon(t.Context()); s.close(false) },
		"a panic, or anything at all": func(s *sink) { s.close(false) },
	} {
		s, _ := sinkFor(translate.Messages, true)
		reservation := new(counted)
		s.ex.Attempts = 1
		s.meter.Reserve(reservation)
		end(s)
		s.close(false)
		assert.Len(t, reservation.settled, 1, name)
		assert.Equal(t, 1, reservation.released, name)
	}
}

// BenchmarkAdmitWithoutALimit shows that keys without a limit pay nothing.
func BenchmarkAdmitWithoutALimit(b *testing.B) {
	s, _ := sinkFor(translate.Chat, false)
	s.ex.Key = new(aigateway.Key)
	h, r := new(Handler), httptest.NewRequest("POST", "/", nil)
	b.ReportAllocs()
	for b.Loop() {
		_ = h.admit(nil, s, r)
	}
}

func TestKeysWithoutALimitPayNothing(t *testing.T) {
	s, _ := sinkFor(translate.Chat, false)
	s.ex.Key = new(aigateway.Key)
	h, r := new(Handler), httptest.NewRequest("POST", "/", nil)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if h.admit(nil, s, r) != nil {
			t.Fail()
		}
	}))
	assert.Zero(t, s.meter)
}
