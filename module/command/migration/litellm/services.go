package litellm

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration"
)

// service is what a prefix of a model, such as openai/, becomes.
type service struct {
	preset string
	env    string // the variable with the API key if the file names none; "" for servers without keys
	base   string // the address; "" for that of the preset
	format string // the formats of the provider; "" for those of the preset
}

// services are the prefixes that have a counterpart.
var services = map[string]service{
	"anthropic":              {preset: "anthropic", env: "ANTHROPIC_API_KEY"},
	"deepseek":               {preset: "deepseek", env: "DEEPSEEK_API_KEY"},
	"gemini":                 {preset: "gemini", env: "GEMINI_API_KEY"},
	"groq":                   {preset: "groq", env: "GROQ_API_KEY"},
	"mistral":                {preset: "mistral", env: "MISTRAL_API_KEY"},
	"ollama":                 {preset: "ollama"},
	"ollama_chat":            {preset: "ollama"},
	"hosted_vllm":            {preset: "vllm"},
	"openai":                 {preset: "openai", env: "OPENAI_API_KEY"},
	"openrouter":             {preset: "openrouter", env: "OPENROUTER_API_KEY"},
	"text-completion-openai": {preset: "openai", env: "OPENAI_API_KEY", format: "completions"},
	"together_ai":            {preset: "together", env: "TOGETHERAI_API_KEY"},
	"xai":                    {preset: "xai", env: "XAI_API_KEY"},
	"cerebras":               {preset: "cerebras", env: "CEREBRAS_API_KEY"},
	"cohere_chat":            {preset: "cohere", env: "COHERE_API_KEY"},
	"dashscope":              {preset: "dashscope", env: "DASHSCOPE_API_KEY"},
	"deepinfra":              {preset: "deepinfra", env: "DEEPINFRA_API_KEY"},
	"fireworks_ai":           {preset: "fireworks", env: "FIREWORKS_AI_API_KEY"},
	"minimax":                {preset: "minimax", env: "MINIMAX_API_KEY"},
	"moonshot":               {preset: "moonshot", env: "MOONSHOT_API_KEY"},
	"nvidia_nim":             {preset: "nvidia", env: "NVIDIA_NIM_API_KEY"},
	"zai":                    {preset: "zai", env: "ZAI_API_KEY"},

	"custom_openai": compatible("OPENAI_API_KEY", ""),
	"github":        compatible("GITHUB_API_KEY", "https://models.inference.ai.azure.com"),
	"litellm_proxy": compatible("LITELLM_PROXY_API_KEY", ""),
	"llamafile":     compatible("", "http://127.0.0.1:8080/v1"),
	"lm_studio":     compatible("LM_STUDIO_API_KEY", ""),
	"meta_llama":    compatible("LLAMA_API_KEY", "https://api.llama.com/compat/v1"),
	"perplexity":    compatible("PERPLEXITYAI_API_KEY", "https://api.perplexity.ai"),
	"sambanova":     compatible("SAMBANOVA_API_KEY", "https://api.sambanova.ai/v1"),
	"volcengine":    compatible("VOLCENGINE_API_KEY", "https://ark.cn-beijing.volces.com/api/v3"),
}

func compatible(env, base string) service {
	return service{preset: "openai_compatible", env: env, base: base}
}

// clouds are the prefixes whose providers need more than an address and a key.
var clouds = map[string]func(*deployment) (provider *migration.Provider, reason string){
	"azure":     azure,
	"bedrock":   bedrock,
	"vertex_ai": vertex,
}

