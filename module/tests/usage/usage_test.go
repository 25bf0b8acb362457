package usage_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// sum is a sum of usage, as the admin API has it.
type sum struct {
	Key, User, Model, Provider, Outcome string

	Upstream string `json:"upstream_model"`
	Requests int64
	Calls    int64
	Input    int64 `json:"input_tokens"`
	Output   int64 `json:"output_tokens"`
	Cost     int64 `json:"cost_micro"`
	Currency string

	Estimated, Unpriced int64
	Floor               bool
}

// withLedger returns the lines of a site with a store and a ledger of its own.
func withLedger(t testing.TB, lines ...string) []string {
	dir := t.TempDir()
	return append([]string{
		"store sqlite " + dir + "/gateway.db",
		"ledger {\njournal " + dir + "/journal\n}",
	}, lines...)
}

// read returns the usage, divided by dimensions.
func read(t assert.TestingT, s *site.Site, dimension string) (sums []sum) {
	response, err := http.Get(s.AdminURL("/api/v1/usage?by=" + dimension))
	if !assert.NoError(t, err) {
		return nil
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	assert.NoError(t, err)
	var page struct{ Items []sum }
	assert.NoError(t, json.Unmarshal(body, &page), string(body))
	return page.Items
}

// settled returns the usage once it has so many requests.
func settled(t testing.TB, s *site.Site, dimension string, requests int64) (sums []sum) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		sums = read(c, s, dimension)
		total := int64(0)
		for _, sum := range sums {
			total += sum.Requests
		}
		assert.Equal(c, requests, total, "%+v", sums)
	}, site.Patience, 20e6)
	return sums
}

const priced = `price m input 3 output 15`

func TestL004AStreamAndABodyCostTheSame(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		for _, path := range site.CallPaths {
			for _, format := range []string{"messages", "chat"} {
				if path == site.CompletionsPath && format == "messages" {
					continue
				}
				t.Run(path+" to "+format, func(t *testing.T) {
					p := gatewaytest.NewProvider(t)
					s := site.Start(t, withLedger(t, w.Provider("p", p, priced, "format "+format))...)
					require.Equal(t, http.StatusOK, s.Ask(path, site.BodyFor(path, "m", "hello", false)).Status)
					once := settled(t, s, "outcome", 1)
					require.Equal(t, http.StatusOK, s.Ask(path, site.BodyFor(path, "m", "hello", true)).Status)
					twice := settled(t, s, "outcome", 2)
					require.Len(t, once, 1)
					require.Len(t, twice, 1)
					assert.Equal(t, "answered", once[0].Outcome)
					assert.Positive(t, once[0].Output)
					assert.Equal(t, 2*once[0].Input, twice[0].Input)
					assert.Equal(t, 2*once[0].Output, twice[0].Output)
					assert.Equal(t, 3*once[0].Input+15*once[0].Output, once[0].Cost)
					assert.Zero(t, twice[0].Estimated)
					assert.False(t, twice[0].Floor)
				})
			}
		}
	})
}

// stalledStream opens a stream that waits at the gate after "Hi".
func stalledStream(t testing.TB, p *gatewaytest.Provider, open func(path, body string, headers ...string) *site.Stream) (*site.Stream, *gatewaytest.Gate) {
	gate := gatewaytest.NewGate(t)
	events := site.Streams[site.ChatPath]
	p.Script(gatewaytest.InOrder(
		gatewaytest.Chunks(gatewaytest.EventStream, events[:len(events)-2]...),
		gatewaytest.Stall(gate, gatewaytest.More(events[len(events)-2:]...)),
	))
	stream := open(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", true))
	stream.NextUntil(`"Hi"`)
	return stream, gate
}

// L022: gateways that only recorded the last call gave the tokens of failed ones away.
func TestL022TheCallsOfAnExchangeHaveARowEach(t *testing.T) {
	first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := site.Start(t, withLedger(t,
		site.Direct.Provider("first", first, "models off"), site.Direct.Provider("second", second, "models off", "price other input 3 output 15"),
		"model m {\nto first/one\nto second/other\n}")...)
	first.Script(gatewaytest.Status(http.StatusServiceUnavailable))
	require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", true)).Status)
	sums := settled(t, s, "provider,upstream_model,model,key", 1)
	require.Len(t, sums, 2)
	assert.Equal(t, sum{Key: "client", Model: "m", Provider: "first", Upstream: "one", Calls: 1}, sums[0])
	assert.Equal(t, "second other", sums[1].Provider+" "+sums[1].Upstream)
	assert.EqualValues(t, 1, sums[1].Requests)
	assert.Positive(t, sums[1].Cost)
}

// attempt is an attempt of a record, as the admin API has it.
type attempt struct {
	Provider, Format, End string

	Status   int
	Repeated bool
}

// attempts returns the attempts of the record of a request, which has ended.
func attempts(t *testing.T, s *site.Site, id string) (all []attempt) {
	var records []struct {
		Duration int64 `json:"duration_ms"`
		Losses   []string
		Attempts []struct {
			attempt
			Duration int64 `json:"duration_ms"`
		}
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		records = nil
		require.NoError(c, json.Unmarshal([]byte(usageCommand(t, s, "--records --json --request "+id)), &records))
		require.Len(c, records, 1)
	}, site.Patience, site.PollEvery)
	for _, a := range records[0].Attempts {
		assert.LessOrEqual(t, a.Duration, records[0].Duration)
		all = append(all, a.attempt)
	}
	return all
}

