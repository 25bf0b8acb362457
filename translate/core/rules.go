package core

import (
	"cmp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// What follows are the rules that the tables of several writers share.

// OneCall is the rule of providers that get no request as several calls.
var OneCall = RefuseIf("max_fan_out 1", func(traits *trait.Traits) bool { return traits.FanOut() == 1 })

// WithoutTools is the rule of providers whose operator leaves out tools that the
// format does not have.
var WithoutTools = DropIf("unsupported_tools drop", func(traits *trait.Traits) bool { return traits.DropUnsupportedTools })

// NoAddresses is the rule of providers that fetch no images.
var NoAddresses = LoseIf("image_url base64", func(traits *trait.Traits) bool { return traits.ImagesBase64Only })

// FillInWords is the rule of providers that are asked in words to fill in a text.
var FillInWords = ChangeIf("suffix instruct", func(traits *trait.Traits) bool { return traits.InstructSuffix })

// Breakpoints is the rule of providers that take breakpoints of their cache where other
// formats have them.
var Breakpoints = KeepIf("cache_breakpoints true", func(traits *trait.Traits) bool { return traits.CacheBreakpoints })

// FilesDropped is the rule of providers for which a note stands in for a file.
var FilesDropped = ChangeIf("files drop", func(traits *trait.Traits) bool { return traits.Files == trait.FilesDrop })

// RefusedObject is the rule of providers that are not asked in words for a JSON
// object.
var RefusedObject = RefuseIf("json_object refuse", func(traits *trait.Traits) bool { return traits.RefuseJSONObject })

// JSONObjectInstruction asks in words for a JSON object. It needs no escapes.
const JSONObjectInstruction = "Answer with one JSON object and nothing else."

// NoSampling is the rule of providers that take no sampling fields.
var NoSampling = LoseIf("sampling none", func(traits *trait.Traits) bool { return traits.Sampling == trait.SamplingNone })

// OneSampling is the rule of providers that take one of the sampling fields.
var OneSampling = LoseIf("sampling one", func(traits *trait.Traits) bool { return traits.Sampling == trait.SamplingOne })

// BoundedAnswer is the rule of models that give no longer answers than that.
var BoundedAnswer = ChangeIf("max_output_tokens 1", func(traits *trait.Traits) bool { return traits.MaxOutputTokens > 0 })

// NoUser is the rule of providers that are not to know the end user.
var NoUser = LoseIf("user_field none", func(traits *trait.Traits) bool { return traits.UserField == trait.UserFieldNone })

// LateSystemMoves are the rules of providers that take system texts in front only:
// late ones are refused, or move there, or the user says them. Without a trait, standard
// holds.
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
