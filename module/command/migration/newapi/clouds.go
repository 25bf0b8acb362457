package newapi

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration"
)

// The columns of a channel of a cloud have a region, a project or an account in places of their
// own: new-api has them in key and other, one-api in config.

var regionName = regexp.MustCompile(`^[a-z]+(-[a-z0-9]+)*$`)

// cloud completes the provider of a channel of a cloud. It returns the reason why it cannot.
func (s *source) cloud(c *channel, preset string) (reason string) {
	switch text := c.row.Text("key"); {
	case object(c.row.Values["channel_info"]).Flag("is_multi_key"):
		return "it has several credentials of a cloud: write a provider for each"
	case preset == vertex:
		return s.vertex(c, text)
	default:
		return s.bedrock(c, text)
	}
}

// bedrock completes a provider of Bedrock. Requests with an access key are signed with that of
// the environment, of which there is one.
func (s *source) bedrock(c *channel, key string) (reason string) {
	config, parts := object(c.row.Take("config")), strings.Split(key, "|")
	if region := config.Text("region"); region != "" {
		parts = []string{config.Text("ak"), config.Text("sk"), region}
	}
	region := parts[len(parts)-1]
	switch {
	case len(parts) < 2 || len(parts) > 3 || !regionName.MatchString(region):
		return "its key is none of key|region and access key|secret|region"
	case len(parts) == 2:
		s.cloudKey(c, parts[0])
	default:
		for i, variable := range [...]string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
			secret := migration.Secret{Variable: variable, Value: parts[i]}
			index := slices.IndexFunc(s.gateway.Secrets, func(other migration.Secret) bool { return other.Variable == variable })
			if index >= 0 && s.gateway.Secrets[index] != secret {
				return "its access key is another one than that of an earlier channel: write a provider with a profile"
			}
			if index < 0 {
				s.gateway.Secrets = append(s.gateway.Secrets, secret)
			}
		}
		s.report.Add(migration.Changed, c.row.Place+" key", "the access key is read from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	c.provider.Lines = append(c.provider.Lines, migration.Words("region", region))
	c.rename = func(model string) string { return bedrockID(model, region) }
	return ""
}

// cloudKey adds the credential of a channel.
func (s *source) cloudKey(c *channel, value string) {
	variable := "CHANNEL_" + c.row.Text("id") + "_KEY"
	c.provider.APIKeys = append(c.provider.APIKeys, migration.Env(variable))
	s.gateway.Secrets = append(s.gateway.Secrets, migration.Secret{Variable: variable, Value: value})
}

var (
	dated  = regexp.MustCompile(`-20\d{6}$`)
	onlyUS = regexp.MustCompile(`claude-3-opus|claude-3-5-haiku|claude-opus-4-(1-)?2025|nova-premier`) // profiles of other regions lack them
)

// profiles are the beginnings of inference profiles by those of regions.
var profiles = map[string]string{"us": "us.", "eu": "eu.", "ap": "apac."}

// bedrockID returns the id of a model in Bedrock, which the product derives from names without a
// vendor: an inference profile of the region, if there is one.
func bedrockID(model, region string) string {
	switch {
	case strings.Contains(model, "."):
		return model
	case strings.HasPrefix(model, "nova-"):
		model = "amazon." + model
	case !strings.HasPrefix(model, "claude-"):
		return model
	case model == "claude-3-5-sonnet-20241022":
		model = "anthropic." + model + "-v2:0"
	case dated.MatchString(model):
		model = "anthropic." + model + "-v1:0"
	case model == "claude-opus-4-6":
		model = "anthropic." + model + "-v1"
	default:
		model = "anthropic." + model
	}
	area, _, _ := strings.Cut(region, "-")
	if area != "us" && onlyUS.MatchString(model) {
		return model
	}
	return profiles[area] + model
}

// vertex completes a provider of Vertex AI, which has either the models of Anthropic or those of
// Google.
func (s *source) vertex(c *channel, key string) (reason string) {
	config, location := object(c.row.Take("config")), c.row.Text("other")
	account, project := config.Text("vertex_ai_adc"), config.Text("vertex_ai_project_id")
	if config.Text("region") != "" {
		location = config.Text("region")
	}
	if account == "" {
		account, project = key, object(key).Text("project_id")
	}
	if regions := object(location); len(regions.Names()) > 0 {
		if len(regions.Names()) > 1 {
			s.report.Add(migration.Lost, c.row.Place+" other", "all models are asked in the default region: write a provider for each other one")
		}
		location = regions.Text("default")
	}
	var compact bytes.Buffer
	google := slices.ContainsFunc(c.models, func(name string) bool { return !strings.HasPrefix(name, "claude-") })
	switch err := json.Compact(&compact, []byte(account)); {
	case err != nil || project == "":
		return "its key is no file of a service account with a project"
	case location != "" && !regionName.MatchString(location):
		return "its region is no name"
	case google && slices.ContainsFunc(c.models, func(name string) bool { return !strings.HasPrefix(name, "gemini-") }):
		return "a provider of Vertex AI has either models of Anthropic or of Google: write one for each"
	}
	c.provider.Lines = append(c.provider.Lines, migration.Words("project", project))
	if location != "" {
		c.provider.Lines = append(c.provider.Lines, migration.Words("location", location))
	}
	if google {
		c.provider.Lines = append(c.provider.Lines, migration.Words("format", "gemini"))
	}
	s.cloudKey(c, compact.String())
	return ""
}
