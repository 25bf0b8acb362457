package catalog

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog/modellist"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// ranked returns a catalog with ranked claims of model blocks and of providers with their
// patterns.
func ranked(t *testing.T, models []string, providers map[string][]aigateway.Pattern) (*Catalog, error) {
	t.Helper()
	r := new(Catalog)
	for _, name := range sortedNames(providers) {
		p := &Provider{Name: name, offer: offer{serves: providers[name]}}
		p.offer.whole = Target{Provider: p, Traits: new(trait.Traits)}
		r.Providers = append(r.Providers, p)
	}
	for _, name := range models {
		m, err := newModel(&ModelConfig{Name: name, Targets: []TargetConfig{{Provider: r.Providers[0].Name, Model: "by " + name}}}, lookups{provider: r.Lookup})
		require.NoError(t, err)
		r.models = append(r.models, m)
	}
	return r, r.rank()
}

func sortedNames(providers map[string][]aigateway.Pattern) (names []string) {
	for _, name := range []string{"a", "b", "c"} {
		if _, there := providers[name]; there {
			names = append(names, name)
		}
	}
	return names
}

// ownerOf returns the owner of the claim for a name: a model block or a provider.
func ownerOf(r *Catalog, name string) string {
	switch m := r.Model(name); {
	case m == nil:
		return ""
	case m.Targets[0].Model != "":
		return m.Targets[0].Model
	default:
		return m.Targets[0].Provider.Name
	}
}

func TestNamesLeadToTheTargetOfHighestRank(t *testing.T) {
	r, err := ranked(t,
		[]string{"gpt-*", "gpt-5", "gpt-5-*", "*-mini", "x*", "x"},
		map[string][]aigateway.Pattern{"a": {"claude-*", "gpt-4", "claude-opus"}, "b": {"claude-opus-*", "*-large"}, "c": nil})
	require.NoError(t, err)
	for name, want := range map[string]string{
		"gpt-5":          "by gpt-5",
		"gpt-5-nano":     "by gpt-5-*",
		"gpt-5-mini":     "by gpt-5-*", // the longer literal prefix
		"gpt-5.1":        "by gpt-*",
		"gpt-4":          "by gpt-*", // model blocks come before providers' models
		"x":              "by x",     // an exact name, although a pattern has as long a prefix
		"xy":             "by x*",
		"claude-mini":    "by *-mini",
		"claude-opus":    "a", // an exact name comes before patterns
		"claude-opus-4":  "b", // a longer prefix before a shorter
		"claude-sonnet":  "a",
		"claude-x-large": "a",
		"mistral-large":  "b",
		"anything":       "c",
		"":               "c",
		"GPT-5":          "by gpt-5",
		"Gpt-5-Nano":     "by gpt-5-*",
		" gpt-5 ":        "by gpt-5",
		"GPT-4":          "by gpt-*",
		"Claude-Opus":    "a",
		"CLAUDE-OPUS-4":  "b",
	} {
		assert.Equal(t, want, ownerOf(r, name), "%q", name)
	}
}

// A block bounds a model with its limits, conditions and prices. Clients left it by another spelling, which a
// broader pattern took, and which services accept. Of the claims with the highest rank, the one with the letters
// of the name has precedence.
func TestAnotherSpellingDoesNotLeaveTheBlockOfAModel(t *testing.T) {
	r, err := ranked(t, []string{"gpt-dear", "Cheap", "cheap", "X-*", "x-*", "x-9"}, map[string][]aigateway.Pattern{"a": {"GPT-Dear", "GPT-*", "Only"}, "b": nil})
	require.NoError(t, err)
	for name, want := range map[string]string{
		"gpt-dear": "by gpt-dear", "GPT-DEAR": "by gpt-dear", "GPT-Dear": "by gpt-dear", " gpt-dear": "by gpt-dear",
		"cheap": "by cheap", "Cheap": "by Cheap", "CHEAP": "by Cheap",
		"x-1": "by x-*", "X-1": "by X-*", "X-9": "by x-9", "gpt-other": "a", "ONLY": "a", "other": "b",
	} {
		assert.Equal(t, want, ownerOf(r, name), "%q", name)
	}
}

