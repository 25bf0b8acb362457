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
