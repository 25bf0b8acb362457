package limits

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

func TestAnswersAreExpectedToBeAsLongAsTheyMay(t *testing.T) {
	chat, messages := &catalog.Provider{Formats: []*format.Descriptor{formats.Of(translate.Chat)}}, &catalog.Provider{Formats: []*format.Descriptor{formats.Of(translate.Messages)}}
	standard := &catalog.Model{Targets: []catalog.Target{{Provider: chat, Traits: new(trait.Traits)}}}
	own := &catalog.Model{Targets: []catalog.Target{{Provider: chat, Traits: &trait.Traits{DefaultMaxTokens: 10}}, {Traits: new(trait.Traits)}}}
	calls := &catalog.Model{Targets: []catalog.Target{{Provider: messages, Traits: new(trait.Traits)}}}
	for _, c := range []struct {
		view translate.View
		m    *catalog.Model
		want int64
	}{
		{translate.View{MaxTokens: 1000}, standard, 1001},
		{translate.View{}, standard, 4097},
		{translate.View{}, own, 11},
		{translate.View{MaxTokens: 100, Answers: 3}, own, 301},
		{translate.View{MaxTokens: 100, Answers: 3, Prompts: 4}, own, 1201},
		{translate.View{MaxTokens: 100, Answers: 3}, calls, 303}, // each answer is a call with the whole prompt
		{translate.View{MaxTokens: math.MaxInt64, Answers: math.MaxInt64, Prompts: 9}, own, math.MaxInt64},
		{translate.View{MaxTokens: math.MaxInt64 - 1}, own, math.MaxInt64},
	} {
		e, refused := new(Chain).Expect(&exchange.Exchange{Request: exchange.Request{Format: formats.Of(translate.Chat), View: c.view}}, c.m, nil)
		assert.Nil(t, refused)
		assert.Equal(t, c.want, e.Reserved, "%+v", c.view)
	}
	e, refused := new(Chain).Expect(&exchange.Exchange{Request: exchange.Request{Operation: translate.CountTokens, View: translate.View{MaxTokens: 5}}}, own, nil)
	assert.Nil(t, refused)
	assert.Zero(t, e)
}

// The bound that a translation adds to requests of agents is larger than the bound that
// other requests are assumed to have, which was reserved for these requests, too.
func TestTheBoundThatATranslationAddsIsReserved(t *testing.T) {
	for spoken, want := range map[translate.Format]fault.Assumed{
		translate.Messages:  {Tokens: 32000, Field: "max_output_tokens"},
		translate.Chat:      {Tokens: 4096, Field: "max_output_tokens"},
		translate.Responses: {Tokens: 4096, Field: "max_output_tokens"},
	} {
		provider := &catalog.Provider{Formats: []*format.Descriptor{formats.Of(spoken)}}
		m := &catalog.Model{Targets: []catalog.Target{{Provider: provider, Traits: new(trait.Traits)}}}
		e, refused := new(Chain).Expect(&exchange.Exchange{Request: exchange.Request{Format: formats.Of(translate.Responses)}}, m, nil)
		assert.Nil(t, refused)
		assert.Equal(t, want, e.Assumed, string(spoken))
		assert.Equal(t, want.Tokens+1, e.Reserved, string(spoken))
	}
}

// byAnswer is a price list in which a token of an answer and a search have a price.
type byAnswer struct{ table *prices.Table }

func (l byAnswer) Price(_, _, _ string, at time.Time) *prices.Price {
	return l.table.Find("p", "m", at)
}

// A tier or a speed without a known factor passed a budget at the price of others, and its
// cost, up to ten times as high, was unknown. A tier that the target does not get is no reason
// to refuse.
func TestTermsWithoutAKnownFactorAreRefused(t *testing.T) {
	table, err := prices.FromRows("p", []map[string]string{{"models": "m", "input": "0", "output": "1", "priority": "2"}})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		terms  token.Terms
		spoken translate.Format
		field  string // "" for a request that is not refused
	}{
		"none":                      {0, translate.Messages, ""},
		"a known tier":              {token.Priority, translate.Messages, ""},
		"a tier":                    {token.Flex, translate.Messages, "service_tier"},
		"a tier of another name":    {token.OtherTier, translate.Messages, "service_tier"},
		"a speed":                   {token.Priority | token.Fast, translate.Messages, "speed"},
		"a speed of another name":   {token.OtherSpeed, translate.Messages, "speed"},
		"a region":                  {token.RegionUS, translate.Messages, "inference_geo"},
		"a speed that is left out":  {token.Fast | token.OtherSpeed, translate.Chat, ""},
		"a tier that is left out":   {token.OtherTier | token.Flex, translate.Chat, ""},
		"a tier that is translated": {token.Flex, translate.Responses, "service_tier"},
	} {
		provider := &catalog.Provider{Name: "p", Formats: []*format.Descriptor{formats.Of(c.spoken)}}
		m := &catalog.Model{Targets: []catalog.Target{{Provider: provider, Model: "x", Traits: new(trait.Traits)}}}
		ex := &exchange.Exchange{Request: exchange.Request{Format: formats.Of(translate.Messages), View: translate.View{Model: "m", Costs: translate.Costs{Terms: c.terms}}}}
		_, refused := (&Chain{currency: "USD", priced: true}).Expect(ex, m, byAnswer{table})
		if c.field == "" {
			assert.Nil(t, refused, name)
			continue
		}
		require.NotNil(t, refused, name)
		assert.Equal(t, c.field, refused.Param, name)
		assert.Equal(t, fault.Forbidden, refused.Kind, name)
		assert.Contains(t, refused.LogMessage(), "for the target p/x")
		assert.NotContains(t, refused.Message, "p/x", "clients do not read names of providers")
		_, refused = (&Chain{currency: "USD"}).Expect(ex, m, byAnswer{table})
		assert.Nil(t, refused, "unpriced allow: %s", name)
	}
}

