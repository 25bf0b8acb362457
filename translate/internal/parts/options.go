package parts

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// UserRows returns the rows of a field with the id of the end user, which becomes
// concept c.
func UserRows(field string, c core.Concept) []core.Row {
	return []core.Row{
		core.Hint(field, c),
		core.Hint(field+"=...", core.LongEndUser),
		core.Hint(field+"=u@example.com", core.TellingEndUser),
	}
}

// maxUser is the length of the longest id of an end user that providers accept, in
// bytes.
const maxUser = 64

// AppendUser appends the id of the end user as a member, or the digest of an id that is
// too long.
func AppendUser(dst *core.Members, x *core.Translation, field string) {
	if x.Options.Has(core.EndUser) {
		dst.Name(field)
		*dst = jsonscan.AppendString(*dst, x.EndUser(maxUser))
	}
}

// UserField returns the field of the provider for the id of the end user.
func UserField(traits *trait.Traits) string {
	if traits.UserField == trait.UserFieldSafetyIdentifier {
		return "safety_identifier"
	}
	return "user"
}

// SystemRole returns the role of the provider for system texts.
func SystemRole(traits *trait.Traits) string {
	return systemRoles[traits.SystemRole]
}

var systemRoles = [...]string{"system", "developer", "user"}

// tiers are the words for service tiers, from TierAuto to TierUltrafast, which the chat format
// does not have.
var tiers = [...]string{"auto", "default", "flex", "priority", "scale", "ultrafast"}

// TierRows are the rows of the service tier.
var TierRows = []core.Row{
	core.Hint("service_tier="+tiers[0], core.TierAuto),
	core.Hint("service_tier="+tiers[1], core.TierStandard),
	core.Hint("service_tier="+tiers[2], core.TierFlex),
	core.Hint("service_tier="+tiers[3], core.TierPriority),
	core.Hint("service_tier=fast", core.TierPriority), // a newer word
	core.Hint("service_tier="+tiers[4], core.TierScale),
	core.Hint("service_tier="+tiers[5], core.TierUltrafast),
	core.Hint("service_tier=*", core.TierOther),
}

// AppendTier appends the service tier.
func AppendTier(dst *core.Members, o *core.Options) {
	if tier := o.OneOf(core.TierAuto, core.TierUltrafast); tier != core.Nothing {
		dst.Word("service_tier", tiers[tier-core.TierAuto])
	}
}

// ModerationRows are the rows of the moderation of texts.
var ModerationRows = []core.Row{
	core.Shaping("moderation", core.Moderation).OrNothing(),
	core.Structural("moderation.policy.output.mode=block", core.BlockingModeration).As("moderation"),
}

// FoldModeration decides which of the two a request asks for.
func FoldModeration(x *core.Translation) {
	o := &x.Options
	moderation := o[core.Moderation]
	for _, policy := range jsonscan.Members(jsonscan.MemberOf(moderation.Raw, "policy")) {
		if jsonscan.TextOf(jsonscan.MemberOf(policy, "mode")) == "block" {
			o.Clear(core.Moderation, core.Moderation)
			o[core.BlockingModeration] = core.Option{Raw: moderation.Raw, Row: x.From.Rows.Named("moderation.policy.output.mode=block")}
		}
	}
}

// AppendModeration appends the moderation of texts.
func AppendModeration(dst *core.Members, o *core.Options) {
	dst.Option("moderation", &o[core.Moderation])
	dst.Option("moderation", &o[core.BlockingModeration])
}

// AppendCache appends the options of the provider's cache.
func AppendCache(dst *core.Members, o *core.Options) {
	dst.Option("prompt_cache_key", &o[core.CacheKey])
	dst.Option("prompt_cache_options", &o[core.CacheOptions])
	dst.Option("prompt_cache_retention", &o[core.CacheRetention])
}

// AppendSchema appends the members that describe the schema of the answer, the first
// without a comma. A schema without a name comes from a format that enforces schemas:
// it is marked as strict, so that a schema that cannot be enforced is an error.
func AppendSchema(dst core.Members, o *core.Options) core.Members {
	name, strict := o.Raw(core.SchemaName), o.Raw(core.SchemaStrict)
	if name == nil {
		name = []byte(`"response"`)
		if strict == nil {
			strict = []byte("true")
		}
	}
	dst = append(append(dst, `"name":`...), name...)
	dst.Raw("schema", o.Raw(core.Schema))
	dst.Option("description", &o[core.SchemaDescription])
	if strict != nil {
		dst.Raw("strict", strict)
	}
	return dst
}

// ReadModalities reads the kinds of answers that a client wants, a raw list of words in any letter
// case: whether the answer may have images, by the row images, or is to be images, by the row
// alone. Other kinds than texts and images are lost by the row others.
func ReadModalities(x *core.Translation, raw []byte, images, alone, others *core.Row) {
	if jsonscan.Blank(raw) {
		return
	}
	c := jsonscan.Again(raw)
	if !c.EnterArray() {
		x.Lose(others, raw)
		return
	}
	var text, image bool
	for c.Element() {
		switch kind := c.Skip(); strings.ToLower(jsonscan.TextOf(kind)) {
		case "modality_unspecified":
		case "text":
			text = true
		case "image":
			image = true
		default:
			x.Lose(others, kind)
		}
	}
	switch {
	case image && text:
		x.SetOption(images, raw)
	case image:
		x.SetOption(alone, raw)
	}
}
