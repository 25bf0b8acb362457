package request

import (
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
)

// vendor is what requests depend on that only the name of a model states: the service refuses
// what the vendor's models do not have.
type vendor struct {
	in       string   // the part of the model's name
	topK     []string // the path of top_k in the additional fields, nil for none
	stops    int      // the largest number of stop texts
	statuses bool     // results have a status
	strict   bool     // arguments can be made to follow the schema of the tool
	efforts  map[core.Concept]string
	signs    bool // the models sign their reasoning, and take back what they have signed
	shortIDs bool // ids of calls have nine letters and digits
}

// vendors are the vendors of models. Later rows are for names that no earlier one fits.
var vendors = []vendor{
	{in: "anthropic.", signs: true, topK: []string{"top_k"}, stops: core.AllStops, statuses: true, strict: true},
	{in: "amazon.nova-2", topK: []string{"inferenceConfig", "topK"}, stops: 4, statuses: true, efforts: novaEfforts},
	{in: "amazon.nova", topK: []string{"inferenceConfig", "topK"}, stops: 4, statuses: true},
	{in: "openai.", strict: true, efforts: openEfforts},
	{in: "mistral.", topK: []string{"top_k"}, stops: 10, strict: true, shortIDs: true},
	{in: "cohere.", topK: []string{"k"}, stops: 4},
	{in: "deepseek.", stops: 10, strict: true},
	{in: "ai21.", stops: 1},
	{in: "qwen.", strict: true},
	{},
}

// openEfforts are the words of reasoning_effort.
var openEfforts = map[core.Concept]string{
	core.EffortMinimal: low, core.EffortLow: low, core.EffortMedium: medium, core.EffortHigh: high, core.EffortXHigh: high, core.EffortMax: high,
}

// novaEfforts are the words of maxReasoningEffort. With the highest one, the service refuses a
// bound of the answer and a temperature.
var novaEfforts = map[core.Concept]string{
	core.EffortMinimal: low, core.EffortLow: low, core.EffortMedium: medium, core.EffortHigh: medium, core.EffortXHigh: medium, core.EffortMax: medium,
}

const (
	low    = "low"
	medium = "medium"
	high   = "high"
)

// vendorOf returns the vendor of the model with a name: its id, that of an inference profile, or
// an ARN. Some names do not show the vendor.
func vendorOf(name string) *vendor {
	name = strings.ToLower(name)
	return &vendors[slices.IndexFunc(vendors, func(v vendor) bool { return strings.Contains(name, v.in) })]
}

// isClaude reports whether the models are those of Anthropic.
func (v *vendor) isClaude() bool { return v.in == "anthropic." }