// Searches without a price passed every budget, although the price of a tier without a factor did
// not. What the target does not get is no reason to refuse.
func TestPartsWithoutAPriceAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		row      map[string]string
		searches int64
		units    token.Units
		spoken   translate.Format
		column   string // "" for a request that is not refused
	}{
		"searches":                   {map[string]string{"input": "1", "output": "1"}, 1, token.Units{}, translate.Chat, "search"},
		"searches with a price":      {map[string]string{"input": "1", "output": "1", "search": "0.01"}, 1, token.Units{}, translate.Chat, ""},
		"free searches":              {map[string]string{"input": "1", "output": "1", "search": "0"}, 1, token.Units{}, translate.Chat, ""},
		"searches that are left out": {map[string]string{"input": "1", "output": "1"}, 1, token.Units{}, translate.Messages, ""},
		"images":                     {map[string]string{"minute": "1"}, 0, token.Units{Images: 2}, translate.Chat, "image"},
		"seconds":                    {map[string]string{"characters": "1"}, 0, token.Units{Seconds: 2}, translate.Chat, "minute"},
		"characters":                 {map[string]string{"image": "1"}, 0, token.Units{Characters: 2}, translate.Chat, "characters"},
		"images by their tokens":     {map[string]string{"input": "1", "output": "1"}, 0, token.Units{Images: 2}, translate.Chat, ""},
	} {
		c.row["models"] = "m"
		table, err := prices.FromRows("p", []map[string]string{c.row})
		require.NoError(t, err)
		provider := &catalog.Provider{Name: "p", Formats: []*format.Descriptor{formats.Of(c.spoken)}}
		m := &catalog.Model{Targets: []catalog.Target{{Provider: provider, Model: "x", Traits: new(trait.Traits)}}}
		view := translate.View{Model: "m", Costs: translate.Costs{Searches: c.searches, Units: c.units}}
		ex := &exchange.Exchange{Request: exchange.Request{Format: formats.Of(translate.Chat), View: view}}
		_, refused := (&Chain{currency: "USD", priced: true}).Expect(ex, m, byAnswer{table})
		if c.column == "" {
			assert.Nil(t, refused, name)
			continue
		}
		require.NotNil(t, refused, name)
		assert.Equal(t, fault.Forbidden, refused.Kind, name)
		assert.Contains(t, refused.Message, "set the price '"+c.column+"'", name)
		assert.Contains(t, refused.LogMessage(), "for the target p/x", name)
		assert.NotContains(t, refused.Message, "p/x", "clients do not read names of providers")
		_, refused = (&Chain{currency: "USD"}).Expect(ex, m, byAnswer{table})
		assert.Nil(t, refused, "unpriced allow: %s", name)
	}
}

// A conversation that the provider summarizes before it answers is read twice, which no
// reservation contained.
func TestASummaryOfTheConversationIsReserved(t *testing.T) {
	table, err := prices.FromRows("p", []map[string]string{{"models": "m", "input": "1", "output": "2"}})
	require.NoError(t, err)
	body := make([]byte, 4*999) // 1000 tokens
	for spoken, want := range map[translate.Format]meter.Estimate{
		translate.Messages: {Prompt: 1000, Reserved: 1000 + 50 + 1000 + 8192, Cost: aigateway.Cost{Nanos: 2*1000*1000 + (50+8192)*2000, Currency: "USD"}},
		translate.Chat:     {Prompt: 1000, Reserved: 1050, Cost: aigateway.Cost{Nanos: 1000*1000 + 50*2000, Currency: "USD"}},
	} {
		provider := &catalog.Provider{Name: "p", Formats: []*format.Descriptor{formats.Of(spoken)}}
		m := &catalog.Model{Targets: []catalog.Target{{Provider: provider, Traits: new(trait.Traits)}}}
		ex := &exchange.Exchange{Request: exchange.Request{Format: formats.Of(translate.Messages), Body: body, View: translate.View{MaxTokens: 50, Costs: translate.Costs{Compacts: true}}}}
		e, refused := (&Chain{currency: "USD", priced: true}).Expect(ex, m, byAnswer{table})
		assert.Nil(t, refused)
		assert.Equal(t, want, e, string(spoken))
	}
}

