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

// The console shows these lines to root users, who need not be those who can read the file.
func TestLinesAreThoseOfTheFileWithoutSecrets(t *testing.T) {
	t.Setenv("PATTERNS", "claude-* gpt-*")
	input := `(headers) {
	header_up X-Team-Token {args[0]}
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
		text.WriteString(line.At + " " + line.Text + "\n")
	}
	assert.Equal(t, `Caddyfile:6 ai_gateway {
Caddyfile:7 	provider a vllm {
Caddyfile:8 		base_url /v1
Caddyfile:9 		models claude-* gpt-*
Caddyfile:10 		to 127.0.0.1:1
Caddyfile:2 		header_up X-Team-Token {$HIDDEN_X_TEAM_TOKEN} # this value is hidden
Caddyfile:3 		header_up X-Team research
Caddyfile:2 		header_up X-Team-Token {env.TOKEN}
Caddyfile:3 		header_up X-Team "of all"
Caddyfile:13 		health_headers {
Caddyfile:14 			X-Probe-Key {$HIDDEN_X_PROBE_KEY} # this value is hidden
Caddyfile:15 		}
Caddyfile:16 	}
Caddyfile:17 	guard g webhook {
Caddyfile:18 		url {$HIDDEN_URL} # this value is hidden
Caddyfile:19 		on_error block
Caddyfile:20 	}
Caddyfile:21 	guard r regex {
Caddyfile:22 		pattern p `+"`\"a b\\d`"+`
Caddyfile:23 		block p
Caddyfile:24 	}
Caddyfile:25 	key Monkey sha256:b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c
Caddyfile:26 }
`, text.String())
}
