package request

import (
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// vendor is what requests depend on that only the name of a model states: the service refuses
// what the vendor's models do not have.
type vendor struct {
	namePart string        // the part of the model's name
	topK     []string      // the path of top_k in the additional fields, nil for none
	stops    int           // the largest number of stop texts
	statuses bool          // results have a status
	strict   bool          // arguments can be made to follow the schema of the tool
	efforts  trait.Efforts // the words for how much the model thinks
	signs    bool          // the models sign their reasoning, and take back what they have signed
	shortIDs bool          // ids of calls have nine letters and digits
}

// vendors are the vendors of models. Later rows are for names that no earlier one fits.
var vendors = []vendor{
	{namePart: "anthropic.", efforts: claudeEfforts, signs: true, topK: []string{"top_k"}, stops: 4, statuses: true, strict: true},
	{namePart: "amazon.nova-2", topK: []string{"inferenceConfig", "topK"}, stops: 4, statuses: true, efforts: novaEfforts},
	{namePart: "amazon.nova", topK: []string{"inferenceConfig", "topK"}, stops: 4, statuses: true},
	{namePart: "openai.", strict: true, efforts: openEfforts},
	{namePart: "mistral.", topK: []string{"top_k"}, stops: 4, strict: true, shortIDs: true},
	{namePart: "cohere.", topK: []string{"k"}, stops: 4},
	{namePart: "deepseek.", stops: 4, strict: true},
	{namePart: "ai21.", stops: 1},
	{namePart: "qwen.", strict: true},
	{},
}

const (
	// claudeEfforts are the words of effort.
	claudeEfforts = trait.EffortAll &^ (trait.EffortNone | trait.EffortMinimal)
	// openEfforts are the words of reasoning_effort.
	openEfforts = trait.EffortLow | trait.EffortMedium | trait.EffortHigh
	// novaEfforts are the words of maxReasoningEffort but for the highest, with which the service
	// refuses a bound of the answer and a temperature.
	novaEfforts = trait.EffortLow | trait.EffortMedium
)

// vendorOf returns the vendor of the model with a name: its id, that of an inference profile, or
// an ARN. Some names do not show the vendor.
func vendorOf(name string) *vendor {
	name = strings.ToLower(name)
	return &vendors[slices.IndexFunc(vendors, func(v vendor) bool { return strings.Contains(name, v.namePart) })]
}

// word returns the word for an effort: of those that the trait names, or else of those of the
// vendor, the nearest one. It returns "" if there is none.
func (v *vendor) word(effort core.Concept, traits *trait.Traits) string {
	efforts := traits.EffortsOr(v.efforts)
	if v.isNova2() {
		efforts &= novaEfforts
	}
	return efforts.Nearest(core.EffortOf(effort)).String()
}

// isNova2 reports whether the models are those of Amazon that think.
func (v *vendor) isNova2() bool { return v.namePart == "amazon.nova-2" }

// isClaude reports whether the models are those of Anthropic.
func (v *vendor) isClaude() bool { return v.namePart == "anthropic." }