// bareNames are beginnings of models without a prefix, and the prefix that LiteLLM finds for
// them.
var bareNames = []struct{ beginning, prefix string }{
	{"gpt-", "openai"}, {"chatgpt-", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"},
	{"claude-", "anthropic"}, {"gemini-", "vertex_ai"}, {"command-", "cohere"},
}

// split returns the prefix and the rest of a model.
func split(model, custom string) (prefix, rest string) {
	prefix, rest, ok := strings.Cut(model, "/")
	if _, known := services[prefix]; ok && (known || clouds[prefix] != nil || custom == "") {
		return prefix, rest
	}
	if custom != "" {
		return custom, strings.TrimPrefix(model, custom+"/")
	}
	for _, bare := range bareNames {
		if strings.HasPrefix(model, bare.beginning) {
			return bare.prefix, model
		}
	}
	return "", model
}

// serve returns the provider of a deployment, and sets the name of its model. It returns a
// reason if the gateway has no such provider.
func (d *deployment) serve() (*migration.Provider, string) {
	prefix, rest := split(d.params.Text("model"), d.params.Text("custom_llm_provider"))
	d.model = rest
	if cloud := clouds[prefix]; cloud != nil {
		return cloud(d)
	}
	s, ok := services[prefix]
	switch {
	case prefix == "":
		return nil, fmt.Sprintf("the service of the model %q is not known: write its prefix, such as openai/", rest)
	case !ok:
		return nil, fmt.Sprintf("the gateway has no provider for %s", prefix)
	}
	base := strings.TrimRight(d.params.Text("api_base"), "/")
	if base == "" {
		base = strings.TrimRight(d.params.Text("base_url"), "/")
	}
	p := &migration.Provider{Name: prefix, Preset: s.preset}
	switch {
	case s.preset == "anthropic":
		base = strings.TrimSuffix(strings.TrimSuffix(base, "/v1/messages"), "/v1")
	case s.preset == "ollama" && base != "" && !strings.HasSuffix(base, "/v1"):
		base += "/v1"
	case s.preset == "openai" && base != "" && base != "https://api.openai.com/v1":
		p.Preset, p.Name = "openai_compatible", nameOf(base)
		p.Lines = append(p.Lines, migration.Words("listed_as", "openai")) // prices go by names there, wherever the server is
		s.env = ""
	}
	if p.Preset != "openai_compatible" && s.format == "" {
		p.Name = p.Preset
	}
	if base == "" {
		base = s.base
	}
	if base == "" && p.Preset == "openai_compatible" {
		return nil, "api_base is missing"
	}
	if base != "" {
		p.Lines = append(p.Lines, migration.Words("base_url", base))
	}
	if s.format != "" {
		p.Lines = append(p.Lines, migration.Words("format", s.format))
	}
	if responses, ok := strings.CutPrefix(d.model, "responses/"); ok && p.Preset == "openai" {
		d.model = responses
	}
	if organization := d.params.Text("organization"); organization != "" {
		p.Lines = append(p.Lines, migration.Words("header_up", "OpenAI-Organization", organization))
	}
	p.APIKeys = d.reference("api_key", s.env)
	return p, ""
}

var azureHost = regexp.MustCompile(`^https://([a-z0-9-]+)\.openai\.azure\.com$`)

// azure returns the provider of a deployment in Azure, by the API v1, which needs no version.
func azure(d *deployment) (*migration.Provider, string) {
	if d.params.Text("azure_ad_token") != "" || d.params.Text("client_secret") != "" {
		return nil, "tokens of Entra ID need the word entra of the preset azure"
	}
	base := strings.TrimRight(d.params.Text("api_base"), "/")
	if base == "" {
		return nil, "api_base is missing"
	}
	p := &migration.Provider{Name: "azure", Preset: "azure", Lines: []migration.Line{migration.Words("base_url", base+"/openai/v1")}}
	if m := azureHost.FindStringSubmatch(base); m != nil {
		p.Name, p.Lines = "azure-"+m[1], []migration.Line{migration.Words("resource", m[1])}
	}
	if version := d.params.Text("api_version"); version != "" {
		d.note(migration.Changed, "api_version "+version+" is not needed: the API v1 of Azure is used")
	}
	p.APIKeys = d.reference("api_key", "AZURE_API_KEY")
	return p, ""
}

// bedrock returns the provider of a region of Bedrock, which asks each model as it must be asked.
func bedrock(d *deployment) (*migration.Provider, string) {
	d.model = strings.TrimPrefix(strings.TrimPrefix(d.model, "converse/"), "invoke/")
	region := d.params.Text("aws_region_name")
	if region == "" || strings.HasPrefix(region, environ) {
		return nil, "aws_region_name must be the name of a region"
	}
	p := &migration.Provider{Name: "bedrock-" + region, Preset: "bedrock", Lines: []migration.Line{migration.Words("region", region)}}
	for _, name := range [...]string{"aws_access_key_id", "aws_secret_access_key", "aws_session_token"} {
		if v := d.params.Text(name); v != "" && v != environ+strings.ToUpper(name) {
			d.note(migration.Changed, name+" is read from the variable "+strings.ToUpper(name))
		}
	}
	if profile := d.params.Text("aws_profile_name"); profile != "" {
		p.Lines = append(p.Lines, migration.Words("profile", profile))
	}
	return p, ""
}

// vertex returns the provider of a Claude or a Gemini in Vertex AI.
func vertex(d *deployment) (*migration.Provider, string) {
	project, location := d.params.Text("vertex_project"), d.params.Text("vertex_location")
	switch {
	case !strings.HasPrefix(d.model, "claude") && !strings.HasPrefix(d.model, "gemini-"):
		return nil, "of the models in Vertex AI, this import knows those of Anthropic and Gemini; see the preset vertex for others"
	case project == "" || strings.HasPrefix(project, environ) || strings.HasPrefix(location, environ):
		return nil, "vertex_project and vertex_location must be names"
	}
	p := &migration.Provider{Name: "vertex", Preset: "vertex", Lines: []migration.Line{migration.Words("project", project)}}
	if location != "" {
		p.Lines = append(p.Lines, migration.Words("location", location))
	}
	if !strings.HasPrefix(d.model, "claude") {
		p.Name = "vertex-gemini"
		p.Lines = append(p.Lines, migration.Words("format", "gemini"))
	}
	if credentials := d.params.Text("vertex_credentials"); strings.HasPrefix(credentials, "/") {
		p.APIKeys = []migration.Reference{migration.File(credentials)}
	} else if credentials != "" {
		p.APIKeys = d.reference("vertex_credentials", "")
	}
	return p, ""
}

var outsideNames = regexp.MustCompile(`[^a-z0-9]+`)

// nameOf returns the name of a provider at an address.
func nameOf(base string) string {
	if u, err := url.Parse(base); err == nil && u.Host != "" {
		base = u.Host
	}
	name := strings.Trim(outsideNames.ReplaceAllString(strings.ToLower(base), "-"), "-")
	return name[:min(len(name), 60)]
}
