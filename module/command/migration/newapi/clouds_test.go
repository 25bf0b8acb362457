package newapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration/newapi"
)

// Channels of clouds were comments, although there are presets for them.
func TestChannelsOfCloudsAreProviders(t *testing.T) {
	const key, models = "'AKIAEXAMPLE|EXAMPLE-secret|us-east-1'", "'claude-3-7-sonnet-20250219'"
	const row = "(6, 33, " + key + ", NULL, 1, 'Bedrock', 0, '', '', " + models
	const account = `{"type":"service_account", "project_id":"my-project", "private_key":"k\nl"}`
	channel := func(kind, key, other, models string) []string {
		return []string{row, "(6, " + kind + ", '" + key + "', NULL, 1, 'Bedrock', 0, '', '" + other + "', '" + models + "'"}
	}
	for name, tt := range map[string]struct {
		replaced []string
		text     []string
		report   []string
	}{
		"an API key of Bedrock": {
			channel("33", "bedrock-key|eu-central-1", "", "claude-sonnet-4-5-20250929,nova-lite-v1:0,meta.llama3-1-8b-instruct-v1:0,claude-opus-4-1-20250805"),
			[]string{"provider bedrock {env.CHANNEL_6_KEY} {\n\t\t\tmodels off\n\t\t\tregion eu-central-1\n", "to bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0\n", "to bedrock/eu.amazon.nova-lite-v1:0\n", "to bedrock/meta.llama3-1-8b-instruct-v1:0\n", "to bedrock/anthropic.claude-opus-4-1-20250805-v1:0\n"},
			nil,
		},
		"an access key": {nil, []string{"provider bedrock {\n"}, []string{"channels 6 key: the access key is read from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"}},
		"no region":     {channel("33", "bedrock-key", "", "nova-lite-v1:0"), []string{"# left out: channel 6 Bedrock: its key is none of key|region and access key|secret|region"}, nil},
		"Claude in Vertex AI": {
			channel("41", account, `{"default":"us-east5","claude-x":"europe-west1"}`, "claude-sonnet-4-5"),
			[]string{"provider bedrock vertex {env.CHANNEL_6_KEY} {\n\t\t\tmodels off\n\t\t\tproject my-project\n\t\t\tlocation us-east5\n\t\t}"},
			[]string{"all models are asked in the default region"},
		},
		"Gemini in Vertex AI":     {channel("41", account, "global", "gemini-2.5-pro"), []string{"project my-project\n\t\t\tlocation global\n\t\t\tformat gemini\n"}, nil},
		"both in Vertex AI":       {channel("41", account, "", "claude-sonnet-4-5,gemini-2.5-pro"), []string{"# left out: channel 6 Bedrock: a provider of Vertex AI has either models of Anthropic or of Google"}, nil},
		"an API key of Vertex AI": {channel("41", "express", "", "gemini-2.5-pro"), []string{"# left out: channel 6 Bedrock: its key is no file of a service account with a project"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			text, _, report, g := read(t, newapi.NewAPI, example(t, "new-api.sql", append(oneAlice, tt.replaced...)...), "default")
			contains(t, text, tt.text)
			contains(t, report, tt.report)
			if name == "an access key" {
				assert.Contains(t, g.Secrets, migration.Secret{Variable: "AWS_SECRET_ACCESS_KEY", Value: "EXAMPLE-secret"})
			}
		})
	}
}

func TestAChannelOfOneAPIHasItsRegionInItsConfig(t *testing.T) {
	text, _, _, _ := read(t, newapi.OneAPI, example(t, "one-api.sql"), "default")
	contains(t, text, []string{"provider bedrock {\n\t\t\tmodels off\n\t\t\tregion us-east-1\n", "to bedrock/us.anthropic.claude-3-haiku-20240307-v1:0\n"})
}
