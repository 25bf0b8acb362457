package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

func TestTargetsAreATable(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, printTargets(&out, []api.Target{
		{Provider: "a", Upstream: "m", APIKey: "{env.A}", State: "resting", RestEnd: new(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)), Failure: "rate_limited"},
		{Provider: "local", Upstream: "qwen3", State: "available", Running: 3},
	}))
	assert.Equal(t, `PROVIDER  MODEL  API KEY  RUNNING  STATE
a         m      {env.A}  0        resting until 2026-11-22T12:00:00Z, rate_limited
local     qwen3           3        available
`, out.String())
}

func TestAnExplanationListsTheTargetsInOrder(t *testing.T) {
	var e api.Explanation
	require.NoError(t, json.Unmarshal([]byte(`{"model":"m1","pattern":"m*","format":"messages","attempts":2,"site":{"addresses":["a.example","b.example"],"others":["c.example"]},"targets":[
		{"provider":"a","upstream_model":"x","api_key":"{env.A}","state":"available","weight":3,"step_weight":4,"condition":"{x} > 1","unmet":true,"format":"messages","lane":"bytes","price":"a x USD 1/2 #3f0c",
			"facts":{"values":{"sampling":"none","longest":"128000"},"as_of":"2026-11-20","source":"a page","own":false},"warnings":["The service ends the model on 2026-12-24."]},
		{"provider":"b","upstream_model":"y","weight":1,"step_weight":4,"state":"failing","last_failure":"failed","format":"chat","lane":"translated","reported":["top_k"],"refused":["container"]},
		{"provider":"c","upstream_model":"z","weight":1,"step_weight":1,"state":"available"}],
		"key":{"id":"team","allowed":true,"limits":[{"name":"small","per":"user","rules":"9 requests per 1m"},{"name":"all","per":"gateway","rules":"50 USD per month"}]}}`), &e))
	var out bytes.Buffer
	require.NoError(t, printExplanation(&out, &e, true))
	assert.Equal(t, `Requests for m1 at a.example, b.example in the messages format, by the model m*, ask at most 2 of:
1. a/x {env.A}: available, gets 3 of 4 requests, byte for byte
   price: a x USD 1/2 #3f0c
   if: {x} > 1 (not for this request)
   known: longest 128000, sampling none; the table of the gateway 2026-11-20
   warning: The service ends the model on 2026-12-24.
2. b/y: failing, failed, gets 1 of 4 requests, translated to chat
   price: unknown
   left out (1): top_k
   refused (1): container
3. c/z: available, passed over: requests cannot be translated
   price: unknown
The key team may use the model, within the limits small (per user: 9 requests per 1m), all (per gateway: 50 USD per month).
Other sites with the model, of which --site selects one: c.example
`, out.String())
	out.Reset()
	require.NoError(t, printExplanation(&out, &e, false))
	assert.Contains(t, out.String(), "translated to chat\n   price: unknown\n   fields of requests: 1 refused, 1 left out and reported; --fields lists them\n3. c/z")
	assert.NotContains(t, out.String(), "top_k", "a hundred names once hid the rest")
	e.Key.Allowed, e.Key.Reason = false, "its models are n*"
	assert.Equal(t, "The key team may not use the model: its models are n*.", keyLine(e.Key), "its limits seemed to be the reason")
}

// The fields that a translation loses were listed for every API key of a provider: three
// pages for a model with two providers.
func TestFieldsOfEqualTargetsAreListedOnce(t *testing.T) {
	lost := api.Choice{Target: api.Target{Provider: "a"}, Lane: "translated", Losses: api.Losses{Reported: []string{"top_k"}, Refused: []string{"container"}}}
	other := api.Choice{Target: api.Target{Provider: "b"}, Lane: "translated", Losses: api.Losses{Reported: []string{"top_k"}}}
	var out bytes.Buffer
	require.NoError(t, printExplanation(&out, &api.Explanation{Targets: []api.Choice{lost, {Lane: "bytes"}, {Lane: "bytes"}, lost, other}}, true))
	assert.Equal(t, 1, strings.Count(out.String(), "container"), out.String())
	assert.Equal(t, 1, strings.Count(out.String(), "left out and refused: as for target 1"), out.String())
	assert.Equal(t, 2, strings.Count(out.String(), "left out (1): top_k"), out.String())
}

func TestMomentsAreDatesOrTimes(t *testing.T) {
	for _, text := range []string{"2026-11-22", "2026-11-22T12:00:00+01:00"} {
		_, err := parseMoment(text)
		assert.NoError(t, err, text)
	}
	_, err := parseMoment("yesterday")
	assert.EqualError(t, err, "must be a date, YYYY-MM-DD, or an RFC 3339 time, not 'yesterday'")
}

// A hundred names of fields were one line of 3 KB.
func TestFieldsArePrintedWithinTheWidthOfATerminal(t *testing.T) {
	var fields []string
	for i := range 100 {
		fields = append(fields, fmt.Sprintf("tools.*.field_%d", i))
	}
	fields = append(fields, strings.Repeat("x", 90), "last")
	var out bytes.Buffer
	printFields(&out, "left out", fields)
	assert.True(t, strings.HasPrefix(out.String(), "   left out (102): tools.*.field_0, tools.*.field_1,"), out.String())
	for line := range strings.Lines(out.String()) {
		assert.True(t, len(line) <= len("\n")+80 || strings.Contains(line, "xxx"), line)
		assert.NotEmpty(t, strings.TrimSpace(line))
	}
	assert.Equal(t, fields, strings.Split(strings.Join(strings.Fields(strings.TrimPrefix(out.String(), "   left out (102):")), ""), ","))
}
