package main

import (
	"fmt"
	"strings"
)

// setup is one of the configurations that are compared.
type setup struct {
	name       string
	translates bool
	directives func(provider string) string // of its site
}

// baseline is the name of the setup that the others are compared with.
const baseline = "caddy"

// setups are plain reverse_proxy, and the gateway: without accounts and ledger, as in the
// README, and with limits, budgets and metrics.
var setups = []setup{
	{name: baseline, directives: reverseProxy},
	{name: "bare", translates: true, directives: func(provider string) string { return gateway(provider, "ledger off", "") }},
	{name: "default", translates: true, directives: func(provider string) string { return gateway(provider, "", "") }},
	{name: "full", translates: true, directives: func(provider string) string {
		return "metrics /metrics\n" + gateway(provider, limits, "{\nlimit own\n}")
	}},
}

// benchKey is the key of all clients.
const benchKey = "sk-benchmark"

func reverseProxy(provider string) string {
	return fmt.Sprintf(`@known header Authorization "Bearer %s"
	handle @known {
		reverse_proxy %s {
			header_up Authorization "Bearer sk-provider"
			transport http {
				compression off
			}
		}
	}
	respond 401`, benchKey, provider)
}

func gateway(provider, words, keyBlock string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ai_gateway {\nkey bench {env.BENCHMARK_KEY} %s\nstore sqlite\n%s\n", keyBlock, words)
	for _, f := range []struct {
		name   format
		preset string
		path   string
	}{
		{chat, "openai_compatible", "/v1"},
		{responses, "openai_compatible", "/v1"},
		{messages, "anthropic", ""},
	} {
		fmt.Fprintf(&b, `provider %[1]s %[2]s {env.BENCHMARK_PROVIDER_KEY} {
			base_url http://%[3]s%[4]s
			format %[1]s
			models bench-%[1]s
			price bench-%[1]s input 3 output 15
		}
		`, f.name, f.preset, provider, f.path)
	}
	return b.String() + "}"
}

// limits are three nested limits with budgets, which no request reaches.
const limits = `limit all {
		per gateway
		budget 1000000/month
	}
	limit team {
		within all
		per group
		tokens 1000000000000/1s
		budget 1000000/month
	}
	limit own {
		within team
		requests 1000000000/1s
		budget 1000000/month
	}`

// caddyfile returns the Caddyfile of a setup.
func (s setup) caddyfile(p ports, storage string) string {
	return fmt.Sprintf(`{
	admin %s
	auto_https off
	persist_config off
	storage file_system %s
	log {
		level ERROR
	}
}

http://%s {
	%s
}
`, p.admin, storage, p.site, s.directives(p.provider))
}

// ports are the addresses of a setup.
type ports struct{ site, admin, provider string }