// Searches and tiers were missing in what is reserved of a budget. A translation leaves the
// tools of vendors out, so that only a target of the client's format can search.
func TestSearchesAndTiersAreReserved(t *testing.T) {
	table, err := prices.FromRows("p", []map[string]string{{"models": "m", "input": "0", "output": "1", "search": "0.01", "priority": "2"}})
	require.NoError(t, err)
	view := translate.View{MaxTokens: 1000, Costs: translate.Costs{Searches: 5, Terms: token.Priority}}
	for spoken, want := range map[translate.Format]int64{
		translate.Chat:     2 * (1000*1000 + 5*10_000_000),
		translate.Messages: 1000 * 1000, // the translation leaves the tier out, too
	} {
		provider := &catalog.Provider{Name: "p", Formats: []*format.Descriptor{formats.Of(spoken)}}
		m := &catalog.Model{Targets: []catalog.Target{{Provider: provider, Traits: new(trait.Traits)}}}
		chain := &Chain{currency: "USD", priced: true}
		e, refused := chain.Expect(&exchange.Exchange{Request: exchange.Request{Format: formats.Of(translate.Chat), View: view}}, m, byAnswer{table})
		assert.Nil(t, refused)
		assert.Equal(t, want, e.Cost.Nanos, string(spoken))
	}
}

// The fee of a search that a request asks for, or that the model makes for each answer, was missing in
// the record, since answers in the chat format do not state it.
func TestSearchesOfEveryAnswerAreExpected(t *testing.T) {
	table, err := prices.FromRows("p", []map[string]string{{"models": "*", "input": "0", "output": "0", "search": "0.01"}})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		model, body string
		spoken      translate.Format
		reserved    int64
		each        int64
	}{
		"none":                            {"gpt-5.5", `{}`, translate.Chat, 0, 0},
		"options of a search":             {"gpt-5.5", `{"web_search_options":{}}`, translate.Chat, 1, 1},
		"options that are left out":       {"gpt-5.5", `{"web_search_options":{}}`, translate.Messages, 0, 0},
		"a model that always searches":    {"gpt-5-search-api-2025-10-14", `{}`, translate.Chat, 1, 1},
		"the same with options":           {"gpt-4o-search-preview", `{"web_search_options":{}}`, translate.Chat, 1, 1},
		"the same for another client":     {"gpt-4o-mini-search-preview", `{}`, translate.Responses, 1, 1},
		"a tool of Z.ai, if it is needed": {"glm-5", `{"tools":[{"type":"web_search","web_search":{"enable":true}}]}`, translate.Chat, token.DefaultSearches, 0},
		"a tool of Groq":                  {"gpt-oss", `{"tools":[{"type":"browser_search"}]}`, translate.Chat, token.DefaultSearches, 0},
		"a tool of Moonshot":              {"kimi-k2.6", `{"tools":[{"type":"builtin_function","function":{"name":"$web_search"}}]}`, translate.Chat, token.DefaultSearches, 0},
		"a switch of Model Studio":        {"qwen3-max", `{"enable_search":true}`, translate.Chat, token.DefaultSearches, 0},
		"the switch, turned off":          {"qwen3-max", `{"enable_search":false}`, translate.Chat, 0, 0},
		"a function":                      {"qwen3-max", `{"tools":[{"type":"function","function":{"name":"web_search"}}]}`, translate.Chat, 0, 0},
	} {
		body := `{"model":"` + c.model + `","messages":[{"role":"user","content":"hi"}],` + strings.TrimPrefix(c.body, "{")
		view, refused := formats.Of(translate.Chat).Requests.Inspect([]byte(strings.Replace(body, ",}", "}", 1)), translate.Generate)
		require.Nil(t, refused, name)
		provider := &catalog.Provider{Name: "p", Formats: []*format.Descriptor{formats.Of(c.spoken)}}
		m := &catalog.Model{Targets: []catalog.Target{{Provider: provider, Traits: new(trait.Traits)}}}
		ex := &exchange.Exchange{Request: exchange.Request{Format: formats.Of(translate.Chat), View: view}}
		e, refused := (&Chain{currency: "USD", priced: true}).Expect(ex, m, byAnswer{table})
		require.Nil(t, refused, name)
		assert.Equal(t, c.reserved*10_000_000, e.Cost.Nanos, name)
		assert.Equal(t, c.each, e.Searches, name)
	}
}

// The log named the model alone, which may have many targets.
func TestALogOfAMissingPriceNamesTheTarget(t *testing.T) {
	provider := &catalog.Provider{Name: "p", Formats: []*format.Descriptor{formats.Of(translate.Chat)}}
	m := &catalog.Model{Targets: []catalog.Target{{Provider: provider, Model: "x", Traits: new(trait.Traits)}}}
	chain := &Chain{currency: "USD", priced: true}
	_, refused := chain.Expect(&exchange.Exchange{Request: exchange.Request{Format: formats.Of(translate.Chat), View: translate.View{Model: "m"}}}, m, byAnswer{})
	require.NotNil(t, refused)
	assert.Contains(t, refused.LogMessage(), "for the target p/x")
	assert.NotContains(t, refused.Message, "p/x", "clients do not read names of providers")
}
