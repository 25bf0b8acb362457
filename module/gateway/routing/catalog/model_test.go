package catalog

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// failures by name; those with a status are the provider's answers.
func failures() map[string]*exchange.Result {
	all := map[string]*exchange.Result{
		"timeout":      {Fault: fault.UpstreamTimeout(nil)},
		"unreachable":  {Fault: fault.Unreachable(nil)},
		"late timeout": {Status: 200, Fault: fault.UpstreamTimeout(nil)},
		"unusable":     {Status: 200, Fault: fault.Unusable(nil)},
		"overloaded":   {Status: 200, Fault: &fault.Fault{Kind: fault.Overloaded}},
		"rate limited": {Status: 200, Fault: &fault.Fault{Kind: fault.RateLimited}},
		"too long":     {Status: 400, Fault: fault.Read(400, "", []byte(`{"error":{"message":"prompt is too long"}}`))},
		"too long 200": {Status: 200, Fault: fault.ReadAnswer([]byte(`{"error":{"message":"m","code":"context_length_exceeded"}}`))},
		"policy 400":   {Status: 400, Fault: fault.Read(400, "", []byte(`{"error":{"message":"m","code":"content_filter"}}`))},
		"policy 403":   {Status: 403, Fault: fault.Read(403, "", []byte(`{"error":{"message":"Content violates usage guidelines"}}`))},
	}
	for name, status := range map[string]int{
		"302": 302, "400": 400, "401": 401, "402": 402, "403": 403, "404": 404, "408": 408, "409": 409,
		"413": 413, "422": 422, "429": 429, "498": 498, "500": 500, "503": 503, "504": 504, "529": 529, "599": 599, "700": 700,
	} {
		all[name] = &exchange.Result{Status: status, Fault: fault.Read(status, "", nil)}
	}
	return all
}

func TestFallbackFollowsItsWords(t *testing.T) {
	for _, test := range []struct {
		words []string
		after []string // all others end the search
	}{
		{nil, []string{
			"timeout", "late timeout", "unreachable", "unusable", "overloaded", "rate limited",
			"policy 403", "302", "401", "402", "403", "404", "408", "429", "498", "500", "503", "504", "529", "599", "700",
		}},
		{[]string{}, nil},
		{[]string{"429"}, []string{"429", "rate limited"}},
		{[]string{"4xx"}, []string{"too long", "too long 200", "policy 400", "policy 403", "400", "401", "402", "403", "404", "408", "409", "413", "422", "429", "498", "rate limited"}},
		{[]string{"5xx"}, []string{"500", "503", "504", "529", "599", "700", "unusable", "overloaded", "302"}},
		{[]string{"529"}, []string{"529", "overloaded"}},
		{[]string{"timeout"}, []string{"timeout", "late timeout"}},
		{[]string{"unreachable"}, []string{"unreachable"}},
		{[]string{"context_length"}, []string{"too long", "too long 200"}},
		{[]string{"content_policy"}, []string{"policy 400", "policy 403"}},
		{[]string{"default", "context_length"}, []string{
			"too long", "too long 200", "timeout", "late timeout", "unreachable", "unusable", "overloaded", "rate limited",
			"policy 403", "302", "401", "402", "403", "404", "408", "429", "498", "500", "503", "504", "529", "599", "700",
		}},
	} {
		f, err := parseFallback(test.words)
		require.NoError(t, err)
		for name, a := range failures() {
			assert.Equal(t, contains(test.after, name), f.After(&exchange.Attempt{Format: formats.Of(translate.Messages)}, a), "%v after %s", test.words, name)
		}
	}
}

// Anthropic refuses an account without credit with 400, Google a key that is not valid: the client
// got the error although another target was paid for.
func TestTroubleWithTheAccountFallsBackWhateverItsStatus(t *testing.T) {
	for kind, own := range accountStatuses {
		for _, status := range []int{0, 200, 400, 401, 402, 403, 412, 422, 429, 500, 503} {
			for word, others := range map[string][]int{"default": {own}, strconv.Itoa(own): {own}, "4xx": {own}, "429": {429}, "403": {403}, "409": nil, "timeout": nil} {
				f, err := parseFallback([]string{word})
				require.NoError(t, err)
				wanted := slices.Contains(others, own) || slices.Contains(others, status)
				for _, format := range []translate.Format{translate.Messages, translate.Chat, translate.Responses} {
					got := f.After(&exchange.Attempt{Format: formats.Of(format)}, &exchange.Result{Status: status, Fault: &fault.Fault{Kind: kind}})
					wanted := wanted || status == 200 && slices.Contains(others, formats.Of(format).Errors.Status(&fault.Fault{Kind: kind}))
					assert.Equal(t, wanted, got, "%v with %d, fallback_on %s", kind, status, word)
				}
			}
		}
	}
}

