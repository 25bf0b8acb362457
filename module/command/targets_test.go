package command

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTargetsAreATable(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, printTargets(&out, []target{
		{Provider: "a", Upstream: "m", APIKey: "{env.A}", State: "resting", Until: "2026-11-22T12:00:00Z", Failure: "rate_limited"},
		{Provider: "local", Upstream: "qwen3", State: "available", Running: 3},
	}))
	assert.Equal(t, `PROVIDER  MODEL  API KEY  RUNNING  STATE
a         m      {env.A}  0        resting until 2026-11-22T12:00:00Z, rate_limited
local     qwen3           3        available
`, out.String())
}

func TestAnExplanationListsTheTargetsInOrder(t *testing.T) {
	var e explanation
	require.NoError(t, json.Unmarshal([]byte(`{"model":"m1","pattern":"m*","format":"messages","attempts":2,"targets":[
		{"provider":"a","upstream_model":"x","api_key":"{env.A}","state":"available","weight":3,"step_weight":4,"format":"messages","lane":"bytes"},
		{"provider":"b","upstream_model":"y","weight":1,"step_weight":4,"state":"failing","last_failure":"failed","format":"chat","lane":"translated","reported":["top_k"],"refused":["container"]},
		{"provider":"c","upstream_model":"z","weight":1,"step_weight":1,"state":"available"}],
		"key":{"id":"team","allowed":true,"limits":[{"name":"small","per":"user","rules":"9 requests per 1m"},{"name":"all","per":"gateway","rules":"50 USD per month"}]}}`), &e))
	var out bytes.Buffer
	require.NoError(t, printExplanation(&out, &e))
	assert.Equal(t, `Requests for m1 in the messages format, by the model m*, ask at most 2 of:
1. a/x {env.A}: available, gets 3 of 4 requests, byte for byte
2. b/y: failing, failed, gets 1 of 4 requests, translated to chat
   left out: top_k
   refused: container
3. c/z: available, passed over: requests cannot be translated
The key team may use the model, within the limits small (per user: 9 requests per 1m), all (per gateway: 50 USD per month).
`, out.String())
	e.Key.Allowed, e.Key.Limits = false, nil
	assert.Equal(t, "The key team may not use the model.", e.keyLine())
}
