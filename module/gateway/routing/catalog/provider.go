package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog/modellist"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog/tables"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/queue"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
)

// Provider is a provisioned ProviderConfig.
type Provider struct {
	Name     string
	Preset   string             // name of its preset
	Service  string             // identity of the service; several names may have the same
	Identity modellist.Identity // of the service, without a format
	Formats  []*format.Descriptor
	APIKeys  []string // references to its API keys; a single "" if there are none
	Caller   exchange.Caller
	pooled   bool // reverse_proxy chooses its address
	Calls    Calls

	offer  offer
	traits layers // of its preset, and its own
	listed listed
}

// Calls are the bounds of the calls of a provider, and what earlier calls have shown.
type Calls struct {
	Rests      health.Rules
	MaxRunning int              // largest number of running calls, 0 for no bound
	Retries    health.Budget    // for repeated calls
	Uncounted  health.Uncounted // models whose tokens it does not count
	Queue      *queue.Config    // nil for none
	limit      *aigateway.Limit // nil for none
}

// offer is the set of models that a provider serves.
type offer struct {
	serves []aigateway.Pattern // the names that it serves without a model block; none: all that are not claimed otherwise
	hidden bool                // it serves only targets of model blocks
	known  []modelcard.Card    // the models of its preset, sorted by id
	list   *modellist.List     // its own list of models; nil if the list is not read
	whole  Target              // the target for the model name that the client uses
	spoken []modelFormats      // the formats of the preset by models; none if the formats are configured

	address func(*aigateway.Call) error // of the protocol of its preset; nil if calls are those of the format
}

// newProvider provisions a provider. It loads its list of models and its caller from shared.
func newProvider(ctx caddy.Context, config *ProviderConfig, shared Shared, known *tables.Tables) (*Provider, error) {
	if err := aigateway.CheckProviderName(config.Name); err != nil {
		return nil, err
	}
	defaults, inProcess, err := config.loadPreset(ctx)
	if err != nil {
		return nil, err
	}
	p := &Provider{
		Name: config.Name, Preset: config.PresetName(), Identity: config.listIdentity(nil),
		traits:  layers{presetTraits(defaults, config.BaseURL), defaults.ModelTraits, config.Traits},
		Service: config.service(), APIKeys: config.APIKeys, pooled: config.ReverseProxyRaw != nil,
	}
	if p.listed, err = newListed(config, defaults, known); err != nil {
		return nil, err
	}
	p.offer.known, p.offer.address = modellist.Named(defaults.Models), defaults.Protocol.Address
	p.Calls = Calls{
		Rests:      health.Rules{First: time.Duration(config.Cooldown), FailRate: config.FailRate},
		MaxRunning: config.MaxRunning, Queue: config.Queue, limit: aigateway.ProviderLimit(p.Name, config.Limit),
	}
	if len(p.APIKeys) == 0 {
		p.APIKeys = []string{""}
	}
	if err := p.configure(config, defaults, inProcess); err != nil {
		return nil, err
	}
	called := config.Upstream
	called.BaseURL = cmp.Or(called.BaseURL, defaults.BaseURL)
	if p.Caller, err = shared.LoadCaller(p.withCredentials(ctx), called, config.ReverseProxyRaw, inProcess); err != nil {
		return nil, err
	}
	if config.asksForModels(defaults) {
		p.offer.list = shared.Lists.Load(config.listIdentity(p.Formats[0]), modellist.Source{
			Name: p.Name, Traits: p.offer.whole.Traits, Caller: p.Caller, Logger: ctx.Logger(), Loaded: defaults.Protocol.LoadedModels,
		})
	}
	return p, nil
}

// QueueName is the name of the queue in front of the provider. Providers with the same service and
// different names have bounds of their own.
func (p *Provider) QueueName() string { return p.Name + " " + p.Service }

// configure sets formats, models and traits. It returns an error for settings that cannot
// work.
func (p *Provider) configure(config *ProviderConfig, d aigateway.Defaults, inProcess bool) (err error) {
	if err := p.setFormats(config.Formats, d); err != nil {
		return err
	}
	if err := p.offer.setModels(config); err != nil {
		return err
	}
	if err := config.Check(d, inProcess); err != nil {
		return err
	}
	p.offer.whole, err = p.target("")
	return err
}

