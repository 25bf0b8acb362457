package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/modellist"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/upstream"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
)

// provider is a provisioned Provider.
type provider struct {
	name     string
	identity modellist.Identity // of the service, without a format
	formats  []*format.Descriptor
	serves   []aigateway.Pattern // the names that it serves without a model block; none: all that are not claimed otherwise
	hidden   bool                // it serves nothing without a model block
	known    []modelcard.Card    // models its preset is known for, sorted by id
	list     *modellist.List     // its own list of models; nil if it is not asked for one

	uncounted meter.Uncounted // models whose tokens it does not count

	traits layers // of its preset and its own
	whole  target // leads to the model that the client names
	call   upstream.Caller

	pricing pricing
}

// newProvider provisions a provider. Its list of models is one of lists.
func newProvider(ctx caddy.Context, config *Provider, lists *modellist.Lists) (*provider, error) {
	if err := aigateway.CheckProviderName(config.Name); err != nil {
		return nil, err
	}
	defaults, inProcess, err := config.loadPreset(ctx)
	if err != nil {
		return nil, err
	}
	p := &provider{
		name: config.Name, identity: config.listIdentity(nil), known: modellist.Named(defaults.Models),
		traits: layers{defaults.Traits, defaults.ModelTraits, config.Traits},
	}
	if err := p.configure(config, defaults, inProcess); err != nil {
		return nil, err
	}
	if p.call, err = config.loadCaller(ctx, defaults.BaseURL, inProcess); err != nil {
		return nil, err
	}
	if config.asksForModels(defaults) {
		p.list = lists.Load(config.listIdentity(p.formats[0]), modellist.Source{
			Name: p.name, Traits: p.whole.traits, Caller: p.call, Logger: ctx.Logger(),
		})
	}
	return p, nil
}

// configure sets formats, models and traits, and refuses settings that could not work.
func (p *provider) configure(config *Provider, d aigateway.Defaults, inProcess bool) (err error) {
	if err := p.setFormats(config.Formats, d.Formats); err != nil {
		return err
	}
	if err := p.setModels(config); err != nil {
		return err
	}
	if err := config.check(d, inProcess); err != nil {
		return err
	}
	if p.pricing, err = newPricing(config); err != nil {
		return err
	}
	p.whole, err = p.target("")
	return err
}

// loadCaller loads the way to the provider, whose preset has the address standard.
func (config *Provider) loadCaller(ctx caddy.Context, standard string, inProcess bool) (upstream.Caller, error) {
	called := config.Upstream
	called.BaseURL = cmp.Or(called.BaseURL, standard)
	return upstream.Load(ctx, called, config.ReverseProxyRaw, inProcess)
}

// models returns the models that p is known to serve, sorted by id: its own list,
// else the models of its preset.
func (p *provider) models() []modelcard.Card {
	if p.list == nil {
		return p.known
	}
	return p.list.Models()
}

// awaitModels waits until the lists of the providers are fresh, if they have one.
func awaitModels(ctx context.Context, providers ...*provider) {
	var lists []*modellist.List
	for _, p := range providers {
		if p.list != nil {
			lists = append(lists, p.list)
		}
	}
	modellist.Await(ctx, lists...)
}

// asksForModels reports whether the provider is asked for its list of models.
func (config *Provider) asksForModels(d aigateway.Defaults) bool {
	return config.ModelList == ModelListAuto || config.ModelList == "" && d.ListsModels && !config.DisableModels
}

// listIdentity returns the identity of the list of models that is asked for in a
// format.
func (config *Provider) listIdentity(f *format.Descriptor) modellist.Identity {
	id := modellist.Identity{
		Format: f, BaseURL: config.BaseURL,
		Preset: string(config.PresetRaw), Transport: string(config.TransportRaw), Proxy: string(config.ReverseProxyRaw),
	}
	if len(config.APIKeys) > 0 {
		id.APIKey = config.APIKeys[0]
	}
	return id
}