// After a fallback, the record showed the calls that had cost something, but not why they had
// failed, and no target that was passed over.
func TestARecordShowsWhyEachTargetWasLeft(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		first, second, third := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		s := site.Start(t, withLedger(t, "retry off",
			w.Provider("first", first, "models off"), w.Provider("second", second, "models off"), w.Provider("third", third, "models off"),
			"model m {\nto first\nto second\nto third\n}")...)
		first.Script(gatewaytest.Status(http.StatusTooManyRequests, "Retry-After", "60"))
		second.Script(gatewaytest.Status(http.StatusServiceUnavailable))
		ask := func(stream bool) []attempt {
			answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", stream))
			require.Equal(t, http.StatusOK, answer.Status, answer.Body)
			return attempts(t, s, answer.ID())
		}
		assert.Equal(t, []attempt{
			{"first", "chat", "rate_limited", 429, false}, {"second", "chat", "overloaded", 503, false}, {"third", "chat", "answered", 200, false},
		}, ask(true))
		assert.Equal(t, []attempt{{"first", "", "rests", 0, false}, {"second", "chat", "answered", 200, false}}, ask(false))
		second.Script(gatewaytest.Status(http.StatusBadRequest))
		answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
		require.Equal(t, http.StatusBadRequest, answer.Status)
		assert.Equal(t, attempt{"second", "chat", "refused", 400, false}, attempts(t, s, answer.ID())[1], "an answer with an error")
	})
}

// The only attempt of an exchange takes no room in the record.
func TestARecordShowsTheOnlyAttempt(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, withLedger(t, "retry off", site.Direct.Provider("p", p))...)
	for _, stream := range []bool{false, true} {
		answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", stream))
		assert.Equal(t, []attempt{{"p", "chat", "answered", 200, false}}, attempts(t, s, answer.ID()))
	}
	p.Script(gatewaytest.Status(http.StatusUnauthorized))
	answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
	assert.Equal(t, []attempt{{"p", "chat", "credential_refused", 401, false}}, attempts(t, s, answer.ID()))
}

// L019: an answer that the client does not read to its end was free in other gateways.
func TestL019AClientThatLeavesPaysWhatWasRelayed(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, priced))...)
	open, _ := stalledStream(t, p, s.Open)
	open.Cancel()
	sums := settled(t, s, "outcome", 1)
	require.Len(t, sums, 1)
	assert.Equal(t, "client_closed", sums[0].Outcome)
	assert.EqualValues(t, 1, sums[0].Estimated)
	assert.Positive(t, sums[0].Output)
	assert.Positive(t, sums[0].Cost)
}

// turns are the events of an answer up to the end of its turn, with a text of the last one,
// and the events with the usage.
var turns = map[string]struct {
	events, last string
	rest         []string
}{
	site.ChatPath: {
		strings.Join(site.Streams[site.ChatPath][:4], ""), `"finish_reason":"stop"`,
		[]string{`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"x","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5000,"total_tokens":5009}}` + "\n\n", "data: [DONE]\n\n"},
	},
	site.MessagesPath: {
		strings.Join(site.Streams[site.MessagesPath][:6], ""), "content_block_stop",
		[]string{"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":5000}}\n\n", site.Streams[site.MessagesPath][7]},
	},
}

