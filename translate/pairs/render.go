package pairs

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// CanTranslate reports whether requests in the format from can be translated to the
// format to.
func CanTranslate(from, to translate.Format) bool {
	source, target := formats.Of(from), formats.Of(to)
	return from != to && source != nil && target != nil && source.Requests.Source != nil && target.Requests.Target != nil
}

// Possible reports whether some request in the format from can be translated for a
// provider of the format to that has these traits.
func Possible(from, to translate.Format, traits *trait.Traits) bool {
	return from == to || CanTranslate(from, to) && formats.Of(to).Requests.Target.Takes(core.Conversation, traits)
}

// Render translates the body of a request in the format from, which has passed Inspect,
// to the format to, and appends the result to dst. The losses list the fields that are
// left out or changed; Render refuses the request if it would ask for something else
// without them. The result is invalid if there is a fault. Render panics unless
// CanTranslate(from, to).
func Render(dst []byte, from, to translate.Format, body []byte, info *core.RequestInfo) ([]byte, core.Rendered, *fault.Fault) {
	if !CanTranslate(from, to) {
		panic("pairs: no conversion from " + string(from) + " to " + string(to))
	}
	return core.Render(dst, body, info, formats.Of(from).Requests.Source, formats.Of(to).Requests.Target)
}