// withCredentials returns a context in which a transport of the provider is loaded. If an API
// key changes, its rest ends: it may have begun with a refusal of the old value.
func (p *Provider) withCredentials(ctx caddy.Context) caddy.Context {
	return ctx.WithValue(exchange.CredentialsKey(), exchange.Credentials{
		Provider: p.Name,
		Changed:  func(reference string) { health.Process.EndRest(p.Service, reference) },
	})
}

// asksForModels reports whether the gateway reads the provider's list of models.
func (config *ProviderConfig) asksForModels(d aigateway.Defaults) bool {
	return config.ModelList == ModelListAuto || config.ModelList == "" && d.ListsModels && !config.DisableModels
}

// listIdentity returns the identity of the list of models that is read in a format.
func (config *ProviderConfig) listIdentity(f *format.Descriptor) modellist.Identity {
	id := modellist.Identity{
		Format: f, BaseURL: config.BaseURL,
		Preset: string(config.PresetRaw), Transport: string(config.TransportRaw), Proxy: string(config.ReverseProxyRaw),
	}
	if len(config.APIKeys) > 0 {
		id.APIKey = config.APIKeys[0]
	}
	return id
}

// service returns the identity of the service: a hash of its address, preset, transport and
// options of reverse_proxy.
func (config *ProviderConfig) service() string {
	own := []json.RawMessage{config.PresetRaw, config.TransportRaw, config.ReverseProxyRaw}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", config.BaseURL, own))
	return hex.EncodeToString(sum[:8])
}

// loadPreset loads the configured preset, else the one with the name of the provider. It
// reports whether the preset answers in-process.
func (config *ProviderConfig) loadPreset(ctx caddy.Context) (aigateway.Defaults, bool, error) {
	if config.PresetRaw == nil {
		if _, err := caddy.GetModule("ai_gateway.providers." + config.Name); err != nil {
			return aigateway.Defaults{}, false, fmt.Errorf("no preset is named '%s'; name one, for example openai_compatible", config.Name)
		}
		config.PresetRaw, _ = json.Marshal(map[string]string{"preset": config.Name})
	}
	own := config.Upstream // a copy: loading empties the raw field, which the transport needs, too
	mod, err := ctx.LoadModule(&own, "PresetRaw")
	if err != nil {
		return aigateway.Defaults{}, false, fmt.Errorf("loading preset: %w", err)
	}
	_, inProcess := mod.(http.RoundTripper)
	return mod.(aigateway.Preset).Defaults(), inProcess, nil
}

// setFormats sets the configured formats, else those of the preset.
func (p *Provider) setFormats(configured []translate.Format, d aigateway.Defaults) (err error) {
	if len(configured) > 0 {
		p.Formats, err = formatsOf(configured)
		return err
	}
	for _, row := range d.ModelFormats {
		known, err := formatsOf(row.Formats)
		if err != nil {
			return err
		}
		p.offer.spoken = append(p.offer.spoken, modelFormats{row.Pattern, formatsAt(known)})
	}
	if p.Formats, err = formatsOf(d.Formats); err == nil {
		p.offer.spoken = append(p.offer.spoken, modelFormats{"*", formatsAt(p.Formats)})
	}
	return err
}

// formatsOf returns the formats with the names, of which at least one is needed.
func formatsOf(names []translate.Format) (known []*format.Descriptor, err error) {
	for _, name := range names {
		f := formats.Of(name)
		if f == nil {
			return nil, fmt.Errorf("unknown format '%s'", name)
		}
		known = append(known, f)
	}
	if known == nil {
		return nil, errors.New("needs a format")
	}
	return known, nil
}

// setModels sets the names that are served without a model block.
func (o *offer) setModels(config *ProviderConfig) error {
	o.hidden = config.DisableModels
	switch {
	case o.hidden && len(config.Models) > 0:
		return errors.New("models: there can be none beside disable_models")
	case o.hidden && config.ModelList == ModelListAuto:
		return errors.New("model_list: nothing is listed beside disable_models")
	}
	for _, name := range config.Models {
		pattern, err := aigateway.ParsePattern(name)
		if err != nil {
			return fmt.Errorf("models: %w", err)
		}
		o.serves = append(o.serves, pattern)
	}
	return nil
}
