package observability_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// The log explains an exchange in one sentence, and so does the access log.
func TestLogsExplainExchanges(t *testing.T) {
	first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := site.StartCaddyfile(t, site.Block("log",
		site.Direct.Provider("anthropic", first, "models off"), site.Direct.Provider("openai", second, "models off"),
		"model m {\nto anthropic/claude\nto openai/gpt\n}"))
	first.Script(gatewaytest.Status(529))
	id := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", true)).ID()
	const sentence = "answered by openai/gpt after anthropic/claude was overloaded (529)"
	record := s.Record(id)
	assert.Equal(t, sentence, record["msg"])
	assert.Equal(t, "debug", record["level"])
	assert.NotContains(t, record, "summary")
	entry, _ := s.AccessEntry(id)["ai_gateway"].(map[string]any)
	assert.Equal(t, sentence, entry["summary"])
}

// The log had no entry about a stream that broke off after content.
func TestAStreamThatBreaksOffAfterContentIsAWarning(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("p", p, site.EveryFormat))
	for _, path := range site.ClientPaths {
		begin := strings.Join(site.Streams[path][:len(site.Streams[path])-2], "")
		answer := s.AfterContent(p, path, begin, gatewaytest.Reset())
		entry := s.FailedAttempt(answer.ID())
		assert.Equal(t, "warn", entry["level"])
		assert.Equal(t, site.Truncated.Message, entry["fault"])
	}
}

// An answer that a guard ends is no failure of the provider.
func TestABlockedAnswerIsNoFailedAttempt(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("p", p, site.EveryFormat), "guard words regex {\npattern greeting Hi\nblock greeting\non answer\n}")
	for _, path := range site.ClientPaths {
		p.Script(gatewaytest.Chunks(gatewaytest.EventStream, site.Streams[path]...))
		answer := s.Ask(path, site.BodyFor(path, "m", "hello", true))
		require.Contains(t, answer.Body, "blocked by the guard")
		s.Record(answer.ID())
	}
	s.AssertNoEntry("attempt failed")
}

func init() { caddy.RegisterModule(noting{}) }

// noted are the events that the handler "noting" has seen.
var noted = make(chan caddy.Event, 10)

type noting struct{}

func (noting) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "events.handlers.noting", New: func() caddy.Module { return new(noting) }}
}

func (*noting) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	return nil
}

func (noting) Handle(_ context.Context, e caddy.Event) error {
	noted <- e
	return nil
}

var _ caddyevents.Handler = noting{}

// A model without a price is an event, once a day in a process. The test failed when it ran
// for the second time in one, as its provider had the same name.
func TestUnpricedModelsAreEvents(t *testing.T) {
	p, pricey := gatewaytest.NewProvider(t), "pricey-"+strings.ToLower(rand.Text())
	s := site.StartCaddyfile(t, "{\nevents {\non ai_gateway_unpriced_model noting\n}\n}\n"+
		site.Block("", site.Direct.Provider(pricey, p, "models dear-*")))
	for range 2 {
		s.Record(s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "dear-1", "hello", false)).ID())
	}
	e := nextEvent(t)
	assert.Equal(t, map[string]any{"provider": pricey, "model": "dear-*", "upstream_model": "dear-1"}, e.Data)
	assert.Nil(t, e.Origin(), "and not whichever module was provisioned last")
	assert.Empty(t, noted)
}

