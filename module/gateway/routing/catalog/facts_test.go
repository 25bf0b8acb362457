package catalog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog/tables"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/filewatch"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// listedAs returns a provider whose models are in the tables under a name.
func listedAs(t *testing.T, name string, known *tables.Tables, traits layers) *Provider {
	t.Helper()
	formats, err := formatsOf([]translate.Format{translate.Responses, translate.Chat, translate.Completions, translate.Messages})
	require.NoError(t, err)
	p := &Provider{Name: "p", Formats: formats, traits: traits}
	p.listed, err = newListed(&ProviderConfig{ListedAs: name}, aigateway.Defaults{Listing: aigateway.Listing{
		Plain: func(model string) string { return model[strings.LastIndexByte(model, '/')+1:] },
		Base:  func(model string) string { return strings.TrimPrefix(model, "eu.") },
	}}, known)
	require.NoError(t, err)
	p.offer.spoken = []modelFormats{{"*", formatsAt(formats)}}
	return p
}

// A name decides what is sent: temperature once went to models that refuse it, unless the operator
// knew of it. What the operator writes takes precedence.
func TestFactsOfAModelAreTraits(t *testing.T) {
	p := listedAs(t, "anthropic", nil, layers{
		preset:     map[string]string{"thinking_style": "adaptive", "max_output_tokens": "7"},
		models:     []aigateway.ModelTraits{{Pattern: "claude-*", Traits: map[string]string{"default_max_tokens": "32000", "max_output_tokens": "8"}}},
		configured: map[string]string{"tool_call_ids": "short"},
	})
	whole, err := p.target("")
	require.NoError(t, err)
	traits := whole.TraitsOf("claude-opus-4-7")
	assert.Equal(t, trait.SamplingNone, traits.Sampling)
	assert.EqualValues(t, 128000, traits.MaxOutputTokens)
	assert.EqualValues(t, 32000, traits.DefaultMaxTokens)
	assert.Equal(t, trait.CallIDsShort, traits.CallIDs)
	assert.Same(t, traits, whole.TraitsOf("claude-opus-4-7"), "once")
	assert.Equal(t, trait.SamplingNone, whole.TraitsOf("arn:aws:x/eu.claude-opus-4-7").Sampling, "by the names in the tables")
	assert.EqualValues(t, 8, whole.TraitsOf("claude-unheard-of").MaxOutputTokens)
	assert.EqualValues(t, 7, whole.TraitsOf("unheard-of").MaxOutputTokens)

	own, err := p.target("claude-opus-4-7", map[string]string{"sampling": "all"}, map[string]string{"max_output_tokens": "100"})
	require.NoError(t, err)
	assert.Equal(t, trait.SamplingAll, own.TraitsOf("alias").Sampling)
	assert.EqualValues(t, 100, own.TraitsOf("alias").MaxOutputTokens)
}

// Clients choose the names: what is kept of them is bounded. Names without traits of their own were
// searched in all tables at each use, several times in a request, and the names behind the bound were
// merged again for each request.
func TestTraitsOfNamesAreBounded(t *testing.T) {
	p := listedAs(t, "anthropic", nil, layers{})
	whole, err := p.target("")
	require.NoError(t, err)
	for i := range mostKnown + 10 {
		assert.Equal(t, trait.SamplingNone, whole.TraitsOf(fmt.Sprintf("claude-opus-4-7-20%d", i)).Sampling)
		whole.TraitsOf(fmt.Sprintf("unheard-of-%d", i))
		require.LessOrEqual(t, len(whole.byModel.known.Load().byName), mostKnown)
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() { whole.TraitsOf("claude-opus-4-7-99999"); whole.TraitsOf("unheard-of") }))
	for _, name := range []string{"claude-opus-4-7-99999", "unheard-of"} {
		_, kept := whole.byModel.known.Load().byName[name]
		assert.True(t, kept, name)
	}
}

// Rows with the name of a provider of one's own once had no effect if it had a preset: only those
// with the name of the preset applied, to all of its providers. The tables that are compiled in have
// no such names, so that a provider that is called as another service has no facts of that.
func TestRowsOfAFileApplyToTheProviderThatTheyName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.csv")
	require.NoError(t, os.WriteFile(path, []byte("provider,models,sampling\nhouse,house-7b o3,one\nanthropic,house-8b,none"), 0o600))
	known, err := tables.Open(t.Context(), path, zap.NewNop())
	require.NoError(t, err)
	named := func(name string) *Provider {
		p := &Provider{Name: name}
		p.listed, err = newListed(&ProviderConfig{Name: name, Upstream: aigateway.Upstream{PresetRaw: []byte(`{"preset":"anthropic"}`)}}, aigateway.Defaults{}, known)
		require.NoError(t, err)
		return p
	}
	sampling := func(provider, model string) string { return named(provider).Facts(model).Value("sampling") }
	assert.Equal(t, "one", sampling("house", "house-7b"))
	assert.Equal(t, "none", sampling("house", "house-8b"), "of its service")
	assert.Empty(t, sampling("other", "house-7b"))
	assert.Nil(t, named("openai").Facts("o3"))
	assert.True(t, named("house").Listed())
}

// A new model of a service needed a release of the gateway.
func TestAFileChangesTraitsWithoutAReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.csv")
	write := func(row string) {
		require.NoError(t, os.WriteFile(path, []byte("provider,models,sampling,endpoint\n"+row), 0o600))
	}
	write("openai,gpt-9,none,responses")
	synctest.Test(t, func(t *testing.T) {
		known, err := tables.Open(t.Context(), path, zap.NewNop())
		require.NoError(t, err)
		p := listedAs(t, "openai", known, layers{})
		target, err := p.target("gpt-9")
		require.NoError(t, err)
		assert.Equal(t, trait.SamplingNone, target.TraitsOf("alias").Sampling)
		assert.Equal(t, translate.Responses, p.FormatsOf("gpt-9")[0].Name)
		assert.Len(t, p.FormatsOf("gpt-9"), 2, "messages is none of these endpoints")
		write("openai,gpt-9,one,chat responses")
		time.Sleep(2*filewatch.Interval + 1) // by the fake clock of synctest
		synctest.Wait()
		assert.Equal(t, trait.SamplingOne, target.TraitsOf("alias").Sampling)
		assert.Len(t, p.FormatsOf("gpt-9"), 3)
		assert.Len(t, p.FormatsOf("gpt-8"), 4)
	})
}
