package catalog

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog/tables"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

func costing(input string) []map[string]string {
	return []map[string]string{{"input": input, "output": "9"}}
}

// The most specific price of a call decides. When only providers had prices, two contracts
// with one provider had the same prices. Rows of the file with the name of a provider that has a
// preset once had no effect.
func TestTheNearestPriceDecides(t *testing.T) {
	provider := &ProviderConfig{Name: "p", ListedAs: "openai", Prices: []map[string]string{{"models": "own*", "input": "3", "output": "9"}}}
	listed, err := newListed(provider, aigateway.Defaults{}, nil)
	require.NoError(t, err)
	p := &Provider{Name: "p", listed: listed}
	p.offer.whole = Target{Provider: p, Traits: new(trait.Traits)}
	c := &Catalog{Providers: []*Provider{p}}
	require.NoError(t, c.addModels(caddy.Context{}, []*ModelConfig{
		{Name: "block", Prices: costing("2"), Targets: []TargetConfig{{Provider: "p", Model: "own-1"}, {Provider: "p", Model: "own-2", Prices: costing("1")}}},
		{Name: "later", Prices: []map[string]string{{"input": "2", "output": "9", "from": "2030-01-01"}}, Targets: []TargetConfig{{Provider: "p"}}},
		{Name: "renamed", Traits: map[string]string{"same_as": "gpt-4o"}, Targets: []TargetConfig{{Provider: "p", Model: "ours"}}},
	}))
	require.NoError(t, c.rank())
	path := filepath.Join(t.TempDir(), "prices.csv")
	require.NoError(t, os.WriteFile(path, []byte("provider,models,input,output\nopenai,gpt-5 own-1,4,9\nopenai,o3,4,9\np,o3,5,9\n"), 0o600))
	c.tables, err = tables.Open(t.Context(), path, zap.NewNop())
	require.NoError(t, err)

	at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	for name, call := range map[string]struct {
		asked, provider, model string
		want                   float64
	}{
		"of the target":                        {"block", "p", "own-2", 1},
		"of the model":                         {"block", "p", "own-1", 2},
		"of the provider":                      {"own-1", "p", "own-1", 3},
		"of the provider, the model's not yet": {"later", "p", "own-3", 3},
		"of the file":                          {"gpt-5", "p", "gpt-5", 4},
		"of the file, by its own name":         {"o3", "p", "o3", 5},
		"of the table":                         {"gpt-4o", "p", "gpt-4o", 2.5},
		"of the table, by same_as":             {"renamed", "p", "ours", 2.5},
	} {
		price := c.Price(call.asked, call.provider, call.model, at)
		if assert.NotNil(t, price, name) {
			assert.EqualValues(t, call.want*1e6, price.Base.Fresh, name)
		}
	}
	assert.Nil(t, c.Price("x", "p", "unheard-of", at))
	assert.Nil(t, c.Price("x", "gone", "gpt-5", at))
}

// The cheapest target depends on the lengths of the prompt and of the answer. A price in another
// currency cannot be compared.
func TestCostsAreComparedInOneCurrency(t *testing.T) {
	c := &Catalog{}
	config := &ModelConfig{Name: "m", Order: OrderByCost}
	for name, price := range map[string]map[string]string{
		"dear to write": {"input": "1", "output": "100"}, "even": {"input": "10", "output": "10"},
		"other": {"input": "1", "output": "1", "currency": "EUR"}, "unknown": nil,
	} {
		listed, err := newListed(&ProviderConfig{Name: name}, aigateway.Defaults{}, nil)
		require.NoError(t, err)
		p := &Provider{Name: name, listed: listed, offer: offer{hidden: true}}
		c.Providers = append(c.Providers, p)
		target := TargetConfig{Provider: name, Model: "m"}
		if price != nil {
			target.Prices = []map[string]string{price}
		}
		config.Targets = append(config.Targets, target)
	}
	slices.SortFunc(config.Targets, func(a, b TargetConfig) int { return strings.Compare(a.Provider, b.Provider) })
	require.NoError(t, c.addModels(caddy.Context{}, []*ModelConfig{config}))
	require.NoError(t, c.rank())
	for name, test := range map[string]struct {
		tokens     token.Counts
		dear, even int64
	}{
		"a long prompt": {token.Counts{Fresh: 100_000, Answer: 1_000}, 200_000_000, 1_010_000_000},
		"a long answer": {token.Counts{Fresh: 100, Answer: 1_000}, 100_100_000, 11_000_000},
	} {
		by := c.Measure(c.models[0], "m", "chat", func(*Target) prices.Charge { return prices.Charge{Tokens: test.tokens} })
		got := make(map[string]int64)
		for i := range c.models[0].Targets {
			if value, ok := by(&c.models[0].Targets[i]); ok {
				got[c.models[0].Targets[i].Provider.Name] = value
			}
		}
		assert.Equal(t, map[string]int64{"dear to write": test.dear, "even": test.even}, got, name)
	}
}
