package token_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// OpenRouter and xAI state the exact charge of a call, with searches and discounts, which was not
// read. An amount that cannot be true must not become a cost.
func TestCostsThatAnswersState(t *testing.T) {
	rows := token.WithStatedCosts(token.Row{Path: "in", Is: token.Prompt})
	for object, want := range map[string]token.StatedCost{
		`{"in":1}`:                       {},
		`{"cost":0.0123}`:                {Nanos: 12_300_000, Known: true},
		`{"cost":0}`:                     {Known: true},
		`{"cost":1.5e-9}`:                {Nanos: 2, Known: true},
		`{"cost":null}`:                  {},
		`{"cost_in_usd_ticks":37756000}`: {Nanos: 3_775_600, Known: true},
		`{"cost_in_usd_ticks":5}`:        {Nanos: 1, Known: true},
		`{"cost":{"input_tokens_cost":1,"total_cost":0.006}}`:                        {Nanos: 6_000_000, Known: true},
		`{"estimated_cost":0.25}`:                                                    {Nanos: 250_000_000, Known: true},
		`{"cost":0.05,"is_byok":true,"cost_details":{"upstream_inference_cost":1}}`:  {Nanos: 1_050_000_000, Known: true},
		`{"cost":0.05,"is_byok":false,"cost_details":{"upstream_inference_cost":1}}`: {Nanos: 50_000_000, Known: true},
		`{"cost":0.05,"cost_details":{"upstream_inference_cost":null}}`:              {Nanos: 50_000_000, Known: true},
		`{"cost":1000}`:                      {Nanos: 1_000_000_000_000, Known: true},
		`{"cost":1000.01}`:                   {Doubtful: true},
		`{"cost":1e999}`:                     {Doubtful: true},
		`{"cost":-0.01}`:                     {Doubtful: true},
		`{"cost":"NaN"}`:                     {Doubtful: true},
		`{"cost":"0.1"}`:                     {Doubtful: true},
		`{"cost":[0.1]}`:                     {Doubtful: true},
		`{"cost_in_usd_ticks":-1}`:           {Doubtful: true},
		`{"cost_in_usd_ticks":1e300}`:        {Doubtful: true},
		`{"cost":-1,"cost_in_usd_ticks":10}`: {Nanos: 1, Known: true, Doubtful: true},
		`{"cost":{}}`:                        {},
	} {
		r := report(t, rows, object)
		assert.Equal(t, want, r.Usage().Stated, object)
	}
	first := token.Usage{Known: true, Stated: token.StatedCost{Nanos: 5, Known: true}}
	assert.EqualValues(t, 5, first.Then(token.Usage{Known: true}).Stated.Nanos, "a later report without a cost")
	assert.EqualValues(t, 7, first.Then(token.Usage{Known: true, Stated: token.StatedCost{Nanos: 7, Known: true}}).Stated.Nanos)
	assert.EqualValues(t, 5, token.Usage{}.Then(token.Usage{Stated: first.Stated}).Stated.Nanos)
}
