// Package mistral contains what all services with the models of Mistral have in common.
package mistral

import "github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"

// Traits are the traits of the models, whose names are those of winds or mixtures: mistral,
// codestral, Ministral-3B, mixtral, pixtral. Their tokenizers and templates refuse ids of calls
// that are not nine letters and digits, and the user directly behind the result of a call, whoever
// runs them.
var Traits = []aigateway.ModelTraits{{Pattern: "*stral*", Traits: traits}, {Pattern: "*xtral*", Traits: traits}}

var traits = map[string]string{"tool_call_ids": "nine", "after_results": "assistant"}
