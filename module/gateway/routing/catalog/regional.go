package catalog

import (
	"maps"
	"net/url"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// regionalTrait is the trait of endpoints of regions.
const regionalTrait = "regional"

// presetTraits returns the traits of a preset for a provider with a base URL. Services have their
// endpoints of regions below the name of their usual host, such as eu.api.openai.com.
func presetTraits(d aigateway.Defaults, baseURL string) map[string]string {
	if !isBelow(hostOf(baseURL), hostOf(d.BaseURL)) {
		return d.Traits
	}
	traits := maps.Clone(d.Traits)
	if traits == nil {
		traits = make(map[string]string)
	}
	traits[regionalTrait] = "true"
	return traits
}

// isBelow reports whether a host is a subdomain of another one.
func isBelow(host, other string) bool { return other != "" && strings.HasSuffix(host, "."+other) }

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}
