package newapi

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration"
)

// kind is what a kind of channels becomes. Its numbers are those of the products; 0 for none.
type kind struct {
	newAPI, oneAPI int
	preset         string
	base           string // the address of the product; "" if the channel must have one, or for that of the preset
	path           string // behind an address
}

const (
	openAI     = "openai"
	compatible = "openai_compatible"
	anthropic  = "anthropic"
	azure      = "azure"
	gemini     = "gemini"
	ollama     = "ollama"
	bedrock    = "bedrock"
	vertex     = "vertex"
)

// kinds are the kinds of channels that have a counterpart.
var kinds = []kind{
	{1, 1, openAI, "", "/v1"},
	{3, 3, azure, "", "/openai/v1"},
	{4, 30, ollama, "", "/v1"},
	{14, 14, anthropic, "", ""},
	{20, 20, "openrouter", "", "/v1"},
	{24, 24, gemini, "", ""},
	{33, 33, bedrock, "", ""},
	{41, 42, vertex, "", ""},
	{42, 28, "mistral", "", "/v1"},
	{43, 36, "deepseek", "", "/v1"},
	{48, 45, "xai", "", "/v1"},
	{0, 29, "groq", "", "/v1"},
	{0, 39, "together", "", "/v1"},

	{17, 49, compatible, "https://dashscope.aliyuncs.com", "/compatible-mode/v1"},
	{25, 25, compatible, "https://api.moonshot.cn", "/v1"},
	{26, 16, compatible, "https://open.bigmodel.cn", "/api/paas/v4"},
	{27, 0, compatible, "https://api.perplexity.ai", ""},
	{31, 31, compatible, "https://api.lingyiwanwu.com", "/v1"},
	{35, 27, compatible, "https://api.minimax.chat", "/v1"},
	{40, 44, compatible, "https://api.siliconflow.cn", "/v1"},
	{45, 40, compatible, "https://ark.cn-beijing.volces.com", "/api/v3"},
	{46, 47, compatible, "https://qianfan.baidubce.com", "/v2"},
	{47, 0, compatible, "", "/v1"}, // Xinference
	{0, 32, compatible, "https://api.stepfun.com", "/v1"},
	{0, 41, compatible, "https://api.novita.ai/v3/openai", ""},
	{0, 50, compatible, "", ""},
	{0, 51, gemini, "", ""}, // by its OpenAI-compatible address
}

// channel is a row that has a counterpart.
type channel struct {
	row      *migration.Section
	provider *migration.Provider
	groups   []string
	upstream map[string]string         // the provider's names of models
	rename   func(model string) string // what the product makes of such a name; nil for nothing
	models   []string
	priority float64
	weight   float64
}

// readChannels reads the channels, and adds a provider for each one that has a counterpart
// and is on.
func (s *source) readChannels(all []*migration.Section) {
	var names migration.Names
	for _, row := range all {
		c, reason := s.channel(row, &names)
		if reason != "" {
			s.gateway.Left = append(s.gateway.Left, migration.Left{Name: "channel " + row.Text("id") + " " + row.Text("name"), Reason: reason})
			s.report.Add(migration.Lost, row.Place, "%s: %s", row.Text("name"), reason)
			continue
		}
		s.channels = append(s.channels, c)
		s.gateway.Providers = append(s.gateway.Providers, c.provider)
	}
}

// channel returns a row as a channel, or the reason why it has no counterpart.
func (s *source) channel(row *migration.Section, names *migration.Names) (*channel, string) {
	number, _ := row.Number("type")
	i := slices.IndexFunc(kinds, func(k kind) bool { return s.number(k) != 0 && float64(s.number(k)) == number })
	switch status := row.Text("status"); {
	case i < 0:
		return nil, fmt.Sprintf("the gateway has no provider for channels of kind %s; if the service has an address like that of OpenAI, see openai_compatible", row.Text("type"))
	case status == "2":
		return nil, "it is off"
	case status == "3":
		return nil, "it has turned itself off"
	}
	k, base := kinds[i], strings.TrimRight(row.Text("base_url"), "/")
	if u, err := url.Parse(base); base != "" && (err != nil || u.User != nil || u.RawQuery != "" || u.Scheme != "http" && u.Scheme != "https") {
		return nil, "base_url is not an address without credentials"
	}
	c := &channel{row: row, groups: list(row.Text("group"), ","), models: list(row.Text("models"), ",")}
	c.priority, _ = row.Number("priority")
	c.weight, _ = row.Number("weight")
	c.upstream = map[string]string{}
	mapping := object(row.Take("model_mapping"))
	for _, name := range mapping.Names() {
		c.upstream[name] = mapping.Text(name)
	}
	c.provider = &migration.Provider{
		Name: names.Give(strings.NewReplacer("@", "-", "+", "-").Replace(strings.ToLower(row.Text("name"))), "channel-"+row.Text("id")), Preset: k.preset,
		Comment: "channel " + row.Text("id") + ": " + row.Text("name"), Lines: []migration.Line{migration.Words("models", "off")},
	}
	if reason := c.address(k, base); reason != "" {
		return nil, reason
	}
	if k.preset == bedrock || k.preset == vertex {
		if reason := s.cloud(c, k.preset); reason != "" {
			return nil, reason
		}
	} else {
		s.secrets(c, k)
	}
	s.settings(c)
	return c, ""
}

