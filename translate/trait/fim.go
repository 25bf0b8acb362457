package trait

import (
	"maps"
	"slices"
	"strings"
)

// fimTemplates maps the names that a configuration may use to the templates with
// which well-known code models were trained to fill in the middle.
var fimTemplates = map[string]string{
	"codellama":  "<PRE> {prefix} <SUF>{suffix} <MID>",
	"deepseek":   "<｜fim▁begin｜>{prefix}<｜fim▁hole｜>{suffix}<｜fim▁end｜>",
	"qwen":       "<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>",
	"starcoder2": "<fim_prefix>{prefix}<fim_suffix>{suffix}<fim_middle>",
}

// wantFIM describes the accepted values of fim_template, for error messages.
var wantFIM = "'" + strings.Join(slices.Sorted(maps.Keys(fimTemplates)), "', '") + "' or a text that holds {prefix} and {suffix} once each"

func setFIM(t *Traits, value string) bool {
	if named, ok := fimTemplates[value]; ok {
		value = named
	}
	t.FIMTemplate = value
	return value == "" || strings.Count(value, "{prefix}") == 1 && strings.Count(value, "{suffix}") == 1
}
