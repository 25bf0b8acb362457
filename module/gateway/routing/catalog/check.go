package catalog

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/suggest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// CheckClaims returns an error if two providers or models claim the same names with equal
// rank. It needs no provisioned provider, so that the reader of a Caddyfile can add the line.
func CheckClaims(providers []*ProviderConfig, models []*ModelConfig) error {
	c := new(Catalog)
	for _, config := range providers {
		p := &Provider{Name: config.Name}
		if err := p.offer.setModels(config); err != nil {
			return err
		}
		c.Providers = append(c.Providers, p)
	}
	for _, config := range models {
		c.models = append(c.models, &Model{Pattern: aigateway.Pattern(config.Name)})
	}
	return c.rank()
}

// UnknownProvider returns the error for a name that no provider has. It contains the name
// that was probably meant.
func UnknownProvider(name string, known []string) error {
	if len(known) == 0 {
		return fmt.Errorf("unknown provider '%s': no provider is defined here", name)
	}
	return fmt.Errorf("unknown provider '%s'; %sknown are: %s", name, suggest.DidYouMean(name, known), strings.Join(known, ", "))
}

// Check returns an error for settings that have no effect or cannot work. d are the defaults
// of the preset, which may answer in-process.
func (config *ProviderConfig) Check(d aigateway.Defaults, inProcess bool) error {
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
	if err := config.Queue.Check(config.MaxRunning); err != nil {
		return err
	}
	switch {
	case config.FailRate > 100:
		return errors.New("fail_rate must be at most 100")
	case config.MaxRunning < 0:
		return errors.New("max_running must be at least 1")
	case config.Limit != nil && config.Limit.CheckOfCalls() != nil:
		return fmt.Errorf("limit: %w", config.Limit.CheckOfCalls())
	case d.KeyRequired && len(config.APIKeys) == 0:
		return errors.New("needs an api_key")
	case inProcess && (config.BaseURL != "" || config.ReverseProxyRaw != nil || config.TransportRaw != nil):
		return errors.New("answers in-process: base_url, transport and the options of reverse_proxy have no effect")
	case !inProcess && config.BaseURL == "" && d.BaseURL == "" && config.ReverseProxyRaw == nil:
		return errors.New("needs an address: base_url or to, or the word of a cloud's preset for it, such as resource")
	}
	return checkBaseURL(config.BaseURL)
}

// checkBaseURL returns an error for a base URL that ends with the path of an endpoint, which
// the documentation of many services shows. With such a URL, requests would go to
// /chat/completions/chat/completions, and clients would only see the provider's 404.
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
