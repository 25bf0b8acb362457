package pairs

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// CanTranslate reports whether requests in the format of a client can be translated to
// that of a provider.
func CanTranslate(client, provider translate.Format) bool {
	source, target := formats.Of(client), formats.Of(provider)
	return client != provider && source != nil && target != nil && source.Requests.Source != nil && target.Requests.Target != nil
}

// Possible reports whether some request in the format of a client can be translated for a
// provider of another that has these traits.
func Possible(client, provider translate.Format, traits *trait.Traits) bool {
	return client == provider || CanTranslate(client, provider) && formats.Of(provider).Requests.Target.Takes(core.Conversation, traits)
}

// Render translates the body of a request in the client's format, which has passed Inspect,
// to the provider's, and appends the result to dst. The losses list the fields that are
// left out or changed; Render refuses the request if it would ask for something else
// without them. The result is invalid if there is a fault. Render panics unless
// CanTranslate(client, provider).
func Render(dst []byte, client, provider translate.Format, body []byte, info *core.RequestInfo) ([]byte, core.Rendered, *fault.Fault) {
	source, target := sides(client, provider)
	return core.Render(dst, body, info, source, target)
}

// RenderInParts is Render, but does not copy the long texts of the body: Rendered.Texts are the
// edits that put them into the result.
func RenderInParts(dst []byte, client, provider translate.Format, body []byte, info *core.RequestInfo) ([]byte, core.Rendered, *fault.Fault) {
	source, target := sides(client, provider)
	return core.RenderInParts(dst, body, info, source, target)
}

// sides returns the reader and the writer of requests.
func sides(client, provider translate.Format) (*core.Source, *core.Target) {
	if !CanTranslate(client, provider) {
		panic("pairs: no conversion from " + string(client) + " to " + string(provider))
	}
	return formats.Of(client).Requests.Source, formats.Of(provider).Requests.Target
}
