package written_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/written"
)

var file = &written.Caddyfile{Digest: "sha256:1", Lines: []written.Line{
	{Place: "Caddyfile:2", Text: "ai_gateway {"},
	{Place: "Caddyfile:3", Text: "\tprovider a vllm {"},
	{Place: "Caddyfile:4", Text: "\t\tapi_key {env.ONE}"},
	{Place: "Caddyfile:5", Text: "\t\tmodels m"},
	{Place: "Caddyfile:6", Text: "\t}"},
	{Place: "Caddyfile:7", Text: "\tprovider b vllm {"},
	{Place: "Caddyfile:8", Text: "\t\tapi_key {env.ONE}"},
	{Place: "Caddyfile:9", Text: "\t}"},
	{Place: "keys:1", Text: "\tkey a {env.KEY_A}"},
	{Place: "Caddyfile:11", Text: "\tcatalog /etc/caddy/catalog.csv"},
	{Place: "Caddyfile:12", Text: "\tstore sqlite"},
	{Place: "Caddyfile:13", Text: "}"},
}}

func TestPlaceOfAnError(t *testing.T) {
	for message, at := range map[string]string{
		"provider 'a': needs an address":                       "Caddyfile:3",
		"provider 'b': {env.ONE} is not set":                   "Caddyfile:8",
		"model 'x' of provider 'b', of provider 'a'":           "Caddyfile:7",
		"key a: {env.KEY_A} is empty":                          "keys:1",
		"provider b: needs an address":                         "Caddyfile:7",
		"reading /etc/caddy/catalog.csv: no such file":         "Caddyfile:11",
		"loading store: opening the database":                  "Caddyfile:12",
		"opening store: the disk is full":                      "Caddyfile:12",
		"store is set in the global option ai_gateway already": "Caddyfile:12",
		"storehouse":             "Caddyfile:2",
		"needs at least one key": "Caddyfile:2",
	} {
		assert.Equal(t, at, file.Place(message), message)
	}
}

func TestTextOfAConfiguration(t *testing.T) {
	small := &written.Caddyfile{Digest: "sha256:2", Lines: []written.Line{{Text: "ai_gateway {"}, {Text: "\tprovider demo"}, {Text: "}"}}}
	assert.Equal(t, `# the global option: configuration sha256:2
{
	ai_gateway {
		provider demo
	}
}

# http://a:8080, http://b:8080: configuration sha256:2
http://a:8080, http://b:8080 {
	ai_gateway {
		provider demo
	}
}

# d: what runs was not adapted from a Caddyfile, or was changed since; the admin API shows it at /config/

# c: what runs was not adapted from a Caddyfile, or was changed since; the admin API shows it at /config/
`, written.Text([]written.Part{{Caddyfile: small}, {Caddyfile: small, Addresses: []string{"http://a:8080", "http://b:8080"}}, {Caddyfile: new(written.Caddyfile), Addresses: []string{"d"}}, {Addresses: []string{"c"}}}))
}
