package pairs_test

import (
	"cmp"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// sampled are the samples of each client format, and a request without any of its
// fields.
var sampled = map[translate.Format]struct {
	samples samples
	bare    string
}{
	translate.Messages:    {messagesSamples, conversation(hi)},
	translate.Chat:        {samplesOfChat, wanting().body},
	translate.Completions: {completionsSamples, completing().body},
	translate.Responses:   {responsesSamples, posing().body},
	translate.Gemini:      {geminiSamples, generating().body},
}

// eachRow runs a test for every row of every table.
func eachRow(t *testing.T, test func(t *testing.T, w way, row pairs.Field)) {
	for _, from := range known {
		for _, to := range spoken {
			rows := pairs.Fields(from, to)
			assert.Equal(t, pairs.CanTranslate(from, to), rows != nil, "%s to %s has its table", from, to)
			for _, row := range rows {
				t.Run(string(from)+" to "+string(to)+"/"+row.Name, func(t *testing.T) { test(t, way{from, to}, row) })
			}
		}
	}
}

// happened is what became of the field of a row in a request.
func happened(t *testing.T, w way, row pairs.Field, s sample, traits string) pairs.Fate {
	t.Helper()
	info := &core.RequestInfo{Model: "m1", Upstream: cmp.Or(s.model, upstreamName(w.target)), Traits: traitsOf(t, s.traits+";"+traits), Seals: sealer}
	render := func(body string) (string, core.Rendered, *fault.Fault) {
		_, fault := formats.Of(w.source).Requests.Inspect([]byte(body), translate.Generate)
		require.Nil(t, fault, body)
		out, r, fault := pairs.Render(nil, w.source, w.target, []byte(body), info)
		r.Answer.Settings = nil // what is repeated is not carried over by that
		return string(out), r, fault
	}
	out, r, fault := render(s.body)
	if fault != nil {
		assert.Equal(t, "unsupported_for_upstream", fault.Code, fault.Message)
		assert.Contains(t, []string{inGeneral(row.Path), inGeneral(row.Outer), s.needed}, inGeneral(fault.Param))
		assert.Equal(t, deciding(row, info.Traits), fault.Log.Trait, "the trait that decides, for the log")
		return pairs.Refused
	}
	if !strings.HasPrefix(traits, "extensions ") { // what these let through is in no format
		requireRight(t, w.target, []byte(out))
	}
	for _, loss := range r.Losses {
		assert.NotRegexp(t, index, loss.Path, "an index of a loss is general")
		requireBoundedName(t, w.source, loss)
	}
	path := row.Path
	if path == row.Name {
		path = regexp.MustCompile(`\*$`).ReplaceAllString(path, "unheard_of")
	}
	for _, of := range []string{row.Outer, path, s.needed} { // of the larger field, all is lost
		i := slices.IndexFunc(r.Losses, func(loss translate.Loss) bool { return of != "" && (loss.Path == of || inGeneral(loss.Path) == of) })
		if i >= 0 {
			return map[translate.LossClass]pairs.Fate{translate.Hint: pairs.Hinted, translate.Shaping: pairs.Shaped}[r.Losses[i].Class]
		}
	}
	bare, rb, fault := render(sampled[w.source].bare)
	require.Nil(t, fault)
	assert.True(t, s.silent || out != bare || !reflect.DeepEqual(r.Answer, rb.Answer) || numberOfCalls(r) != numberOfCalls(rb), "dropped in silence: %s", out)
	return pairs.Kept
}

// deciding is the trait by which a field is refused, or else the first by which it would not be,
// "" where none is.
func deciding(row pairs.Field, traits *trait.Traits) string {
	for _, rule := range row.Rules {
		if rule.Holds(traits) && rule.Fate == pairs.Refused {
			name, _, _ := strings.Cut(rule.Trait, " ")
			return name
		}
	}
	for _, rule := range row.Rules {
		if (rule.Fate == pairs.Refused) != (row.Fate == pairs.Refused) {
			name, _, _ := strings.Cut(rule.Trait, " ")
			return name
		}
	}
	return ""
}

var index = regexp.MustCompile(`\.\d+|\[\d+\]`)

// inGeneral returns a path with "*" for its indexes, without the parts that a fault adds
// to the path of the object.
func inGeneral(path string) string {
	return strings.TrimSuffix(index.ReplaceAllStringFunc(path, func(match string) string {
		return map[byte]string{'.': ".*", '[': "[*]"}[match[0]]
	}), ".type")
}

// Every row has the fate of the field in the conversion, also under each trait that it
// names.
func TestTheTablesOfFieldsMatchTheConversions(t *testing.T) {
	eachRow(t, func(t *testing.T, w way, row pairs.Field) {
		s, there := sampled[w.source].samples[row.Name]
		require.True(t, there, "sampled has no request with this field")
		standard := traitsOf(t, s.traits)
		assert.Equal(t, row.Under(standard), happened(t, w, row, s, ""), "by default")
		for _, rule := range row.Rules {
			traits := traitsOf(t, s.traits+";"+rule.Trait)
			assert.Equal(t, rule.Fate, row.Under(traits), rule.Trait)
			assert.Equal(t, rule.Fate, happened(t, w, row, s, rule.Trait), rule.Trait)
		}
	})
}
