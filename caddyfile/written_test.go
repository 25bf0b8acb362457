package caddyfile_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway"
)

// The console shows these lines to root users, who need not be those who can read the file. Values of
// headers were once shown if the name had small letters alone, or its word for a secret not at the end.
func TestLinesAreThoseOfTheFileWithoutSecrets(t *testing.T) {
	t.Setenv("PATTERNS", "claude-* gpt-*")
	input := `(headers) {
	header_up X-Team-Token {args[0]}
	header_up x-secret-id {args[0]}
	header_up X-Team {args[1]}
}
{
	ai_gateway {
		provider a vllm {
			base_url /v1
			models {$PATTERNS}
			to 127.0.0.1:1
			import headers abc research
			import headers "{env.TOKEN}" "of all"
			health_headers {
				X-Probe-Key abc
				x-probe-token abc
			}
		}
		guard g webhook {
			url https://example.com/abc
			on_error block
		}
		guard r regex {
			pattern p "\"a b\d"
			block p
		}
		key Monkey sha256:b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c
	}
}
`
	adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(input), map[string]any{"filename": "Caddyfile"})
	require.NoError(t, err)
	var config struct {
		Apps struct {
			Gateway gateway.App `json:"ai_gateway"`
		}
	}
	require.NoError(t, json.Unmarshal(adapted, &config))
	var text strings.Builder
	for _, line := range config.Apps.Gateway.Written.Lines {
		text.WriteString(line.Place + " " + line.Text + "\n")
	}
	assert.Equal(t, `Caddyfile:7 ai_gateway {
Caddyfile:8 	provider a vllm {
Caddyfile:9 		base_url /v1
Caddyfile:10 		models claude-* gpt-*
Caddyfile:11 		to 127.0.0.1:1
Caddyfile:2 		header_up X-Team-Token {$HIDDEN_X_TEAM_TOKEN} # this value is hidden
Caddyfile:3 		header_up x-secret-id {$HIDDEN_X_SECRET_ID} # this value is hidden
Caddyfile:4 		header_up X-Team research
Caddyfile:2 		header_up X-Team-Token {env.TOKEN}
Caddyfile:3 		header_up x-secret-id {env.TOKEN}
Caddyfile:4 		header_up X-Team "of all"
Caddyfile:14 		health_headers {
Caddyfile:15 			X-Probe-Key {$HIDDEN_X_PROBE_KEY} # this value is hidden
Caddyfile:16 			x-probe-token {$HIDDEN_X_PROBE_TOKEN} # this value is hidden
Caddyfile:17 		}
Caddyfile:18 	}
Caddyfile:19 	guard g webhook {
Caddyfile:20 		url {$HIDDEN_URL} # this value is hidden
Caddyfile:21 		on_error block
Caddyfile:22 	}
Caddyfile:23 	guard r regex {
Caddyfile:24 		pattern p `+"`\"a b\\d`"+`
Caddyfile:25 		block p
Caddyfile:26 	}
Caddyfile:27 	key Monkey sha256:b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c
Caddyfile:28 }
`, text.String())
}