// A client that left between the end of the turn and the usage paid only for the text that
// it had got, while the provider charged for hidden reasoning, too.
func TestAClientThatLeavesAfterTheTurnPaysWhatTheProviderCounts(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		for path, turn := range turns {
			t.Run(path, func(t *testing.T) {
				p := gatewaytest.NewProvider(t)
				s := site.StartCaddyfile(t, site.Block("leaving", withLedger(t, w.Provider("p", p, priced))...))
				gate := gatewaytest.NewGate(t)
				p.Script(gatewaytest.InOrder(
					gatewaytest.Chunks(gatewaytest.EventStream, turn.events),
					gatewaytest.Stall(gate, gatewaytest.More(turn.rest...)),
				))
				open := s.Open(path, site.BodyFor(path, "m", "hello", true))
				open.NextUntil(turn.last)
				open.Cancel()
				waitLeft(t)
				gate.Open()
				sums := settled(t, s, "model", 1)
				require.Len(t, sums, 1)
				assert.Zero(t, sums[0].Estimated)
				assert.EqualValues(t, 5000, sums[0].Output)
			})
		}
	})
}

// An answer that breaks off was free in other gateways, too.
func TestL021AStreamThatBreaksOffIsCut(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, priced))...)
	s.AfterContent(p, site.ChatPath, site.Streams[site.ChatPath][0]+site.Streams[site.ChatPath][1], gatewaytest.Reset())
	sums := settled(t, s, "outcome", 1)
	assert.Equal(t, "cut", sums[0].Outcome)
	assert.EqualValues(t, 1, sums[0].Estimated)
}

func TestL024CountsOfTokensCostNothing(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, priced))...)
	require.Equal(t, http.StatusOK, s.Ask(site.CountPath, `{"model":"m","messages":[{"role":"user","content":"hello"}]}`).Status)
	sums := settled(t, s, "outcome", 1)
	assert.Equal(t, sum{Outcome: "answered", Requests: 1}, sums[0])
}

// What is refused before a key is known leaves nothing; what a limit refuses leaves a
// record without a call.
func TestL025RefusedRequestsCostNothing(t *testing.T) {
	t.Setenv("KEY_ALICE", site.AliceKey)
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, priced),
		"limit once {\nrequests 1/1d\n}", "key alice {env.KEY_ALICE} {\nlimit once\n}")...)
	for _, asked := range []struct {
		key    string
		status int
	}{{"sk-nobody-has-this-key", 401}, {site.AliceKey, 200}, {site.AliceKey, 429}} {
		require.Equal(t, asked.status, site.Status(s, asked.key))
	}
	sums := settled(t, s, "key,outcome", 2)
	require.Len(t, sums, 2)
	assert.Equal(t, "answered", sums[0].Outcome)
	assert.Equal(t, sum{Key: "alice", Outcome: "refused", Requests: 1}, sums[1])

	// Why a request was refused was in the log alone: who looked at its record saw a status.
	var page struct {
		Items []struct{ Outcome, Reason string }
	}
	get(t, s.AdminURL("/api/v1/records"), &page)
	require.Len(t, page.Items, 2)
	assert.Equal(t, "request rate limit reached for this key", page.Items[0].Reason)
	assert.Empty(t, page.Items[1].Reason)
}

func TestL013AnUnknownPriceIsNotZero(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, "price something-else input 3 output 15"))...)
	require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)).Status)
	sums := settled(t, s, "model", 1)
	assert.EqualValues(t, 1, sums[0].Unpriced)
	assert.True(t, sums[0].Floor)
	assert.Zero(t, sums[0].Cost)
}

func TestL036AReloadWritesEachRecordOnce(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	lines := withLedger(t, site.Direct.Provider("p", p, priced))
	s := site.Start(t, lines...)
	open, gate := stalledStream(t, p, s.Open)
	for i := range 3 {
		require.NoError(t, s.Reload(site.Block(fmt.Sprintf("# %d", i), lines...)))
	}
	gate.Open()
	assert.Contains(t, open.Rest().Body, "[DONE]")
	require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false)).Status)
	sums := settled(t, s, "outcome", 2)
	require.Len(t, sums, 1)
	assert.Equal(t, "answered", sums[0].Outcome)
}

