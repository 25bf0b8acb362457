package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// provider is a provisioned Provider.
type provider struct {
	name    string
	formats []translate.Format
	models  []exchange.Pattern // what it serves without a model block; none: what nobody else claims
	hidden  bool               // it serves nothing without a model block
	known   []string           // names its preset is known for

	traits translate.Traits // those of its preset and its own
	call   caller
}

var providerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

func newProvider(ctx caddy.Context, config *Provider) (*provider, error) {
	if !providerName.MatchString(config.Name) {
		return nil, errors.New("the name must be 1 to 64 letters, digits, '.', '_' or '-'")
	}
	defaults, inProcess, err := config.loadPreset(ctx)
	if err != nil {
		return nil, err
	}
	p := &provider{name: config.Name, formats: config.Formats, known: defaults.Models}
	if err := p.setFormats(defaults); err != nil {
		return nil, err
	}
	if err := p.setModels(config); err != nil {
		return nil, err
	}
	if err := config.check(defaults, inProcess); err != nil {
		return nil, err
	}
	if p.traits, err = mergeTraits(translate.Traits{}, defaults.Traits, config.Traits); err != nil {
		return nil, err
	}
	if p.call, err = newCaller(ctx, config, defaults.BaseURL, inProcess); err != nil {
		return nil, err
	}
	return p, nil
}

// loadPreset loads the preset named in the configuration, else the one that
// has the provider's own name. It reports whether the preset answers itself.
func (config *Provider) loadPreset(ctx caddy.Context) (exchange.Defaults, bool, error) {
	if config.PresetRaw == nil {
		if _, err := caddy.GetModule("ai_gateway.providers." + config.Name); err != nil {
			return exchange.Defaults{}, false, fmt.Errorf("no preset is named '%s'; name one, for example openai_compatible", config.Name)
		}
		config.PresetRaw, _ = json.Marshal(map[string]string{"preset": config.Name})
	}
	upstream := config.Upstream // a copy: loading empties the raw field, which the transport needs as well
	mod, err := ctx.LoadModule(&upstream, "PresetRaw")
	if err != nil {
		return exchange.Defaults{}, false, fmt.Errorf("loading preset: %w", err)
	}
	_, inProcess := mod.(http.RoundTripper)
	return mod.(exchange.Preset).Defaults(), inProcess, nil
}

func (p *provider) setFormats(d exchange.Defaults) error {
	if len(p.formats) == 0 {
		p.formats = d.Formats
	}
	if len(p.formats) == 0 {
		return errors.New("needs a format")
	}
	for _, f := range p.formats {
		if !f.Valid() {
			return fmt.Errorf("unknown format '%s'", f)
		}
	}
	return nil
}

func (p *provider) setModels(config *Provider) error {
	p.hidden = config.DisableModels
	if p.hidden && len(config.Models) > 0 {
		return errors.New("models: there can be none beside disable_models")
	}
	for _, name := range config.Models {
		pattern, err := exchange.ParsePattern(name)
		if err != nil {
			return fmt.Errorf("models: %w", err)
		}
		p.models = append(p.models, pattern)
	}
	return nil
}

// check finds settings that could not work.
func (config *Provider) check(d exchange.Defaults, inProcess bool) error {
	switch config.StreamEnd {
	case "", exchange.StreamEndDone, exchange.StreamEndFinish:
	default:
		return fmt.Errorf("stream_end must be '%s' or '%s'", exchange.StreamEndDone, exchange.StreamEndFinish)
	}
	if err := config.Limits.Check(); err != nil {
		return err
	}
	switch {
	case d.KeyRequired && config.APIKey == "":
		return errors.New("needs an api_key")
	case inProcess && (config.BaseURL != "" || config.ReverseProxyRaw != nil || config.TransportRaw != nil):
		return errors.New("answers in-process: base_url, transport and the options of reverse_proxy have no effect")
	case !inProcess && config.BaseURL == "" && d.BaseURL == "" && config.ReverseProxyRaw == nil:
		return errors.New("needs an address: base_url or to")
	}
	return nil
}

// claims returns the claims of p on model names.
func (p *provider) claims() []claim {
	lead := func(pattern exchange.Pattern, class int, owner string) claim {
		fallback, _ := parseFallback(nil)
		m := &model{pattern: pattern, targets: []target{{provider: p, traits: &p.traits}}, fallback: fallback, attempts: 1}
		return claim{pattern, class, m, owner}
	}
	switch {
	case p.hidden:
		return nil
	case len(p.models) == 0:
		return []claim{lead("*", catchAll, fmt.Sprintf("provider '%s' without models", p.name))}
	}
	claims := make([]claim, 0, len(p.models))
	for _, pattern := range p.models {
		claims = append(claims, lead(pattern, providerModels, fmt.Sprintf("provider '%s' (models %s)", p.name, pattern)))
	}
	return claims
}