func contains(list []string, word string) bool {
	return slices.Contains(list, word)
}

func TestFallbackRefusesOtherWords(t *testing.T) {
	for _, word := range []string{"", "200", "399", "600", "3xx", "6xx", "xx", "05xx", "+429", "4 29", "always", "Timeout", "429 "} {
		_, err := parseFallback([]string{word})
		assert.ErrorContains(t, err, "fallback_on: '"+word+"' is not a status", word)
	}
}

// The traits of a preset for a single model take precedence over its traits for all models,
// and configured traits over both.
func TestTargetsHaveTheTraitsOfTheirModel(t *testing.T) {
	tokens := func(n string) map[string]string { return map[string]string{"default_max_tokens": n} }
	known := []aigateway.ModelTraits{{Pattern: "old-*", Traits: tokens("2")}, {Pattern: "*", Traits: map[string]string{"max_output_tokens": "9"}}}
	for _, c := range []struct {
		name, upstream, client string
		configured, more       map[string]string
		want                   int64
	}{
		{name: "of the preset", client: "new", want: 1},
		{name: "of the first pattern that matches", client: "old-1", want: 2},
		{name: "of the name that the provider knows", upstream: "old-1", client: "new", want: 2},
		{name: "not of the name that the client used", upstream: "new", client: "old-1", want: 1},
		{name: "of the provider", client: "old-1", configured: tokens("3"), want: 3},
		{name: "of the target", upstream: "old-1", client: "x", configured: tokens("3"), more: tokens("4"), want: 4},
		{name: "bounded", client: "new", configured: tokens("30"), want: 9},
	} {
		p := &Provider{traits: layers{tokens("1"), known, c.configured}}
		target, err := p.target(c.upstream, c.more)
		require.NoError(t, err)
		assert.Equal(t, c.want, target.TraitsOf(c.client).MaxTokens(), c.name)
	}
}

func TestAModelNeedsTargetsThatItCanReach(t *testing.T) {
	lookup := (&Catalog{Providers: []*Provider{{Name: "a"}, {Name: "b"}}}).Lookup
	to := func(names ...string) (targets []TargetConfig) {
		for _, name := range names {
			targets = append(targets, TargetConfig{Provider: name})
		}
		return targets
	}
	for want, config := range map[string]*ModelConfig{
		aigateway.ErrPattern.Error():            {Name: "a b", Targets: to("a")},
		"needs at least one target":             {Name: "m"},
		"unknown provider 'c'; known are: a, b": {Name: "m", Targets: to("a", "c")},
		"target 'a' is listed twice":            {Name: "m", Targets: to("a", "b", "a")},
		"attempts must be at least 1":           {Name: "m", Targets: to("a"), Attempts: -1},
		"fallback_on: 'x' is not a status (429), a class (4xx, 5xx), timeout, unreachable, context_length, content_policy, budget or default": {
			Name: "m", Targets: to("a"), FallbackOn: []string{"x"},
		},
		"traits: on_loss: must be 'warn' or 'reject', got 'drop'": {
			Name: "m", Targets: to("a"), Traits: map[string]string{"on_loss": "drop"},
		},
		"traits: files: must be 'false', 'true' or 'drop', got 'yes'": {
			Name: "m", Targets: []TargetConfig{{Provider: "a", Traits: map[string]string{"files": "yes"}}},
		},
	} {
		_, err := newModel(config, lookups{provider: lookup})
		assert.EqualError(t, err, want)
	}
	m, err := newModel(&ModelConfig{Name: "m", Targets: []TargetConfig{{Provider: "a"}, {Provider: "a", Model: "x"}, {Provider: "b"}}}, lookups{provider: lookup})
	require.NoError(t, err)
	assert.Equal(t, 3, m.Attempts, "all by default")
	assert.Equal(t, "client's", m.Targets[0].UpstreamModel("client's"))
	assert.Equal(t, "x", m.Targets[1].UpstreamModel("client's"))
}
