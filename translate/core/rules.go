package core

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate"

// What follows are the rules that the tables of several writers share.

// OneCall is the rule of providers that get no request as several calls.
var OneCall = RefuseIf("max_fan_out 1", func(traits *translate.Traits) bool { return traits.FanOut() == 1 })

// WithoutTools is the rule of providers whose operator leaves out tools that the
// format does not have.
var WithoutTools = DropIf("unsupported_tools drop", func(traits *translate.Traits) bool { return traits.DropUnsupportedTools })

// NoAddresses is the rule of providers that fetch no images.
var NoAddresses = LoseIf("image_url base64", func(traits *translate.Traits) bool { return traits.ImagesBase64Only })

// FillInWords is the rule of providers that are asked in words to fill in a text.
var FillInWords = ChangeIf("suffix instruct", func(traits *translate.Traits) bool { return traits.InstructSuffix })

// Breakpoints is the rule of providers that take breakpoints of their cache where other
// formats have them.
var Breakpoints = KeepIf("cache_breakpoints true", func(traits *translate.Traits) bool { return traits.CacheBreakpoints })

// FilesDropped is the rule of providers for which a note stands in for a file.
var FilesDropped = ChangeIf("files drop", func(traits *translate.Traits) bool { return traits.Files == translate.FilesDrop })

// RefusedObject is the rule of providers that are not asked in words for a JSON
// object.
var RefusedObject = RefuseIf("json_object refuse", func(traits *translate.Traits) bool { return traits.RefuseJSONObject })

// JSONObjectInstruction asks in words for a JSON object. It needs no escapes.
const JSONObjectInstruction = "Answer with one JSON object and nothing else."

// NoSampling is the rule of providers that take no sampling fields in a format.
func NoSampling(to translate.Format) Rule {
	return LoseIf("sampling none", func(traits *translate.Traits) bool { return traits.SamplingFor(to) == translate.SamplingNone })
}

// OneSampling is the rule of providers that take one of the sampling fields.
func OneSampling(to translate.Format) Rule {
	return LoseIf("sampling one", func(traits *translate.Traits) bool { return traits.SamplingFor(to) == translate.SamplingOne })
}

// BoundedAnswer is the rule of models that give no longer answers than that.
var BoundedAnswer = ChangeIf("max_output_tokens 1", func(traits *translate.Traits) bool { return traits.MaxOutputTokens > 0 })

// NoUser is the rule of providers that are not to know the end user.
func NoUser(to translate.Format) Rule {
	return LoseIf("user_field none", func(traits *translate.Traits) bool { return traits.UserFieldFor(to) == translate.UserFieldNone })
}

// LateSystemMoves are the rules of providers that take system texts in front only:
// late ones are refused, or move there, or the user says them.
func LateSystemMoves(to translate.Format) []Rule {
	return []Rule{
		RefuseIf("mid_system refuse", func(traits *translate.Traits) bool { return traits.MidSystem == translate.MidSystemRefuse }),
		ChangeIf("mid_system hoist", func(traits *translate.Traits) bool { return traits.MidSystemFor(to) == translate.MidSystemHoist }),
		ChangeIf("mid_system user", func(traits *translate.Traits) bool { return traits.MidSystemFor(to) == translate.MidSystemUser }),
	}
}

// RefuseLateSystem is the Refusal of a late system text.
func RefuseLateSystem(_ *translate.RequestInfo, _ translate.Format, path string) *translate.Fault {
	return translate.RefuseLateSystem(path)
}

// Extension is the rule of providers that take a member beyond a format.
func Extension(to translate.Format, name string) Rule {
	return KeepIf("extensions "+name, func(traits *translate.Traits) bool { return traits.Extension(to, name) })
}
