package trait

import (
	"maps"
	"slices"
	"strings"
)

// fimTemplates are the templates in which well-known code models were trained to
// fill in the middle, by the names that stand for them in a configuration.
var fimTemplates = map[string]string{
	"codellama":  "<PRE> {prefix} <SUF>{suffix} <MID>",
	"deepseek":   "<｜fim▁begin｜>{prefix}<｜fim▁hole｜>{suffix}<｜fim▁end｜>",
	"qwen":       "<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>",
	"starcoder2": "<fim_prefix>{prefix}<fim_suffix>{suffix}<fim_middle>",
}

// wantFIM is what a value of fim_template may be.
var wantFIM = "'" + strings.Join(slices.Sorted(maps.Keys(fimTemplates)), "', '") + "' or a text that holds {prefix} and {suffix} once each"

func setFIM(t *Traits, value string) bool {
	if named, ok := fimTemplates[value]; ok {
		value = named
	}
	t.FIMTemplate = value
	return value == "" || strings.Count(value, "{prefix}") == 1 && strings.Count(value, "{suffix}") == 1
}
