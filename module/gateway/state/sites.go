package state

import (
	"net/url"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/guardrails"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/keyring"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/labels"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/written"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

// Site is a site of the gateway, as far as operators see it.
type Site struct {
	Blocks
	Catalog   *catalog.Catalog
	Keys      keyring.Sources
	KeyLimits *limits.Limits
	Guards    guardrails.Guards
	Labels    *labels.Names
	Servers   []*mcp.Server
	Store     aigateway.Store // nil for none

	Hosts     func() []string         // the names by which operators know the site
	Addresses func() []string         // as a Caddyfile has them
	Unready   func() string           // why it is not ready for new requests; "" if it is
	Degraded  func() map[string]error // the parts that do not work, with the reasons
}

// Blocks are the blocks of the global option or of a site.
type Blocks struct {
	Providers []*catalog.ProviderConfig
	Models    []*catalog.ModelConfig
	Limits    []*limits.Limit
	Written   *written.Caddyfile // nil if they were not adapted from a Caddyfile
}

// Sites are the sites of which an operator sees the state: the administrator of the machine those
// of all, by the admin API, and administrators those with their accounts. Both have the same paths:
// "/api/v1/status".
type Sites struct {
	Global Blocks
	All    func() []Site // those of the running configuration
	Others bool          // the process has sites that this operator does not see
}

// The largest numbers of items from which pages end.
const (
	largestPage = 1000
	largestKeys = 100
)

// Targets returns a page of the targets.
func (s Sites) Targets(query url.Values) (any, error) {
	page, err := ReadPage(query, largestPage)
	if err != nil {
		return nil, err
	}
	var all []api.Target
	for _, site := range s.All() {
		all = append(all, Targets(site.Catalog)...)
	}
	return PageOfTargets(all, page), nil
}

// Interface guard
var _ aigateway.State = Sites{}
