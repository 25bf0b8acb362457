package catalog

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// check returns an error for settings that have no effect or cannot work.
func (config *ProviderConfig) check(d aigateway.Defaults, inProcess bool) error {
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
	case config.MaxRunning < 0:
		return errors.New("max_running must be at least 1")
	case d.KeyRequired && len(config.APIKeys) == 0:
		return errors.New("needs an api_key")
	case inProcess && (config.BaseURL != "" || config.ReverseProxyRaw != nil || config.TransportRaw != nil):
		return errors.New("answers in-process: base_url, transport and the options of reverse_proxy have no effect")
	case !inProcess && config.BaseURL == "" && d.BaseURL == "" && config.ReverseProxyRaw == nil:
		return errors.New("needs an address: base_url or to")
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