func TestWithoutACatchAllOtherNamesLeadNowhere(t *testing.T) {
	r, err := ranked(t, nil, map[string][]aigateway.Pattern{"a": {"claude-*"}})
	require.NoError(t, err)
	assert.Equal(t, "a", ownerOf(r, "claude-x"))
	assert.Equal(t, "a", ownerOf(r, "Claude-X"))
	assert.Nil(t, r.Model("gpt-5"))
}

func TestEqualRankOnTheSameNamesIsAnError(t *testing.T) {
	for _, test := range []struct {
		name      string
		models    []string
		providers map[string][]aigateway.Pattern
		want      string
	}{
		{
			"two providers without models", nil, map[string][]aigateway.Pattern{"a": nil, "b": nil},
			"provider 'a' without models and provider 'b' without models claim the same models with equal rank: " +
				"give one of them 'models', or 'models off' (in JSON disable_models) where model blocks alone lead to it",
		}, {
			"two providers with the same name", nil, map[string][]aigateway.Pattern{"a": {"m"}, "b": {"m"}},
			"provider 'a' (models m) and provider 'b' (models m) claim the same models with equal rank",
		}, {
			"two patterns with one prefix", nil, map[string][]aigateway.Pattern{"a": {"m-*-x"}, "b": {"m-y*"}, "c": {"m-*"}},
			"provider 'a' (models m-*-x) and provider 'c' (models m-*) claim the same models with equal rank",
		}, {
			"a catch-all that is written out", nil, map[string][]aigateway.Pattern{"a": {"*"}, "b": {"*-mini"}},
			"provider 'a' (models *) and provider 'b' (models *-mini) claim the same models with equal rank",
		}, {
			"two model blocks", []string{"*-a", "b*", "*b"}, map[string][]aigateway.Pattern{"a": nil},
			"",
		}, {
			"two model blocks that meet", []string{"*-a", "*b*"}, map[string][]aigateway.Pattern{"a": nil},
			"model '*-a' and model '*b*' claim the same models with equal rank",
		}, {
			"another class", []string{"m"}, map[string][]aigateway.Pattern{"a": {"m"}, "b": nil}, "",
		}, {
			"a catch-all and one that is written out", nil, map[string][]aigateway.Pattern{"a": {"*"}, "b": nil}, "",
		}, {
			"patterns that never meet", nil, map[string][]aigateway.Pattern{"a": {"m-*-x"}, "b": {"m-*-y"}}, "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ranked(t, test.models, test.providers)
			if test.want == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, test.want)
			}
		})
	}
}

// Two providers for model blocks only could not be configured together, because both
// claimed every other name.
func TestAProviderWithModelsOffIsLedToByModelBlocksAlone(t *testing.T) {
	r, err := ranked(t, []string{"smart"}, map[string][]aigateway.Pattern{"a": nil})
	require.NoError(t, err)
	r.Providers = append(r.Providers, &Provider{Name: "b"})
	require.Error(t, r.rank())
	for _, p := range r.Providers {
		require.NoError(t, p.offer.setModels(&ProviderConfig{DisableModels: true}))
		p.offer.known = modellist.Named([]string{"known"})
	}
	require.NoError(t, r.rank())
	assert.Equal(t, "by smart", ownerOf(r, "smart"))
	assert.Nil(t, r.Model("known"))
	assert.Equal(t, []string{"smart"}, r.Names())
}

func TestModelsBesideDisableModelsAreAnError(t *testing.T) {
	err := new(offer).setModels(&ProviderConfig{Models: []string{"m"}, DisableModels: true})
	assert.EqualError(t, err, "models: there can be none beside disable_models")
	err = new(offer).setModels(&ProviderConfig{ModelList: ModelListAuto, DisableModels: true})
	assert.EqualError(t, err, "model_list: nothing is listed beside disable_models")
}