// noDirectory returns the path of a file. As on a full disk, no journal can be made there.
func noDirectory(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	return path
}

// Whoever bills by the ledger refuses what it cannot write down.
func TestL032RequestsAreRefusedWhileNothingCanBeWrittenIfSoConfigured(t *testing.T) {
	for _, onError := range []string{"serve", "block"} {
		t.Run(onError, func(t *testing.T) {
			p := gatewaytest.NewProvider(t)
			dir := t.TempDir()
			s := site.Start(t, "store sqlite "+dir+"/gateway.db", site.Direct.Provider("p", p, priced),
				"ledger {\njournal "+noDirectory(t)+"/journal\non_error "+onError+"\n}")
			answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
			if onError == "serve" {
				assert.Equal(t, http.StatusOK, answer.Status)
				assert.Len(t, p.Requests(), 1)
				return
			}
			assert.Equal(t, http.StatusServiceUnavailable, answer.Status)
			assert.Contains(t, answer.Body, "ledger_unavailable")
			assert.NotContains(t, answer.Body, dir)
			assert.Empty(t, p.Requests())
		})
	}
}

// Caches of an hour and searches of the web have prices of their own: without them, a
// part of the bill was missing.
func TestL006LongCachesAndSearchesAreCharged(t *testing.T) {
	const body = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Hi"}],
		"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":20,"cache_read_input_tokens":0,
		"cache_creation_input_tokens":1500,"cache_creation":{"ephemeral_5m_input_tokens":1000,"ephemeral_1h_input_tokens":500},
		"server_tool_use":{"web_search_requests":2}}}`
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, withLedger(t, site.Direct.Provider("p", p,
		"price m input 1 cache_write 2 cache_write_1h 4 output 8 search 0.01", "format messages chat"))...)
	p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(body)))
	require.Equal(t, http.StatusOK, s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "hello", false)).Status)
	sums := settled(t, s, "model", 1)
	assert.EqualValues(t, 10*1+1000*2+500*4+20*8+2*10_000, sums[0].Cost)
	assert.False(t, sums[0].Floor)
}

// L005: counts of a messages stream are cumulative. Gateways that added them up charged
// the beginning twice.
func TestL005TheLastCountOfAStreamCounts(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, priced, "format messages"))...)
	p.Script(gatewaytest.Chunks(gatewaytest.EventStream,
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}}\n\n",
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n",
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":40}}\n\n",
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":90}}\n\n",
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"))
	require.Equal(t, http.StatusOK, s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "hello", true)).Status)
	sums := settled(t, s, "model", 1)
	assert.EqualValues(t, 7, sums[0].Input)
	assert.EqualValues(t, 90, sums[0].Output)
}

// L023: an answer that is put together of three calls costs what all of them do.
func TestL023TheCallsOfOneAnswerAreAddedUp(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, withLedger(t, site.Direct.Provider("p", p, priced, "format messages"))...)
	ask := func(more string) {
		body := strings.Replace(site.BodyFor(site.ChatPath, "m", "hello", false), "{", "{"+more, 1)
		require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, body).Status)
	}
	ask("")
	one := settled(t, s, "model", 1)[0]
	ask(`"n":3,`)
	all := settled(t, s, "model", 2)[0]
	assert.Len(t, p.Requests(), 4)
	assert.Equal(t, 4*one.Input, all.Input)
	assert.Equal(t, 4*one.Output, all.Output)
	assert.Equal(t, 4*one.Cost, all.Cost)
}

// L045: sums of keys that are gone once had no name.
func TestL045AKeyThatIsGoneKeepsItsName(t *testing.T) {
	t.Setenv("KEY_ALICE", site.AliceKey)
	p := gatewaytest.NewProvider(t)
	lines := withLedger(t, site.Direct.Provider("p", p, priced))
	s := site.Start(t, append(lines, "key alice {env.KEY_ALICE}")...)
	require.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false), "Authorization", "Bearer "+site.AliceKey).Status)
	settled(t, s, "key", 1)
	require.NoError(t, s.Reload(site.Block("", lines...)))
	assert.Equal(t, "alice", settled(t, s, "key", 1)[0].Key)
}
