package core

import (
	"cmp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// The rules below are shared by the tables of several writers.

// OneCall is the rule of providers that never get more than one call for a request.
var OneCall = RefuseIf("max_fan_out 1", func(traits *trait.Traits) bool { return traits.FanOut() == 1 })

// WithoutTools is the rule of providers whose operator leaves out tools that the
// format does not have.
var WithoutTools = DropIf("unsupported_tools drop", func(traits *trait.Traits) bool { return traits.DropUnsupportedTools })

// UnseenImages are the rules of models that see no images: they get a note in place of each, or
// are not asked.
var UnseenImages = []Rule{
	ChangeIf("images drop", func(traits *trait.Traits) bool { return traits.Images == trait.ImagesDrop }),
	RefuseIf("images false", func(traits *trait.Traits) bool { return traits.Images == trait.ImagesRefuse }),
}

// NoAddresses is the rule of providers that fetch no images.
var NoAddresses = LoseIf("image_url base64", func(traits *trait.Traits) bool { return traits.ImagesBase64Only })

// FillInWords is the rule of providers that get an instruction to fill in a text.
var FillInWords = ChangeIf("suffix instruct", func(traits *trait.Traits) bool { return traits.InstructSuffix })

// Breakpoints is the rule of providers that accept breakpoints of their cache in other
// formats than messages.
var Breakpoints = KeepIf("cache_breakpoints true", func(traits *trait.Traits) bool { return traits.CacheBreakpoints })

// Videos is the rule of providers whose models see videos.
var Videos = KeepIf("video true", func(traits *trait.Traits) bool { return traits.Video })

// SystemAsUser is the rule of models without system texts, which become texts of the user.
var SystemAsUser = ChangeIf("system_role user", (*trait.Traits).SystemIsUser)

// FilesDropped is the rule of providers that get a note in place of a file.
var FilesDropped = ChangeIf("files drop", func(traits *trait.Traits) bool { return traits.Files == trait.FilesDrop })

// RefusedObject is the rule of providers that get no instruction to answer with a JSON
// object.
var RefusedObject = RefuseIf("json_object refuse", func(traits *trait.Traits) bool { return traits.RefuseJSONObject })

// SchemaInWords are the rules of models that have no option for the schema of an answer.
var SchemaInWords = []Rule{ChangeIf("json_schema object", schemaless), ObjectInWords}

// ObjectInWords is the rule of models that have no option for any format of the answer.
var ObjectInWords = ChangeIf("json_schema instruct", func(traits *trait.Traits) bool { return traits.JSONSchema == trait.JSONSchemaInstruct })

// NamelessSchema are the rules of models for which nothing but a schema itself is put in words.
var NamelessSchema = []Rule{DropIf("json_schema object", schemaless), DropIf("json_schema instruct", ObjectInWords.holds)}

func schemaless(traits *trait.Traits) bool { return traits.JSONSchema == trait.JSONSchemaObject }

// NoStrictTools is the rule of models that have no option for any format: they enforce the schemas of
// tools no more than that of an answer, and refuse the demand for it.
var NoStrictTools = LoseIf("json_schema instruct", ObjectInWords.holds)

// JSONObjectInstruction is the instruction to answer with a JSON object. It needs no escapes.
const JSONObjectInstruction = "Answer with one JSON object and nothing else."

// NoSampling is the rule of providers that take no sampling fields.
var NoSampling = LoseIf("sampling none", func(traits *trait.Traits) bool { return traits.Sampling == trait.SamplingNone })

// OneSampling is the rule of providers that take one of the sampling fields.
var OneSampling = LoseIf("sampling one", func(traits *trait.Traits) bool { return traits.Sampling == trait.SamplingOne })

// WithoutEffort is the rule of providers that take no sampling fields beside an effort.
var WithoutEffort = LoseIf("sampling without_effort", func(traits *trait.Traits) bool { return !traits.Sampling.Beside(trait.EffortMedium) })

// NoPenalties is the rule of providers that take no penalties or biases of tokens.
var NoPenalties = LoseIf("penalties false", func(traits *trait.Traits) bool { return traits.NoPenalties })

// NoParallelCalls is the rule of providers that do not let the client choose whether calls are
// made one at a time.
var NoParallelCalls = DropIf("parallel_tool_calls false", func(traits *trait.Traits) bool { return traits.NoParallelToolCalls })

// AutoChoice is the rule of providers that refuse the demand for the call of a tool. They get
// the choice that is free. The traits of a request that asks a model not to think have no
// ToolChoiceEffortNone.
var AutoChoice = ChangeIf("tool_choice auto", func(traits *trait.Traits) bool { return traits.ToolChoice != trait.ToolChoiceAny })

// Switched is the rule of models with a switch in place of the effort none.
var Switched = KeepIf("thinking_switch thinking.type", (*trait.Traits).SwitchesOff)

// NoPrefill is the rule of providers that continue no last turn of the assistant although the
// format has such conversations.
var NoPrefill = LoseIf("prefill refuse", func(traits *trait.Traits) bool { return traits.Prefill == trait.PrefillRefuse })

// BoundedAnswer is the rule of models whose longest answer is known.
var BoundedAnswer = ChangeIf("max_output_tokens 1", func(traits *trait.Traits) bool { return traits.MaxOutputTokens > 0 })

// NoUser is the rule of providers that are not to know the end user.
var NoUser = LoseIf("user_field none", func(traits *trait.Traits) bool { return traits.UserField == trait.UserFieldNone })

// LateSystemMoves returns the rules of providers that accept system texts only in front
// of the conversation. Depending on the trait mid_system, later ones are refused, are
// moved to the front, or become turns of the user. standard is the default of the trait.
func LateSystemMoves(standard trait.MidSystem) []Rule {
	are := func(wanted trait.MidSystem) func(*trait.Traits) bool {
		return func(traits *trait.Traits) bool { return cmp.Or(traits.MidSystem, standard) == wanted }
	}
	return []Rule{
		RefuseIf("mid_system refuse", are(trait.MidSystemRefuse)),
		ChangeIf("mid_system hoist", are(trait.MidSystemHoist)),
		ChangeIf("mid_system user", are(trait.MidSystemUser)),
	}
}

// RefuseLateSystem is the Refusal of a late system text.
func RefuseLateSystem(_ *RequestInfo, _ translate.Format, path string) *fault.Fault {
	return fault.LateSystem(path)
}

// Extension is the rule of providers that take a member beyond a format.
func Extension(name string) Rule {
	return KeepIf("extensions "+name, func(traits *trait.Traits) bool { return traits.Extension(name) })
}

// AlwaysThinks is the rule of models that cannot be asked to think not at all.
var AlwaysThinks = LoseIf("thinking_style always", func(traits *trait.Traits) bool { return traits.Thinking == trait.ThinkingAlways })

// TakesEffort is the rule of models that take an effort.
func TakesEffort(c Concept) Rule {
	effort := EffortOf(c)
	return KeepIf("reasoning_effort "+effort.String(), func(traits *trait.Traits) bool { return traits.ReasoningEffort.Has(effort) })
}

// NearestEffort is the rule of models that lack an effort, and get the nearest of those that they
// have.
func NearestEffort(c Concept) Rule {
	effort := EffortOf(c)
	return ChangeIf(OtherEffort(c), func(traits *trait.Traits) bool {
		nearest := traits.ReasoningEffort.Nearest(effort)
		return nearest != 0 && nearest != effort
	})
}

// NoEffort is the rule of models that have neither an effort nor one that is near.
func NoEffort(c Concept) Rule {
	effort := EffortOf(c)
	return LoseIf("reasoning_effort off", func(traits *trait.Traits) bool { return traits.EffortsOr(effort).Nearest(effort) == 0 })
}

// OtherEffort returns the trait of models that have one effort, and not c.
func OtherEffort(c Concept) string {
	if c == EffortLow {
		return "reasoning_effort high"
	}
	return "reasoning_effort low"
}

// EffortRows returns the rows of the field at path that states the reasoning effort.
// The format has the words from least upwards.
func EffortRows(path string, least Concept) (rows []Row) {
	for c := least; c <= EffortMax; c++ {
		rows = append(rows, Shaping(path+"="+EffortOf(c).String(), c))
	}
	return append(rows, Shaping(path+"=*", EffortOther))
}

// EffortOf returns the trait value of an effort, EffortNone to EffortMax.
func EffortOf(c Concept) trait.Efforts { return trait.EffortNone << (c - EffortNone) }