// loadPreset loads the preset that is configured, else the one with the name of the
// provider. It reports whether the preset answers in-process.
func (config *Provider) loadPreset(ctx caddy.Context) (aigateway.Defaults, bool, error) {
	if config.PresetRaw == nil {
		if _, err := caddy.GetModule("ai_gateway.providers." + config.Name); err != nil {
			return aigateway.Defaults{}, false, fmt.Errorf("no preset is named '%s'; name one, for example openai_compatible", config.Name)
		}
		config.PresetRaw, _ = json.Marshal(map[string]string{"preset": config.Name})
	}
	own := config.Upstream // a copy: loading empties the raw field, which the transport needs as well
	mod, err := ctx.LoadModule(&own, "PresetRaw")
	if err != nil {
		return aigateway.Defaults{}, false, fmt.Errorf("loading preset: %w", err)
	}
	_, inProcess := mod.(http.RoundTripper)
	return mod.(aigateway.Preset).Defaults(), inProcess, nil
}

// setFormats sets the formats that are configured, else those of the preset.
func (p *provider) setFormats(configured, standard []translate.Format) error {
	names := configured
	if len(names) == 0 {
		names = standard
	}
	if len(names) == 0 {
		return errors.New("needs a format")
	}
	for _, name := range names {
		f := formats.Of(name)
		if f == nil {
			return fmt.Errorf("unknown format '%s'", name)
		}
		p.formats = append(p.formats, f)
	}
	return nil
}

// setModels sets the names that p serves without a model block.
func (p *provider) setModels(config *Provider) error {
	p.hidden = config.DisableModels
	switch {
	case p.hidden && len(config.Models) > 0:
		return errors.New("models: there can be none beside disable_models")
	case p.hidden && config.ModelList == ModelListAuto:
		return errors.New("model_list: nothing is listed beside disable_models")
	}
	for _, name := range config.Models {
		pattern, err := aigateway.ParsePattern(name)
		if err != nil {
			return fmt.Errorf("models: %w", err)
		}
		p.serves = append(p.serves, pattern)
	}
	return nil
}

// check refuses settings that have no effect, or could not work.
func (config *Provider) check(d aigateway.Defaults, inProcess bool) error {
	switch config.StreamEnd {
	case "", aigateway.StreamEndDone, aigateway.StreamEndFinish:
	default:
		return fmt.Errorf("stream_end must be '%s' or '%s'", aigateway.StreamEndDone, aigateway.StreamEndFinish)
	}
	switch config.ModelList {
	case "", ModelListAuto, ModelListStatic:
	default:
		return fmt.Errorf("model_list must be '%s' or '%s'", ModelListAuto, ModelListStatic)
	}
	if err := config.AnswerBounds.Check(); err != nil {
		return err
	}
	switch {
	case d.KeyRequired && len(config.APIKeys) == 0:
		return errors.New("needs an api_key")
	case inProcess && (config.BaseURL != "" || config.ReverseProxyRaw != nil || config.TransportRaw != nil):
		return errors.New("answers in-process: base_url, transport and the options of reverse_proxy have no effect")
	case !inProcess && config.BaseURL == "" && d.BaseURL == "" && config.ReverseProxyRaw == nil:
		return errors.New("needs an address: base_url or to")
	}
	return checkBaseURL(config.BaseURL)
}

// checkBaseURL refuses a base URL that ends with the path of an endpoint, as the
// documentation of many services shows it: the provider would be asked for
// /chat/completions/chat/completions, and clients would see only its 404.
func checkBaseURL(base string) error {
	u, err := url.Parse(base)
	if err != nil {
		return nil // the transport has a better error
	}
	for _, f := range formats.All() {
		for _, e := range f.Client.Endpoints {
			path := strings.TrimPrefix(e.Path, "/v1")
			if strings.HasSuffix(strings.TrimRight(u.Path, "/"), path) {
				return fmt.Errorf("base_url: must end before %s, which the gateway appends", path)
			}
		}
	}
	return nil
}

// claims returns the claims of p on model names.
func (p *provider) claims() []claim {
	lead := func(pattern aigateway.Pattern, class int, owner string) claim {
		fallback, _ := parseFallback(nil)
		m := &model{pattern: pattern, targets: []target{p.whole}, fallback: fallback, attempts: 1}
		return claim{pattern, class, m, owner}
	}
	switch {
	case p.hidden:
		return nil
	case len(p.serves) == 0:
		return []claim{lead("*", catchAll, fmt.Sprintf("provider '%s' without models", p.name))}
	}
	claims := make([]claim, 0, len(p.serves))
	for _, pattern := range p.serves {
		claims = append(claims, lead(pattern, providerModels, fmt.Sprintf("provider '%s' (models %s)", p.name, pattern)))
	}
	return claims
}
