package site

import (
	"hash/fnv"
	"strings"
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// Way is one of the two ways to a provider.
type Way string

const (
	// Direct is the way of a provider with one address: base_url.
	Direct Way = "base_url"
	// Proxied is the way through Caddy's reverse_proxy: to.
	Proxied Way = "reverse_proxy"
)

// EachWay runs a test over both ways, as subtests.
func EachWay(t *testing.T, test func(t *testing.T, w Way)) {
	for _, w := range []Way{Direct, Proxied} {
		t.Run(string(w), func(t *testing.T) { test(t, w) })
	}
}

// EitherWay runs a test in one of the two ways, for claims that do not depend on the way:
// each test in the same way always, and half of the tests in each.
func EitherWay(t *testing.T, test func(t *testing.T, w Way)) {
	name := fnv.New32a()
	_, _ = name.Write([]byte(t.Name())) // cannot fail
	w := []Way{Direct, Proxied}[name.Sum32()%2]
	t.Run(string(w), func(t *testing.T) { test(t, w) })
}

// To returns the lines of a provider's block that lead to an address.
func (w Way) To(address string) string {
	if w == Direct {
		return "base_url http://" + address + "\n"
	}
	return "to " + address + "\nlb_policy first\n"
}

// EveryFormat is the line of a provider that speaks every format.
const EveryFormat = "format chat completions messages responses gemini\n"

// Provider returns the block of a provider that speaks every format, unless one of its own lines
// is format, and whose usage is left as it is.
func (w Way) Provider(name string, p *gatewaytest.Provider, lines ...string) string {
	return w.ProviderAt(name, p.Address(), lines...)
}

// ProviderAt is Provider for an address.
func (w Way) ProviderAt(name, address string, lines ...string) string {
	own := strings.Join(lines, "\n")
	if !strings.Contains("\n"+own, "\nformat ") {
		own = EveryFormat + own
	}
	return w.preset("vllm", name, address, own)
}

// Preset is Provider with the formats and the traits of a preset.
func (w Way) Preset(preset, name string, p *gatewaytest.Provider, lines ...string) string {
	return w.preset(preset, name, p.Address(), strings.Join(lines, "\n"))
}

func (w Way) preset(preset, name, address, lines string) string {
	return "provider " + name + " " + preset + " {\n" + w.To(address) + "usage_details keep\n" + lines + "\n}\n"
}