var azureHost = regexp.MustCompile(`^https://([a-z0-9-]+)\.openai\.azure\.com$`)

// address adds the address of a channel.
func (c *channel) address(k kind, base string) (reason string) {
	word, value := "base_url", base+k.path
	switch host := azureHost.FindStringSubmatch(base); {
	case base == "" && k.base != "":
		value = k.base + k.path
	case base == "" && (k.preset == compatible || k.preset == azure):
		return "base_url is missing"
	case base == "":
		return ""
	case host != nil && k.preset == azure:
		word, value = "resource", host[1]
	case k.preset == openAI && base != "https://api.openai.com":
		c.provider.Preset = compatible
		c.provider.Lines = append(c.provider.Lines, migration.Words("listed_as", openAI)) // prices go by names there, wherever the channel is
	case k.preset == gemini:
		value = strings.TrimSuffix(strings.TrimSuffix(base, "/openai"), "/v1beta")
	}
	c.provider.Lines = append(c.provider.Lines, migration.Words(word, value))
	return ""
}

// secrets adds the API keys of a channel, which the Caddyfile refers to as variables.
func (s *source) secrets(c *channel, k kind) {
	text := c.row.Text("key")
	if k.preset == ollama || text == "" || text == "none" {
		return
	}
	values, info := []string{text}, object(c.row.Take("channel_info"))
	if info.Flag("is_multi_key") {
		if values = list(text, "\r\n"); strings.HasPrefix(text, "[") {
			values = object(`{"keys":` + text + `}`).Texts("keys")
		}
		c.provider.Comment += "; multi_key_mode " + info.Text("multi_key_mode") + ": each session has one key"
	}
	states := info.Inner("multi_key_status_list")
	for i, value := range values {
		if state := states.Text(fmt.Sprint(i)); state != "" && state != "1" {
			s.report.Add(migration.Changed, c.row.Place, "the API key number %d is off, and left out", i+1)
			continue
		}
		variable := "CHANNEL_" + c.row.Text("id") + "_KEY"
		if len(values) > 1 {
			variable += fmt.Sprintf("_%d", i+1)
		}
		c.provider.APIKeys = append(c.provider.APIKeys, migration.Env(variable))
		s.gateway.Secrets = append(s.gateway.Secrets, migration.Secret{Variable: variable, Value: value})
	}
}

// settings adds the words that come of the settings of a channel.
func (s *source) settings(c *channel) {
	add := func(words ...string) { c.provider.Lines = append(c.provider.Lines, migration.Words(words...)) }
	lost := func(column, reason string) { s.report.Add(migration.Lost, c.row.Place+" "+column, "%s", reason) }
	if organization := c.row.Text("open_ai_organization"); organization != "" {
		add("header_up", "OpenAI-Organization", organization)
	}
	headers := object(c.row.Take("header_override"))
	for _, name := range headers.Names() {
		if strings.EqualFold(name, "Authorization") || strings.HasSuffix(strings.ToLower(name), "key") {
			lost("header_override", "the header "+name+" may be a credential: api_key sends those")
			continue
		}
		add("header_up", name, headers.Text(name))
	}
	setting := object(c.row.Take("setting"))
	if proxy := setting.Text("proxy"); proxy != "" {
		if u, err := url.Parse(proxy); err != nil || u.User != nil {
			lost("setting", "the proxy has a password: see the words of transport")
		} else {
			c.provider.Lines = append(c.provider.Lines, migration.Line{Words: []string{"transport", "http"}, Block: []migration.Line{migration.Words("network_proxy", "url", proxy)}})
		}
	}
	for _, name := range setting.Unread() {
		lost("setting."+name, "it has no counterpart")
	}
	for _, column := range [...]string{"param_override", "status_code_mapping", "system_prompt"} {
		if value := c.row.Text(column); value != "" && value != "{}" {
			lost(column, "requests and answers pass as they are")
		}
	}
}
