package quickstart

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// setup is the gateway to start.
type setup struct {
	options   Options
	address   address
	providers []provider
	key       string
	newKey    bool // the key was generated; otherwise, it is the value of GATEWAY_KEY
	login     Login
	program   string // the command that starts Caddy, for hints
	printed   bool   // the Caddyfile is a start for an operator's own
}

// provider is a provider found in the environment.
type provider struct {
	Name    string
	APIKey  string // a reference
	BaseURL string
	Models  []string // empty: every name that no other provider serves
	Demo    bool
}

// newSetup returns the setup for the flags and the environment.
func newSetup(o Options, getenv func(string) string) (*setup, error) {
	s := &setup{options: o, key: getenv("GATEWAY_KEY"), program: programOf(os.Args[0])}
	if s.key == "" {
		s.key, s.newKey = string(aigateway.NewAPIKey()), true
	}
	err := aigateway.CheckAPIKey(aigateway.Secret(s.key))
	if err != nil {
		return nil, fmt.Errorf("GATEWAY_KEY: %w", err)
	}
	if s.providers, err = findProviders(getenv); err != nil {
		return nil, err
	}
	s.address, err = parseAddress(o.Listen)
	return s, err
}

// programOf returns the command that starts the program with this name, for hints. "go run"
// builds a program that exists only while it runs.
func programOf(name string) string {
	if strings.Contains(name, string(filepath.Separator)+"go-build") {
		return "go run ./cmd/caddy"
	}
	return name
}

// findProviders returns the providers that the environment names, and the demo provider,
// which needs no credentials.
func findProviders(getenv func(string) string) ([]provider, error) {
	var found []provider
	if getenv("ANTHROPIC_API_KEY") != "" {
		found = append(found, provider{Name: "anthropic", APIKey: "{env.ANTHROPIC_API_KEY}", Models: []string{"claude-*"}})
	}
	if getenv("OPENAI_API_KEY") != "" {
		models := []string{"gpt-*", "o1*", "o3*", "o4*", "chatgpt-*", "codex-*", "davinci-*", "babbage-*", "ft:*"}
		found = append(found, provider{Name: "openai", APIKey: "{env.OPENAI_API_KEY}", Models: models})
	}
	if host := getenv("OLLAMA_HOST"); host != "" {
		base, err := ollamaURL(host)
		if err != nil {
			return nil, err
		}
		found = append(found, provider{Name: "ollama", BaseURL: base})
	}
	if len(found) == 1 {
		found[0].Models = nil
	}
	demo := provider{Name: "demo", Demo: true}
	if len(found) > 0 {
		demo.Models = []string{"demo"}
	}
	return append(found, demo), nil
}

// The templates call the exported methods.

// Level returns the level of the log.
func (s *setup) Level() string {
	if s.options.Debug {
		return "DEBUG"
	}
	return "WARN"
}

// Host returns the host to bind, empty for all interfaces.
func (s *setup) Host() string { return s.address.host }

// Port returns the port to listen on.
func (s *setup) Port() string { return s.address.port }

// URL returns the URL for clients on this machine.
func (s *setup) URL() string { return s.address.url() }

// Providers returns the providers, the demo provider last.
func (s *setup) Providers() []provider { return s.providers }

// Open reports whether other machines may reach the gateway.
func (s *setup) Open() bool { return !s.address.loopback() }

// Program returns the command that starts Caddy, for hints.
func (s *setup) Program() string { return s.program }

// Printed reports whether the Caddyfile is a start for an operator's own.
func (s *setup) Printed() bool { return s.printed }

// NewKey reports whether the key was generated.
func (s *setup) NewKey() bool { return s.newKey }

// Alone reports whether the demo provider is the only provider.
func (s *setup) Alone() bool { return len(s.providers) == 1 }

// Key returns the key for the Caddyfile: a digest or a reference.
func (s *setup) Key() string {
	if s.newKey {
		return digest(s.key)
	}
	return "{env.GATEWAY_KEY}"
}

// Credential returns the key for the banner, which does not show the value of
// GATEWAY_KEY.
func (s *setup) Credential() string {
	if s.newKey {
		return s.key
	}
	return "$GATEWAY_KEY"
}

// Login returns the state of accounts.
func (s *setup) Login() Login { return s.login }

// Pace returns the argument of the option pace of the demo provider.
func (s *setup) Pace() string {
	if s.options.Pace <= 0 {
		return "off"
	}
	return s.options.Pace.String()
}

// digest returns the digest of a key in the form for a configuration.
func digest(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func render(t *template.Template, s *setup) string {
	var text strings.Builder
	if err := t.Execute(&text, s); err != nil {
		panic("rendering " + t.Name() + ": " + err.Error()) // the templates are constants, and valid for every setup
	}
	return text.String()
}
