package reply

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// counted is a reservation that counts its settlements and releases.
type counted struct {
	settled  []int64
	released int
}

func (c *counted) Settle(used aigateway.Use) { c.settled = append(c.settled, used.Tokens) }

func (c *counted) Release() { c.released++ }

// client is the connection to a client, which may leave.
type client struct {
	*httptest.ResponseRecorder
	gone bool
}

func (c *client) Write(p []byte) (int, error) {
	if c.gone {
		return 0, errors.New("broken pipe")
	}
	return c.ResponseRecorder.Write(p)
}

// replyFor returns a reply with a running first attempt.
func replyFor(format translate.Format, stream bool) (*Reply, *client) {
	c := &client{ResponseRecorder: httptest.NewRecorder()}
	ex := &exchange.Exchange{ID: "req_1", Request: exchange.Request{Format: formats.Of(format), View: translate.View{Model: "m1", Stream: stream}}}
	r := New(c, ex)
	r.Next(&exchange.Conduit{Attempt: exchange.Attempt{Exchange: ex, Format: ex.Request.Format}}, 0)
	return r, c
}

const event = "event: x\ndata: {}\n\n"

// The next request of a client that had read its whole answer was sometimes refused, because
// the first one still counted as running.
func TestWhatIsKnownIsSettledBeforeTheLastBytesGoOut(t *testing.T) {
	s, c := replyFor(translate.Chat, true)
	reservation := new(counted)
	s.Charge(meter.New(meter.Estimate{}, reservation, nil))
	s.WriteHeader(http.StatusOK)
	_, _ = s.Write([]byte(event))
	assert.Empty(t, reservation.settled)
	s.Exchange.Course.Result.Finish(token.Usage{Counts: token.Counts{Fresh: 3, Answer: 4}, Known: true})
	c.gone = true // later bytes cannot be sent, but the exchange is settled nevertheless
	_, _ = s.Write([]byte(event))
	assert.Equal(t, []int64{7}, reservation.settled)
	s.Close(false)
	assert.Equal(t, []int64{7}, reservation.settled, "once")
}

// A client that read 400 KB and disconnected before the usage arrived was charged for only
// 4096 tokens, the number that was reserved. Later, all bytes of a stream counted, so pings
// and comments cost as much as text.
func TestACutAnswerCostsTheTextOfIt(t *testing.T) {
	s, _ := replyFor(translate.Chat, true)
	reservation := new(counted)
	s.Charge(meter.New(meter.Estimate{Prompt: 18, Reserved: 20, Assumed: fault.Assumed{Tokens: 2}}, reservation, nil)) // without a bound
	s.Exchange.Course.Result.Status, s.Exchange.Course.Result.Sent = 200, true
	s.WriteHeader(http.StatusOK)
	_, _ = s.Write([]byte("data: " + strings.Repeat("word", 100_000) + "\n\n"))
	_, _ = s.Write([]byte(strings.Repeat(": ping\n\n", 100_000)))
	s.Exchange.Course.Result.Text.Add([]byte(strings.Repeat("word", 100_000)))
	s.Close(false)
	assert.Equal(t, []int64{100_018}, reservation.settled)
}

// A client that left before the end of the stream counted as answered if the gateway read
// the end without it.
func TestAnUnreadEndIsNoAnswer(t *testing.T) {
	s, _ := replyFor(translate.Chat, true)
	reservation := new(counted)
	s.Charge(meter.New(meter.Estimate{Reserved: 20}, reservation, nil))
	s.WriteHeader(http.StatusOK)
	_, _ = s.Write([]byte(event))
	s.Exchange.Course.Result.Reading.Unread = true
	s.Exchange.Course.Result.Finish(token.Usage{Counts: token.Counts{Fresh: 3, Answer: 4}, Known: true})
	s.Close(true)
	assert.Equal(t, exchange.ClientClosed, s.Exchange.Delivery.Outcome)
	assert.Equal(t, []int64{7}, reservation.settled)
}

// A JSON answer released its reservation with its first bytes, so clients that do not read
// could keep any number of large answers in memory.
func TestALargeAnswerRunsUntilItsLastBytesGoOut(t *testing.T) {
	s, _ := replyFor(translate.Chat, false)
	reservation := new(counted)
	s.Charge(meter.New(meter.Estimate{}, reservation, nil))
	s.Exchange.Course.Result.Finish(token.Usage{Counts: token.Counts{Answer: 4}, Known: true})
	s.Header().Set("Content-Length", "20")
	s.WriteHeader(http.StatusOK)
	_, _ = s.Write(make([]byte, 19))
	assert.Equal(t, []int64{4}, reservation.settled)
	assert.Zero(t, reservation.released)
	_, _ = s.Write(make([]byte, 1))
	assert.Equal(t, 1, reservation.released, "before the exchange ends")
	s.Close(false)
	assert.Equal(t, 1, reservation.released)
}

func TestEveryEndSettles(t *testing.T) {
	for name, end := range map[string]func(s *Reply){
		"a fault": func(s *Reply) { s.Fail(fault.Unusable(nil)) },
		"a fault in the middle": func(s *Reply) {
			s.WriteHeader(http.StatusOK)
			_, _ = s.Write([]byte(event))
			s.Fail(fault.Unusable(nil))
		},
		"an answer of the gateway's":  func(s *Reply) { s.WriteJSON([]byte("{}")) },
		"a client that went away":     func(s *Reply) { s.Abandon(t.Context()); s.Close(false) },
		"a panic, or anything at all": func(s *Reply) { s.Close(false) },
	} {
		s, _ := replyFor(translate.Messages, true)
		reservation := new(counted)
		s.Charge(meter.New(meter.Estimate{}, reservation, nil))
		end(s)
		s.Close(false)
		assert.Len(t, reservation.settled, 1, name)
		assert.Equal(t, 1, reservation.released, name)
	}
}
