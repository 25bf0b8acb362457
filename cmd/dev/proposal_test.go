package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog/tables"
)

// A public list becomes a file that a person reads and that the gateway can read, never the table.
func TestAPublicListBecomesAProposal(t *testing.T) {
	today := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	for name, list := range map[string]string{
		"models.dev": `{"anthropic":{"models":{
			"claude-opus-4-7":{"cost":{"input":5,"output":25,"cache_read":0.5},"limit":{"context":1000000,"output":128000}},
			"claude-opus-4-6":{"cost":{"input":6,"output":25},"limit":{"context":1000000,"output":128000}},
			"claude-opus-9":{"cost":{"input":1,"output":2},"limit":{"context":500,"output":100}}}},
			"unheard-of":{"models":{"m":{"cost":{"input":1,"output":1}}}}}`,
		"litellm": `{"sample_spec":{"litellm_provider":"one of","max_output_tokens":"if any","input_cost_per_token":"x"},
			"claude-opus-4-7":{"litellm_provider":"anthropic","input_cost_per_token":5e-06,"output_cost_per_token":2.5e-05,"max_input_tokens":1000000},
			"claude-opus-4-6":{"litellm_provider":"anthropic","input_cost_per_token":6e-06,"output_cost_per_token":2.5e-05},
			"claude-opus-9":{"litellm_provider":"anthropic","input_cost_per_token":1e-06,"output_cost_per_token":2e-06,"max_output_tokens":100}}`,
	} {
		path := filepath.Join(t.TempDir(), name+".json")
		require.NoError(t, os.WriteFile(path, []byte(list), 0o600))
		var out strings.Builder
		require.NoError(t, propose(path, &out, today), name)
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		require.Len(t, lines, 3, out.String())
		assert.Contains(t, lines[1], `claude-opus-4-6,`)
		assert.Contains(t, lines[1], `"the table has input 5, output 25"`)
		assert.Contains(t, lines[2], "anthropic,claude-opus-9,")
		assert.Contains(t, lines[2], "unknown model")
		content, err := tables.Read(strings.NewReader(out.String()))
		require.NoError(t, err, "the proposal is a catalog file")
		assert.EqualValues(t, 100, content.Models.Find("anthropic", "claude-opus-9").Longest())
		assert.Equal(t, "1", content.Prices.Find("anthropic", "claude-opus-9", today).Base.Fresh.PerMillion())
	}
	path := filepath.Join(t.TempDir(), "other.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"a":1}`), 0o600))
	assert.ErrorIs(t, propose(path, new(strings.Builder), today), errForm)
}