// A model whose requests a budget refused for want of a price was no event, since it had no calls.
func TestModelsThatABudgetRefusesAreEvents(t *testing.T) {
	p, foreign := gatewaytest.NewProvider(t), "foreign-"+strings.ToLower(rand.Text())
	s := site.StartCaddyfile(t, "{\nevents {\non ai_gateway_unpriced_model noting\n}\n}\n"+
		site.Block("", "ledger", "limit all {\nper gateway\nbudget 5/day EUR\n}", site.Direct.Provider(foreign, p, "models dear-*", "price * input 1 output 1")))
	for range 2 {
		s.Record(s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "dear-1", "hello", false)).ID())
	}
	const refusal = "model: the price of 'dear-1' is in USD, not in EUR, and a budget needs it: an administrator can set it, or the budget, in the same currency"
	assert.Equal(t, map[string]any{"provider": foreign, "model": "dear-*", "upstream_model": "dear-1", "refusal": refusal}, nextEvent(t).Data)
	assert.Empty(t, noted)
	assert.Contains(t, s.Call(http.MethodGet, s.AdminURL("/api/v1/status"), "").Body, "Requests for dear-1 of the provider "+foreign+" are refused. "+refusal+".")
}

// A model that its service ends tomorrow was in use, and nobody learned it who did not ask about this
// very model.
func TestTheEndOfAModelIsAnEventAndAWarning(t *testing.T) {
	p, name := gatewaytest.NewProvider(t), "ending-"+strings.ToLower(rand.Text())
	day := func(days int) string { return time.Now().UTC().AddDate(0, 0, days).Format(time.DateOnly) }
	path := filepath.Join(t.TempDir(), "catalog.csv")
	require.NoError(t, os.WriteFile(path, []byte("provider,models,context,shutdown,successor\n"+
		name+",old-1 old-1-20*,1000,"+day(30)+",new-1\n"+name+",gone-1,1000,"+day(-3)+",\n"+name+",later-1,1000,"+day(90)+",\n"), 0o600))
	s := site.StartCaddyfile(t, "{\nevents {\non ai_gateway_model_ends noting\n}\n}\n"+site.Block("", "catalog "+path, site.Direct.Provider(name, p)))
	for _, model := range []string{"later-1", "unheard-of", "old-1", "old-1-2026", "gone-1"} {
		s.Record(s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, model, "hello", false)).ID())
	}
	assert.Equal(t, map[string]any{"provider": name, "model": "old-1", "ends": day(30) + "T00:00:00Z", "successor": "new-1", "changes": "No price is known for the successor."}, nextEvent(t).Data)
	assert.Equal(t, "gone-1", nextEvent(t).Data["model"])
	assert.Empty(t, noted)
	assert.Equal(t, 2, strings.Count(s.Logs.String(), "the service ends this model"))
}

// The end of a model that only a failure of another one calls was noticed behind its end. A day in the
// list of the provider is newer than the tables.
func TestTheEndOfAModelThatATargetNamesIsAnEventWithoutACall(t *testing.T) {
	p, name := gatewaytest.NewProvider(t), "named-"+strings.ToLower(rand.Text())
	day := func(days int) string { return time.Now().UTC().AddDate(0, 0, days).Format(time.DateOnly) }
	path := filepath.Join(t.TempDir(), "catalog.csv")
	require.NoError(t, os.WriteFile(path, []byte("provider,models,context,tool_choice,shutdown,successor\n"+
		name+",old-1 old-1-20*,1000,any,"+day(30)+",new-1\n"+name+",new-1,2000,auto,,\n"+name+",later-1,1000,,"+day(90)+",\n"+name+",unused-1,1000,,"+day(3)+",\n"), 0o600))
	s := site.StartCaddyfile(t, "{\nevents {\non ai_gateway_model_ends noting\n}\n}\n"+site.Block("", "catalog "+path, site.Direct.Provider(name, p, "models off"),
		"model assistant {\nto "+name+"/later-1\nto "+name+"/old-1-2026\n}"))
	const changes = "The successor differs in context: 2000, not 1000; tool_choice: auto, not any. No price is known for the successor."
	assert.Equal(t, map[string]any{"provider": name, "model": "old-1", "ends": day(30) + "T00:00:00Z", "successor": "new-1", "changes": changes}, nextEvent(t).Data)
	assert.Empty(t, noted)
	assert.Contains(t, s.Call(http.MethodGet, s.AdminURL("/api/v1/status"), "").Body, " ends old-1 on "+day(30)+"; the successor is new-1. "+changes)
	assert.Contains(t, s.Logs.String(), changes)
	explained := s.Call(http.MethodGet, s.AdminURL("/api/v1/explain?model=assistant"), "").Body
	assert.Contains(t, explained, `"The service ends the model on `+day(30)+`; the successor is new-1.","The successor differs in context: 2000, not 1000; tool_choice: auto, not any.","No price is known for the successor."`)
}

