package main

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strings"
)

// setup is one of the configurations that are compared.
type setup struct {
	name       string
	translates bool
	directives func(links, setting) string // of its site
}

// baseline is the name of the setup that the others are compared with.
const baseline = "caddy"

// setups are plain reverse_proxy, and the gateway: without accounts and ledger, as in the
// README, and with limits, budgets and metrics.
var setups = []setup{
	{name: baseline, directives: reverseProxy},
	{name: "bare", translates: true, directives: gateway("accounts off\nledger off", "")},
	{name: "default", translates: true, directives: gateway("", "")},
	{name: "full", translates: true, directives: func(l links, s setting) string {
		words := limits
		if s.server == redis || s.server == shared {
			words += "\ncounters redis " + l.redis
		}
		return "metrics /metrics\n" + gateway(words, "{\nlimit own\n}")(l, s)
	}},
}

// links are the addresses of a setup, and its files.
type links struct {
	site, admin string
	provider    string // over HTTP
	providerTLS string // over HTTPS
	redis       string // empty for none
	postgres    string // the data source name; empty for none
	certificate certificate
}

// benchKey is the key of all clients, or the beginning of the key of each.
const benchKey = "sk-benchmark"

// keyOf returns one of many keys.
func keyOf(i int) string { return fmt.Sprintf("%s-%d", benchKey, i) }

func reverseProxy(l links, s setting) string {
	return fmt.Sprintf(`@known header Authorization "Bearer %s"
	handle @known {
		reverse_proxy %s {
			header_up Authorization "Bearer sk-provider"
			transport http {
				compression off
				%s
			}
		}
	}
	respond 401`, benchKey, l.providerURL(s), l.trust(s))
}

// gateway returns the site of a gateway with further words, and with a block for each key.
func gateway(words, keyBlock string) func(links, setting) string {
	return func(l links, s setting) string {
		var b strings.Builder
		fmt.Fprintf(&b, "ai_gateway {\nkey bench {env.BENCHMARK_KEY} %s\n%s\n", keyBlock, words)
		if s.server == postgres || s.server == shared {
			b.WriteString("store postgres {env.BENCHMARK_POSTGRES}\n")
		} else {
			b.WriteString("store sqlite\n")
		}
		for i := range s.keys {
			fmt.Fprintf(&b, "key bench-%d sha256:%x %s\n", i, sha256.Sum256([]byte(keyOf(i))), keyBlock)
		}
		l.provide(&b, s, string(chat), "openai_compatible", "/v1", chat)
		l.provide(&b, s, string(responses), "openai_compatible", "/v1", responses)
		l.provide(&b, s, string(messages), "anthropic", "", messages)
		for i := range s.providers {
			l.provide(&b, s, fmt.Sprintf("chat-%d", i), "openai_compatible", "/v1", chat)
		}
		for i := range s.models {
			target := string(chat)
			if s.providers > 0 {
				target = fmt.Sprintf("chat-%d", i%s.providers)
			}
			fmt.Fprintf(&b, "model %s {\nto %s/%s\n}\n", modelOf(i), target, scenario{provider: chat}.model())
		}
		return b.String() + "}"
	}
}

// modelOf returns one of many models.
func modelOf(i int) string { return fmt.Sprintf("model-%d", i) }

// provide writes a provider. Those with a number serve the models of the configuration alone.
func (l links) provide(b *strings.Builder, s setting, name, preset, path string, f format) {
	models := "off"
	if name == string(f) {
		models = fmt.Sprintf("bench-%s/*", f)
	}
	fmt.Fprintf(b, `provider %s %s {env.BENCHMARK_PROVIDER_KEY} {
		base_url %s%s
		format %s
		models %s
		price bench-%[5]s* input 3 output 15
		transport http {
			%[7]s
			keepalive %[8]s
		}
	}
	`, name, preset, l.providerURL(s), path, f, models, l.trust(s), cmp.Or(s.keepAlive, "2m"))
}

func (l links) providerURL(s setting) string {
	if s.providerTLS != "" {
		return "https://" + l.providerTLS
	}
	return "http://" + l.provider
}

// trust returns the words of the transport for a provider over TLS.
func (l links) trust(s setting) string {
	if s.providerTLS == "" {
		return ""
	}
	return fmt.Sprintf("tls_trust_pool file %s\nversions %s", l.certificate.file, s.providerTLS)
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
func (s setup) caddyfile(l links, setting setting) string {
	scheme, tls := "http", ""
	if setting.clientTLS {
		scheme, tls = "https", fmt.Sprintf("tls %s %s", l.certificate.file, l.certificate.key)
	}
	return fmt.Sprintf(`{
	admin %s
	auto_https off
	persist_config off
	log {
		level ERROR
	}
}

%s://%s {
	%s
	%s
}
`, l.admin, scheme, l.site, tls, s.directives(l, setting))
}

// balancer returns the setup of a plain Caddy before other processes.
func balancer(balanced []*process) setup {
	return setup{directives: func(links, setting) string {
		var sites []string
		for _, p := range balanced {
			sites = append(sites, p.site)
		}
		return "reverse_proxy {\nlb_policy round_robin\nto " + strings.Join(sites, " ") + "\n}"
	}}
}
