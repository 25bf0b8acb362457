package gateway

import (
	"encoding/base64"
	"math"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// What a client says was taken for a file wherever it stood, if it had no spaces:
// 20 million characters of a prompt counted as 1538 tokens of a limit.
func TestPromptsAreEstimatedByTheirLengthAndFilesByTheirCost(t *testing.T) {
	english := strings.Repeat("the quick brown fox jumps over the lazy dog. ", 1000)
	chinese := strings.Repeat("\u654f\u6377\u7684\u68d5\u8272\u72d0\u72f8", 2000)
	joined := strings.ReplaceAll(english, " ", "_")
	file := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x00\x10\x83\x10\x51\x87\x20\x92\x8b\x30\xd3\x8f", 50_000)))
	block := func(block string) string {
		return `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[` + block + `]}]}`
	}
	based := func(kind, media, data string) string {
		return `{"type":"` + kind + `","source":{"data":"` + data + `","type":"base64","media_type":"` + media + `"}}`
	}
	for name, c := range map[string]struct {
		format   translate.Format
		body     string
		low, top int64
	}{
		"a long text":                     {translate.Completions, `{"model":"m","prompt":"` + english + `"}`, 11_000, 12_000},
		"a language without spaces":       {translate.Completions, `{"model":"m","prompt":"` + chinese + `"}`, 10_000, 12_000},
		"tokens":                          {translate.Completions, `{"model":"m","prompt":[` + strings.Repeat("12345,", 10_000) + `1]}`, 14_000, 16_000},
		"a text without spaces":           {translate.Completions, `{"model":"m","prompt":"` + joined + `"}`, 11_000, 12_000},
		"a text of base64":                {translate.Chat, block(`{"type":"text","text":"` + file + `"}`), 200_000, 201_000},
		"a tool that was given base64":    {translate.Messages, block(`{"type":"tool_use","id":"a","name":"f","input":{"source":{"type":"base64","media_type":"image/png","data":"` + file + `"}}}`), 200_000, 201_000},
		"an image":                        {translate.Messages, block(based("image", "image/png", file)), 1500, 1600},
		"two images":                      {translate.Messages, block(based("image", "image/png", file) + "," + based("image", "image/png", file)), 3000, 3100},
		"an image that a tool returned":   {translate.Messages, block(`{"type":"tool_result","tool_use_id":"a","content":[` + based("image", "image/png", file) + `]}`), 1500, 1600},
		"a PDF":                           {translate.Messages, block(based("document", `application\/pdf`, file)), 20_000, 20_100},
		"a document of text":              {translate.Messages, block(`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"` + file + `"}}`), 200_000, 201_000},
		"a text that pretends":            {translate.Messages, block(based("document", "text/plain", file)), 200_000, 201_000},
		"an image of all that a body has": {translate.Messages, block(based("image", "image/png", strings.Repeat(file, 40))), 7_800, 8_000},
		"an image by its URL":             {translate.Chat, block(`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + file + `"}},{"type":"text","text":"` + english + `"}`), 12_500, 13_600},
		"one with its slashes escaped":    {translate.Chat, block(`{"type":"image_url","image_url":{"url":"data:image\/png;base64,` + strings.ReplaceAll(file, "/", `\/`) + `"}}`), 1500, 1600},
		"an address":                      {translate.Chat, block(`{"type":"image_url","image_url":{"url":"https://x/` + joined + `"}}`), 11_000, 12_000},
		"a PDF as a file part":            {translate.Chat, block(`{"type":"file","file":{"file_data":"data:application/pdf;base64,` + file + `"}}`), 20_000, 20_100},
		"a text as a file part":           {translate.Chat, block(`{"type":"file","file":{"file_data":"data:text/plain;base64,` + file + `"}}`), 200_000, 201_000},
		"something that was said":         {translate.Chat, block(`{"type":"input_audio","input_audio":{"format":"wav","data":"` + file + `"}}`), 780, 850},
	} {
		view, fault := pairs.For(c.format).Inspect([]byte(c.body), translate.Generate)
		require.Nil(t, fault, name)
		got := promptTokens(len(c.body), view.Files)
		assert.GreaterOrEqual(t, got, c.low, name)
		assert.LessOrEqual(t, got, c.top, name)
	}
}

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
		assert.Equal(t, c.want, expect(&exchange.Exchange{Format: translate.Chat, View: c.view}, c.m).reserved, "%+v", c.view)
	}
	assert.Zero(t, expect(&exchange.Exchange{Operation: translate.CountTokens, View: translate.View{MaxTokens: 5}}, own).reserved)
}

func TestWhatAnExchangeUsedIsToldAsFarAsItIsKnown(t *testing.T) {
	usage := translate.Usage{Input: 1, CacheRead: 2, CacheWrite: 4, Output: 8, Reasoning: 3, Known: true}
	overloaded := translate.ReadStreamFault([]byte(`{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`), translate.Messages)
	const reserved = 4114
	for name, c := range map[string]struct {
		a    exchange.Attempt
		sent bool
		want int64
	}{
		"a whole answer":                      {exchange.Attempt{Finished: true, Usage: usage, Status: 200}, true, 15},
		"a whole answer without usage":        {exchange.Attempt{Finished: true, Status: 200}, true, reserved},
		"a whole answer that is said to be 0": {exchange.Attempt{Finished: true, Status: 200, Usage: translate.Usage{Known: true}}, true, reserved},
		"a usage that cannot be":              {exchange.Attempt{Finished: true, Usage: translate.Usage{Input: -5, Output: -5, Known: true}}, true, reserved},
		"a usage that is absurd":              {exchange.Attempt{Finished: true, Usage: translate.Usage{Output: 1 << 53, Known: true}}, true, reserved},
		"a cut answer":                        {exchange.Attempt{Usage: usage, Status: 200}, true, reserved},
		"a cut answer that has used more":     {exchange.Attempt{Usage: translate.Usage{Input: 5000, Known: true}, Status: 200}, true, 5000},
		"a refusal of the provider":           {exchange.Attempt{Sent: true, Status: 400, Fault: translate.Unusable(nil)}, false, 0},
		"a redirect":                          {exchange.Attempt{Sent: true, Status: 302, Fault: translate.Unusable(nil)}, false, 0},
		"a provider that cannot be reached":   {exchange.Attempt{Fault: translate.Unreachable(nil)}, false, 0},
		"a provider that hangs up":            {exchange.Attempt{Sent: true, Fault: translate.Unreachable(nil)}, false, reserved},
		"a provider that is silent":           {exchange.Attempt{Sent: true, Fault: translate.UpstreamTimeout(nil)}, false, reserved},
		"a client that leaves at once":        {exchange.Attempt{}, false, 0},
		"a client that leaves":                {exchange.Attempt{Sent: true, Fault: translate.InternalFault(nil)}, false, reserved},
		"one that leaves before content":      {exchange.Attempt{Sent: true, Status: 200, Fault: translate.InternalFault(nil)}, false, reserved},
		"what no target can take":             {exchange.Attempt{Refused: true, Fault: translate.Unusable(nil)}, false, 0},
		"a 200 that is none":                  {exchange.Attempt{Sent: true, Status: 200, Fault: translate.Unusable(nil)}, false, 0},
		"a 200 that is an error":              {exchange.Attempt{Sent: true, Status: 200, Usage: usage, Fault: overloaded}, false, 15},
		"a 200 that breaks off":               {exchange.Attempt{Sent: true, Status: 200, Fault: translate.Truncated(nil)}, false, reserved},
	} {
		s, _ := sinkFor(translate.Chat, true)
		s.bill = bill{prompt: 18, reserved: reserved}
		s.ex.Attempts, s.ex.Attempt, s.content = 1, &c.a, c.sent
		assert.Equal(t, c.want, s.usedTokens(), name)
		s.bill.earlier = 7
		assert.Equal(t, c.want+7, s.usedTokens(), "with what another target had used: %s", name)
		s.ex.Attempts = 0
		assert.Zero(t, s.usedTokens(), "nobody was asked")
	}
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
		s.ex.Reservation, s.ex.Attempts, s.bill = reservation, 1, bill{prompt: 18, reserved: 20}
		s.ex.Attempt.Status, s.ex.Attempt.Sent = 200, true
		s.WriteHeader(200)
		for sent, times := 0, 400_000; sent < times && (name == "long events" || sent < 1000*198); sent += len(c.piece) {
			_, _ = s.Write([]byte(c.piece))
		}
		s.stop()
		assert.GreaterOrEqual(t, reservation.settled[0], c.low, name)
		assert.LessOrEqual(t, reservation.settled[0], c.most, name)
	}
}

// A JSON answer once made room for the next request with its first bytes: any
// number of large ones could be held in memory by clients who do not read them.
func TestALargeAnswerRunsUntilItsLastBytesGoOut(t *testing.T) {
	s, _ := sinkFor(translate.Chat, false)
	reservation := new(counted)
	s.ex.Reservation, s.ex.Attempts = reservation, 1
	s.ex.Attempt.Finished, s.ex.Attempt.Usage = true, translate.Usage{Output: 4, Known: true}
	s.Header().Set("Content-Length", "20")
	s.WriteHeader(200)
	_, _ = s.Write(make([]byte, 19))
	assert.Equal(t, []int64{4}, reservation.settled)
	assert.Zero(t, reservation.released)
	_, _ = s.Write(make([]byte, 1))
	assert.Equal(t, 1, reservation.released, "before the exchange ends")
	s.stop()
	assert.Equal(t, 1, reservation.released)
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
		assert.Equal(t, 1, reservation.released, name)
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
