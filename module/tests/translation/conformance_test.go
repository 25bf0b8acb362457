package translation_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// The files conformance_*_test.go hold the numbered cases of the wire formats,
// each from a client's request to a provider's ledger and back. The names of
// tests begin with the numbers of their cases; some cases are tests of other
// files, which say more of the same.

// conformingLanes are the ways from a client's format to a provider's, m for
// messages, c for chat, t for completions and r for responses.
var conformingLanes = map[string]site.Lane{
	"m>m": site.NewLane(translate.Messages, translate.Messages), "m>c": site.NewLane(translate.Messages, translate.Chat), "m>t": site.NewLane(translate.Messages, translate.Completions),
	"c>m": site.NewLane(translate.Chat, translate.Messages), "c>c": site.NewLane(translate.Chat, translate.Chat), "c>t": site.NewLane(translate.Chat, translate.Completions),
	"t>m": site.NewLane(translate.Completions, translate.Messages), "t>c": site.NewLane(translate.Completions, translate.Chat), "t>t": site.NewLane(translate.Completions, translate.Completions),
	"m>r": site.NewLane(translate.Messages, translate.Responses),
}

// conforming is a gateway with a model for each lane and set of traits, all of
// one provider.
type conforming struct {
	*site.Site
	p      *gatewaytest.Provider
	models map[string]string // by lane and traits
}

// startConforming starts one for these lanes and traits, a pair each; several
// traits are divided by semicolons. A lane may name a preset behind a space.
func startConforming(t *testing.T, w site.Way, pairs ...[2]string) conforming {
	t.Helper()
	p := gatewaytest.NewProvider(t)
	c := conforming{nil, p, make(map[string]string)}
	var lines []string
	for _, pair := range pairs {
		if _, known := c.models[pair[0]+pair[1]]; known {
			continue
		}
		lane, preset, _ := strings.Cut(pair[0], " ")
		model := fmt.Sprint("m", len(c.models))
		c.models[pair[0]+pair[1]] = model
		if preset == "" {
			preset = "openai_compatible"
		}
		lines = append(lines, w.Preset(preset, "of-"+model, p, conformingLanes[lane].Format, "models "+model, strings.ReplaceAll(pair[1], "; ", "\n")))
	}
	c.Site = site.Start(t, lines...)
	return c
}

// last is the body that the provider received last.
func (s conforming) last() string {
	requests := s.p.Requests()
	require.NotEmpty(s.T, requests)
	return string(requests[len(requests)-1].Body)
}

// asking is a case about a request. Bodies are written without their model.
type asking struct {
	name, lane, traits string
	body               string
	headers            []string
	want               string // what the provider receives; empty: the client's very bytes
	dropped            string // the header of losses that the client gets
	refused            string // or how the message of its refusal begins
}

func runAskings(t *testing.T, cases []asking) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		var pairs [][2]string
		for _, c := range cases {
			pairs = append(pairs, [2]string{c.lane, c.traits})
		}
		s := startConforming(t, w, pairs...)
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) { s.asking(t, c) })
		}
	})
}

func (s conforming) asking(t *testing.T, c asking) {
	lane, _, _ := strings.Cut(c.lane, " ")
	route := conformingLanes[lane]
	head := `{"model":"` + s.models[c.lane+c.traits] + `",`
	if route.Upstream == site.MessagesPath && c.refused == "" { // the engine knows the public fields alone
		s.p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(wholeMessage)))
	}
	before := s.p.Count()
	answer := s.Ask(route.Path, head+c.body+"}", c.headers...)
	if c.refused != "" {
		assert.Equal(t, http.StatusBadRequest, answer.Status, answer.Body)
		assert.True(t, strings.HasPrefix(answer.Failure(t).Message, c.refused), answer.Body)
		assert.Equal(t, before, s.p.Count(), "nothing is sent")
		return
	}
	require.Equal(t, http.StatusOK, answer.Status, answer.Body)
	require.Equal(t, before+1, s.p.Count())
	assert.Equal(t, c.dropped, answer.Header.Get("X-Gateway-Dropped"))
	switch {
	case c.want == "":
		assert.Equal(t, head+c.body+"}", s.last())
	case route.IsBytes():
		assert.Equal(t, head+c.want+"}", s.last())
	default:
		assert.JSONEq(t, head+c.want+"}", s.last())
	}
}

// assertHolds demands that a JSON document holds what another one names:
// members of objects, and all items of arrays.
func assertHolds(t *testing.T, want, got string) {
	t.Helper()
	var wanted, given any
	require.NoError(t, decodeExactly(want, &wanted), want)
	require.NoError(t, decodeExactly(got, &given), got)
	if !holds(wanted, given) {
		assert.JSONEq(t, want, got)
	}
}

func decodeExactly(document string, dst any) error {
	d := json.NewDecoder(strings.NewReader(document))
	d.UseNumber()
	return d.Decode(dst)
}

func holds(want, got any) bool {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		for name, value := range want {
			ok = ok && holds(value, object[name])
		}
		return ok
	case []any:
		array, ok := got.([]any)
		ok = ok && len(array) == len(want)
		for i := range want {
			ok = ok && holds(want[i], array[i])
		}
		return ok
	}
	return want == got
}