func TestAskingForModelsIsTheDefaultWhereAServiceDocumentsIt(t *testing.T) {
	lists := aigateway.Defaults{ListsModels: true}
	for _, test := range []struct {
		config   ProviderConfig
		defaults aigateway.Defaults
		want     bool
	}{
		{ProviderConfig{}, lists, true},
		{ProviderConfig{Models: []string{"claude-*"}}, lists, true},
		{ProviderConfig{ModelList: ModelListStatic}, lists, false},
		{ProviderConfig{DisableModels: true}, lists, false},
		{ProviderConfig{}, aigateway.Defaults{}, false},
		{ProviderConfig{ModelList: ModelListAuto}, aigateway.Defaults{}, true},
	} {
		assert.Equal(t, test.want, test.config.asksForModels(test.defaults), "%+v", test.config)
	}
	err := (&ProviderConfig{ModelList: "on"}).Check(aigateway.Defaults{BaseURL: "http://p"}, false)
	assert.EqualError(t, err, "model_list must be 'auto' or 'static'")
}

func TestNamesListsWhatAClientCanAskForByName(t *testing.T) {
	r, err := ranked(t, []string{"smart", "gpt-*", "known-2"}, map[string][]aigateway.Pattern{"a": {"claude-opus", "claude-*"}, "b": nil})
	require.NoError(t, err)
	r.find("b").offer.known = modellist.Named([]string{"known-1", "known-2", "claude-known", "gpt-known"})
	assert.Equal(t, []string{"claude-opus", "known-1", "known-2", "smart"}, r.Names(),
		"exact names, and names a preset is known for unless they lead elsewhere; sorted, each once")
}

// An alias has the sizes of the model behind it, but not its name or its date.
func TestANameIsDescribedAsItsProviderDescribesTheModel(t *testing.T) {
	r, err := ranked(t, nil, map[string][]aigateway.Pattern{"a": {"claude-*"}})
	require.NoError(t, err)
	alias, err := newModel(&ModelConfig{Name: "smart", Targets: []TargetConfig{{Provider: "a", Model: "claude-opus"}}}, lookups{provider: r.Lookup})
	require.NoError(t, err)
	r.models = append(r.models, alias)
	require.NoError(t, r.rank())
	opus := modelcard.Card{ID: "claude-opus", DisplayName: "Opus", Created: 1, OwnedBy: "a", ContextTokens: 2, OutputTokens: 3}
	r.find("a").offer.known = []modelcard.Card{opus}
	assert.Equal(t, opus, r.Describe("claude-opus"))
	assert.Equal(t, modelcard.Card{ID: "smart", ContextTokens: 2, OutputTokens: 3}, r.Describe("smart"))
	assert.Equal(t, modelcard.Card{ID: "claude-other"}, r.Describe("claude-other"))
}

// A thousand models took 25 s to load: each pair of exact names was compared, after each
// model of the Caddyfile. A request compared its name with all of them.
func TestManyModelsAreFoundByName(t *testing.T) {
	var names []string
	for i := range 20_000 {
		names = append(names, fmt.Sprintf("m%d", i))
	}
	r, err := ranked(t, append(names, "m1*"), map[string][]aigateway.Pattern{"a": {"m7", "x", "m*"}})
	require.NoError(t, err)
	assert.Equal(t, "by m777", ownerOf(r, "m777"))
	assert.Equal(t, "by m7", ownerOf(r, "m7"), "a block has precedence over the models of a provider")
	assert.Equal(t, "by m1*", ownerOf(r, "m1x"), "a pattern of a block, too")
	assert.Equal(t, "a", ownerOf(r, "x"))
	assert.Equal(t, "a", ownerOf(r, "m0x"))
	assert.Len(t, r.patterns, 2)

	_, err = ranked(t, append(names, "m5"), map[string][]aigateway.Pattern{"a": nil})
	assert.ErrorContains(t, err, "model 'm5' and model 'm5' claim the same models")
}
