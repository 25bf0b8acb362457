package modeltable

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Names with capital letters and "*" were found only in the letters of the table.
func TestCapitalLettersDoNotMatter(t *testing.T) {
	var x Index[string]
	for _, name := range []string{"Qwen/Qwen3*", "Qwen/Qwen3-Coder*", "GLM-5", "kimi-k2*"} {
		x.Set("p", name, name)
	}
	for model, want := range map[string][2]string{
		"Qwen/Qwen3-8B": {"Qwen/Qwen3*", "-8B"}, "qwen/qwen3-8b": {"Qwen/Qwen3*", "-8b"}, "QWEN/QWEN3-CODER-30B": {"Qwen/Qwen3-Coder*", "-30B"},
		"glm-5": {"GLM-5", ""}, "GLM-5": {"GLM-5", ""}, "Kimi-K2-0905": {"kimi-k2*", "-0905"}, "qwen": {"", ""}, "glm-5.1": {"", ""},
	} {
		entry, version, ok := x.Find("p", model)
		assert.Equal(t, want, [2]string{entry, version}, model)
		assert.Equal(t, want[0] != "", ok, model)
	}
}

// A name with "*" in the letters of the model came before a longer one in other letters: at a service
// that does not distinguish them, gpt-5-PRO had the price of gpt-5*, a thirtieth of its own.
func TestCapitalLettersDoNotLeadToAShorterName(t *testing.T) {
	var x Index[string]
	for _, name := range []string{"gpt-5*", "gpt-5-pro", "gpt-5-Nano", "gpt-5-chat*", "Qwen*", "qwen*", "*"} {
		x.Set("p", name, name)
	}
	for model, want := range map[string][2]string{
		"gpt-5-pro": {"gpt-5-pro", ""}, "gpt-5-PRO": {"gpt-5-pro", ""}, "GPT-5-Pro": {"gpt-5-pro", ""},
		"gpt-5-nano": {"gpt-5-Nano", ""}, "gpt-5-NANO": {"gpt-5-Nano", ""}, "gpt-5-CHAT-latest": {"gpt-5-chat*", "-latest"},
		"gpt-5-mini": {"gpt-5*", "-mini"}, "Qwen3": {"Qwen*", "3"}, "qwen3": {"qwen*", "3"}, "o3": {"*", "o3"},
	} {
		entry, version, ok := x.Find("p", model)
		assert.True(t, ok, model)
		assert.Equal(t, want, [2]string{entry, version}, model)
	}
}

// A name with dots where the table has hyphens, behind a vendor, or with a version of no row was that of
// no model, which got what its model refuses. A word that may be part of another name still makes it one.
func TestANameInAnotherNotation(t *testing.T) {
	var x Index[string]
	for _, name := range []string{"claude-opus-4-7", "claude-opus-4-7-20*", "claude-sonnet-4@*", "gpt-5.1", "gpt-4", "openai/gpt-5.1", "gemini-3.8-flash", "kimi-k2.6"} {
		x.Set("p", name, name)
	}
	for model, want := range map[string]string{
		"claude-opus-4.7": "claude-opus-4-7", "anthropic/claude-opus-4-7-latest": "claude-opus-4-7", "Claude_Opus_4.7": "claude-opus-4-7",
		"claude-sonnet-4:20250514": "claude-sonnet-4@*", "gpt-5-1": "gpt-5.1", "openai/gpt-5-1": "openai/gpt-5.1", "azure/openai/gpt-5.1": "openai/gpt-5.1",
		"gemini-3.8-flash-preview-11-2026": "gemini-3.8-flash", "kimi-k2.6-preview": "kimi-k2.6", "gpt-4-0613": "gpt-4",
		"gpt-4.1": "", "gpt-4-1": "", "claude-opus-4-9": "", "claude-opus-4-7-fast": "", "gpt-5.1-for-sales": "", "my-gpt-5.1": "", "gpt-5.1-mini": "", "claude-opus-4-7-2": "", "": "", "/": "", "-": "",
	} {
		entry, ok := x.FindVariant("p", model)
		assert.Equal(t, want, entry, model)
		assert.Equal(t, want != "", ok, model)
	}
}