// A day in the list of the provider was no event of a model that only requests name.
func TestTheEndOfAModelInTheListOfAProviderIsAnEventWithItsFirstCall(t *testing.T) {
	p, name := gatewaytest.NewProvider(t), "listing-"+strings.ToLower(rand.Text())
	day := time.Now().UTC().AddDate(0, 0, 30).Format(time.DateOnly)
	p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"object":"list","data":[{"id":"old-1","object":"model","shutdown_date":"`+day+`"}]}`)))
	s := site.StartCaddyfile(t, "{\nevents {\non ai_gateway_model_ends noting\n}\n}\n"+site.Block("", site.Direct.Provider(name, p, "models auto")))
	require.Contains(t, s.List(site.ClientKey, "/v1/models").Body, "old-1")
	s.Record(s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "old-1", "hello", false)).ID())
	assert.Equal(t, map[string]any{"provider": name, "model": "old-1", "ends": day + "T00:00:00Z", "successor": "", "changes": ""}, nextEvent(t).Data)
}

// nextEvent waits for an event that the handler "noting" sees.
func nextEvent(t *testing.T) caddy.Event {
	t.Helper()
	select {
	case e := <-noted:
		return e
	case <-site.Waiting(t).Done():
		require.FailNow(t, "no event came")
		return caddy.Event{}
	}
}

// A provider that rests was an event, and a request that went to another one was none.
// The log did not show why a request went past a provider that rests.
func TestFallbackAndRestsAreEvents(t *testing.T) {
	first, second := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := site.StartCaddyfile(t, "{\nevents {\non ai_gateway_fallback noting\non ai_gateway_provider_down noting\non ai_gateway_provider_up noting\n}\n}\n"+
		site.Block("", site.Direct.Provider("first", first, "models 1"), site.Direct.Provider("second", second, "models 2"), "model m* {\nto first/x\nto second/y\n}"))
	ask := func(model string) any {
		return s.Record(s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, model, "hello", false)).ID())["msg"]
	}
	first.Script(gatewaytest.Status(429, "Retry-After", "60"), gatewaytest.Status(429, "Retry-After", "60"))
	assert.Equal(t, "answered by second/y after first/x refused by its rate limit (429)", ask("m1"))
	down := nextEvent(t)
	assert.Equal(t, "ai_gateway_provider_down", down.Name())
	assert.Equal(t, []any{"first", "x", "rate_limited"}, []any{down.Data["provider"], down.Data["model"], down.Data["cause"]})
	assert.NotEmpty(t, down.Data["until"])
	fallback := nextEvent(t)
	assert.Equal(t, "ai_gateway_fallback", fallback.Name())
	assert.Equal(t, map[string]any{"model": "m*", "from": "first", "to": "second", "cause": "rate_limited"}, fallback.Data)

	assert.Equal(t, "answered by second/y, while first/x rests", ask("m1"))
	second.Script(gatewaytest.Status(500))
	assert.Equal(t, "failed: second/y failed (500), first/x refused by its rate limit (429)", ask("m1"))
	assert.Equal(t, "ai_gateway_fallback", nextEvent(t).Name())
	second.Script(gatewaytest.Status(500))
	assert.Equal(t, "answered by first/x after second/y failed (500)", ask("m1"))
	assert.ElementsMatch(t, []string{"ai_gateway_fallback", "ai_gateway_provider_up"}, []string{nextEvent(t).Name(), nextEvent(t).Name()})
	assert.Empty(t, noted)
}
