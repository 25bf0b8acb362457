package pairs

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// CanTranslate reports whether requests of the client's format can be put to
// providers of the other.
func CanTranslate(from, to translate.Format) bool {
	source, target := formats.Of(from), formats.Of(to)
	return from != to && source != nil && target != nil && source.Requests.Source != nil && target.Requests.Target != nil
}

// Possible reports whether any request of the client's format can be put to a
// provider of the other that has these traits.
func Possible(from, to translate.Format, traits *trait.Traits) bool {
	return from == to || CanTranslate(from, to) && formats.Of(to).Requests.Target.Takes(core.Conversation, traits)
}

// Render appends to dst the request that a client sent in the format from as a
// request in the format to. The body has passed Inspect of its format. What
// cannot be carried over without changing what is asked is refused; what else
// is left behind stands in the losses. With a fault, what was appended is of no
// use. It panics unless CanTranslate.
func Render(dst []byte, from, to translate.Format, body []byte, info *core.RequestInfo) ([]byte, core.Rendered, *fault.Fault) {
	if !CanTranslate(from, to) {
		panic("pairs: no conversion from " + string(from) + " to " + string(to))
	}
	return core.Render(dst, body, info, formats.Of(from).Requests.Source, formats.Of(to).Requests.Target)
}
