package site

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// pathOf returns the endpoint of a format that writes answers.
func pathOf(name translate.Format) string { return formats.Of(name).Client.Endpoints[0].Path }

// Lane is a pair of a client's and a provider's format.
type Lane struct {
	Path     string // the endpoint that the client calls
	Upstream string // the endpoint of the provider
	Format   string // a line of the provider's block, which leaves it this format
}

// NewLane returns the lane between two formats.
func NewLane(client, provider translate.Format) Lane {
	return Lane{pathOf(client), pathOf(provider), "format " + string(provider)}
}

// IsBytes reports whether nothing has to be translated.
func (l Lane) IsBytes() bool { return l.Path == l.Upstream }

// String returns a name for subtests.
func (l Lane) String() string { return l.Path + " to " + l.Upstream }

// ClientLanes are all lanes of the gateway, TranslatedLanes those with a translation, and Lanes
// those between formats whose bodies name the model. Tests over these lists also cover
// new formats.
var (
	ClientLanes     = lanes()
	Lanes           = where(ClientLanes, func(l Lane) bool { return l.Path != GeminiPath && l.Upstream != GeminiPath })
	TranslatedLanes = where(ClientLanes, func(l Lane) bool { return !l.IsBytes() })
)

func lanes() (all []Lane) {
	for _, client := range formats.Names() {
		for _, provider := range formats.Names() {
			if client == provider || pairs.CanTranslate(client, provider) {
				all = append(all, NewLane(client, provider))
			}
		}
	}
	return all
}

func where(all []Lane, is func(Lane) bool) []Lane {
	return slices.DeleteFunc(slices.Clone(all), func(l Lane) bool { return !is(l) })
}
