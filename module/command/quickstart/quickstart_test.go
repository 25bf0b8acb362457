package quickstart

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/standard"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/caddyfile"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/keys"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers"
)

// environment returns a function like os.Getenv that looks variables up in a map.
func environment(variables map[string]string) func(string) string {
	return func(name string) string { return variables[name] }
}

// canaries are values of secret variables. No output may contain them.
var canaries = map[string]string{
	"ANTHROPIC_API_KEY": "sk-ant-canary-0123456789", "OPENAI_API_KEY": "sk-oai-canary-0123456789",
	"GATEWAY_KEY": "sk-gateway-canary-0123456789",
}

func TestProvidersComeFromTheEnvironment(t *testing.T) {
	anthropic := provider{Name: "anthropic", APIKey: "{env.ANTHROPIC_API_KEY}", Models: []string{"claude-*"}}
	openai := provider{Name: "openai", APIKey: "{env.OPENAI_API_KEY}", Models: []string{
		"gpt-*", "o1*", "o3*", "o4*", "chatgpt-*", "codex-*", "davinci-*", "babbage-*", "ft:*",
	}}
	ollama := provider{Name: "ollama", BaseURL: "http://gpu:11434/v1"}
	demo := provider{Name: "demo", Demo: true, Models: []string{"demo"}}
	everything := func(p provider) provider {
		p.Models = nil
		return p
	}
	for name, c := range map[string]struct {
		variables []string
		want      []provider
	}{
		"nothing":              {nil, []provider{everything(demo)}},
		"one serves all names": {[]string{"OPENAI_API_KEY"}, []provider{everything(openai), demo}},
		"two share the names":  {[]string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY"}, []provider{anthropic, openai, demo}},
		"ollama alone":         {[]string{"OLLAMA_HOST"}, []provider{ollama, demo}},
		"ollama takes the rest": {
			[]string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OLLAMA_HOST"},
			[]provider{anthropic, openai, ollama, demo},
		},
	} {
		t.Run(name, func(t *testing.T) {
			variables := map[string]string{}
			for _, v := range c.variables {
				variables[v] = "gpu"
			}
			got, err := findProviders(environment(variables))
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestOllamaHostIsReadAsOllamaReadsIt(t *testing.T) {
	for host, want := range map[string]string{
		"gpu":                        "http://gpu:11434/v1",
		"gpu:9999":                   "http://gpu:9999/v1",
		"0.0.0.0":                    "http://localhost:11434/v1",
		"0.0.0.0:9999":               "http://localhost:9999/v1",
		":9999":                      "http://localhost:9999/v1",
		"[::1]:9999":                 "http://[::1]:9999/v1",
		"192.0.2.1":                  "http://192.0.2.1:11434/v1",
		"https://ollama.example.com": "https://ollama.example.com/v1",
		"http://gpu:9999/ollama/":    "http://gpu:9999/ollama/v1",
	} {
		got, err := ollamaURL(host)
		require.NoError(t, err, host)
		assert.Equal(t, want, got, host)
	}
}

func TestOllamaHostsThatAreRefused(t *testing.T) {
	for _, host := range []string{"a b", "http://user:pw@gpu", "http://gpu?x=1", "gpu#part", "gpu\n}", "{env.X}", "gpu:port"} {
		_, err := ollamaURL(host)
		assert.ErrorContains(t, err, "OLLAMA_HOST", host)
	}
}

func TestKeysAreNewAndLong(t *testing.T) {
	seen := make(map[string]bool)
	used := make(map[rune]bool)
	for range 200 {
		s, err := newSetup(Options{Listen: "127.0.0.1:0"}, environment(nil))
		require.NoError(t, err)
		key := s.key
		assert.Regexp(t, `^sk-[0-9A-Za-z]{48}$`, key)
		assert.False(t, seen[key])
		seen[key] = true
		for _, c := range strings.TrimPrefix(key, "sk-") {
			used[c] = true
		}
	}
	assert.Len(t, used, 62, "every character occurs")
}

func TestCaddyfileIsWhatAnOperatorWouldWrite(t *testing.T) {
	s, err := newSetup(
		Options{Listen: "127.0.0.1:0", Pace: time.Millisecond},
		environment(map[string]string{"ANTHROPIC_API_KEY": "x", "OLLAMA_HOST": "gpu", "GATEWAY_KEY": "sk-local-0123456789"}),
	)
	require.NoError(t, err)
	s.address.port = "8080"
	assert.Equal(t, `{
	admin off
	persist_config off
	auto_https off
	grace_period 30s
	log {
		level WARN
		exclude admin
	}
	servers {
		protocols h1 h2c
	}
}

http://:8080 {
	bind 127.0.0.1
	ai_gateway {
		provider anthropic {env.ANTHROPIC_API_KEY} {
			models claude-*
		}
		provider ollama {
			base_url http://gpu:11434/v1
		}
		provider demo {
			models demo
			pace 1ms
		}
		key local {env.GATEWAY_KEY}
	}
	respond / <<TEXT
		The AI gateway is running.

		Base URL, Anthropic  {scheme}://{hostport}
		Base URL, OpenAI     {scheme}://{hostport}/v1
		Console              {scheme}://{hostport}/console/
		All paths            {scheme}://{hostport}/api/openapi.json
		Documentation        {scheme}://{hostport}/console/docs/

		Clients need a key: the terminal shows one, and users can create keys.

		TEXT
	respond "Not found. The gateway serves paths below /v1/, for Gemini clients below /v1beta/, for accounts below /api/, and the console at /console/. The base URL of an OpenAI client ends with /v1." 404
}
`, s.caddyfile())
}

// setups returns the setup of every combination of the variables.
func setups(t *testing.T) []*setup {
	t.Helper()
	var all []*setup
	names := []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GATEWAY_KEY", "OLLAMA_HOST"}
	for bits := range 1 << len(names) {
		variables := map[string]string{}
		for i, name := range names {
			if bits>>i&1 == 1 {
				variables[name] = canaries[name]
			}
		}
		if bits>>3 == 1 {
			variables["OLLAMA_HOST"] = "localhost"
		}
		s, err := newSetup(Options{Listen: "127.0.0.1:0", Debug: bits%2 == 1}, environment(variables))
		require.NoError(t, err)
		all = append(all, s)
	}
	return all
}

func TestEveryCaddyfileIsFormattedAndAdapts(t *testing.T) {
	for _, s := range setups(t) {
		for _, s.printed = range []bool{false, true} {
			text := s.caddyfile()
			assert.Equal(t, string(caddyfile.Format([]byte(text))), text)
			_, err := Adapt(text)
			assert.NoError(t, err, text)
		}
	}
}

// Ensures that outputs contain references instead of credentials, so that neither a
// configuration nor the history of a terminal can leak them.
func TestNoCredentialIsWrittenAnywhere(t *testing.T) {
	for _, s := range setups(t) {
		config, err := Adapt(s.caddyfile())
		require.NoError(t, err)
		written := s.caddyfile() + s.banner() + string(config.AppsRaw["http"])
		for _, secret := range canaries {
			assert.NotContains(t, written, secret)
		}
		if s.newKey {
			assert.NotContains(t, s.caddyfile()+string(config.AppsRaw["http"]), s.key)
			assert.Contains(t, s.banner(), s.key, "a new key is shown, once")
		}
	}
}

// An operator who started from a printed file once had no admin API, so that reload,
// targets and explain failed, and no certificate for a host name.
func TestAPrintedCaddyfileHasTheDefaultsOfCaddy(t *testing.T) {
	s, err := newSetup(Options{Listen: "localhost:8080"}, environment(nil))
	require.NoError(t, err)
	running := s.caddyfile()
	s.printed = true
	options, site, _ := strings.Cut(s.caddyfile(), "\n}\n\n")
	assert.Equal(t, "{\n\tgrace_period 30s", options)
	comment, site, _ := strings.Cut(site, "\n")
	assert.Equal(t, "# For HTTPS, write the name of the host instead of this address, and remove bind.", comment)
	assert.True(t, strings.HasPrefix(site, "http://:8080 {\n\tbind localhost\n"), site)
	assert.True(t, strings.HasSuffix(running, site), "the rest is what runs without --print")
}

// Such a key once caused a chain of seven errors, none of which named the variable.
func TestAKeyThatCannotBeUsedIsNamed(t *testing.T) {
	for _, key := range []string{"short", "with a space", "sk,with-comma-1234567890"} {
		_, err := newSetup(Options{Listen: "127.0.0.1:0"}, environment(map[string]string{"GATEWAY_KEY": key}))
		assert.EqualError(t, err, "GATEWAY_KEY: a key has 8 to 256 printable ASCII characters, without spaces or commas")
	}
}

// Keys and passwords once crossed the network in clear without a word about it.
func TestAnOpenAddressIsWarnedOf(t *testing.T) {
	for listen, warned := range map[string]bool{
		"localhost:0": false, "127.0.0.1:0": false, "[::1]:0": false,
		":0": true, "0.0.0.0:0": true, "192.0.2.1:0": true, "gpu:0": true,
	} {
		s, err := newSetup(Options{Listen: listen}, environment(nil))
		require.NoError(t, err)
		assert.Equal(t, warned, strings.Contains(s.banner(), "plain HTTP"), listen)
	}
}

// After "go run", the hints of the banner once named a program that was not there.
func TestHintsNameTheCommandThatWasUsed(t *testing.T) {
	assert.Equal(t, "go run ./cmd/caddy", programOf("/tmp/go-build1234/b001/exe/caddy"))
	assert.Equal(t, "go run ./cmd/caddy", programOf("/home/a/.cache/go-build/49/49ff-d/caddy"))
	assert.Equal(t, "./caddy", programOf("./caddy"))
	s := &setup{program: "./caddy", login: Login{Exists: true}}
	assert.Contains(t, s.banner(), "./caddy ai-gateway --print\n")
	assert.Contains(t, s.banner(), "./caddy ai-gateway user passwd root\n")
}

func TestPrintKeepsTheKeyOutOfTheFile(t *testing.T) {
	var file, messages strings.Builder
	require.NoError(t, Print(Options{Listen: "127.0.0.1:0"}, environment(nil), &file, &messages))
	key := regexp.MustCompile(`sk-\w+`).FindString(messages.String())
	require.NotEmpty(t, key)
	assert.NotContains(t, file.String(), key)
	assert.Contains(t, file.String(), digest(key))

	file.Reset()
	messages.Reset()
	require.NoError(t, Print(Options{Listen: "127.0.0.1:0"}, environment(canaries), &file, &messages))
	assert.Contains(t, file.String(), "key local {env.GATEWAY_KEY}")
	assert.Empty(t, messages.String(), "a key of the environment is not shown")
}

func TestBannerNamesWhatIsServed(t *testing.T) {
	banner := func(variables map[string]string) string {
		s, err := newSetup(Options{Listen: "127.0.0.1:0"}, environment(variables))
		require.NoError(t, err)
		return s.banner()
	}
	nothing := banner(nil)
	assert.Contains(t, nothing, "demo, for every model name\n")
	assert.Contains(t, nothing, "No provider was found")
	assert.Contains(t, nothing, "changes with every start")

	two := banner(map[string]string{"ANTHROPIC_API_KEY": "x", "OLLAMA_HOST": "gpu", "GATEWAY_KEY": "sk-local-0123456789"})
	assert.Contains(t, two, "anthropic, for claude-*\n")
	assert.Contains(t, two, "ollama, for every other model name\n")
	assert.Contains(t, two, "demo, for demo\n")
	assert.NotContains(t, two, "No provider was found")
	assert.NotContains(t, two, "changes with every start")
}
