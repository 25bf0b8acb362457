package caddyfile

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/suggest"
)

// proxyWords are the words of reverse_proxy that are allowed in the block of a
// provider, with the same meaning. The value is true if a word may be repeated.
var proxyWords = map[string]bool{
	"to": true, "dynamic": false,

	"lb_policy": false, "lb_retries": false, "lb_try_duration": false,
	"lb_try_interval": false, "lb_retry_match": true,

	"health_uri": false, "health_upstream": false, "health_port": false,
	"health_interval": false, "health_passes": false, "health_fails": false,
	"health_timeout": false, "health_status": false, "health_body": false,
	"health_method": false, "health_request_body": false,
	"health_follow_redirects": false, "health_headers": false,

	"fail_duration": false, "max_fails": false, "unhealthy_status": true,
	"unhealthy_latency": false, "unhealthy_request_count": false,

	"header_up": true, "transport": false,
}

const (
	ownRequest = "the gateway itself writes the request to the provider"
	ownAnswer  = "the gateway itself reads the answer of the provider and writes that of the client"
	ownStream  = "the gateway forwards each event at once, and ends silent streams after idle_timeout"
)

// refusedWords are the words of reverse_proxy that are not allowed, with the reasons.
var refusedWords = map[string]string{
	"rewrite":          ownRequest,
	"method":           ownRequest,
	"trusted_proxies":  "addresses of clients are not sent to providers",
	"request_buffers":  "the gateway has the whole request before it calls a provider",
	"response_buffers": ownStream, "flush_interval": ownStream,
	"stream_buffer_size": ownStream, "stream_timeout": ownStream, "stream_close_delay": ownStream,
	"handle_response": ownAnswer, "replace_status": ownAnswer, "copy_response": ownAnswer,
	"copy_response_headers": ownAnswer, "header_down": ownAnswer,
	"proxy_status_name": ownAnswer,
	"verbose_logs":      "the gateway itself logs its attempts",
	"health_path":       "it is deprecated; use health_uri",
}

// withProxyWords adds the words of reverse_proxy to those of a provider.
func withProxyWords(own words[*provider]) words[*provider] {
	for name, repeat := range proxyWords {
		own[name] = word[*provider]{read: keepForProxy, repeat: repeat}
	}
	for name, reason := range refusedWords {
		own[name] = word[*provider]{hidden: true, read: func(d *cf.Dispenser, _ *provider) error {
			return d.Errf("%s of reverse_proxy cannot be used in a provider: %s", name, reason)
		}}
	}
	return own
}

// keepForProxy stores a segment for reverse_proxy.
func keepForProxy(d *cf.Dispenser, p *provider) error {
	copied := *d
	segment := d.NextSegment()
	if err := checkNoCredential(&copied, segment); err != nil {
		return err
	}
	if err := checkPolicy(&copied, segment); err != nil {
		return err
	}
	p.proxyTokens = append(p.proxyTokens, segment...)
	return nil
}

const policies = "http.reverse_proxy.selection_policies"

// checkPolicy refuses an unknown selection policy: the error of reverse_proxy would name no
// known one.
func checkPolicy(d *cf.Dispenser, segment []cf.Token) error {
	if d.Val() != "lb_policy" || len(segment) < 2 {
		return nil
	}
	known, name := moduleNames(policies), segment[1].Text
	if slices.Contains(known, name) {
		return nil
	}
	return d.Errf("lb_policy has no policy '%s'; %sknown are: %s", name, suggest.DidYouMean(name, known), strings.Join(known, ", "))
}

var (
	userInfo          = regexp.MustCompile(`://[^/{}]+@`)
	credentialHeaders = []string{"Authorization", "Proxy-Authorization", "X-Api-Key", "Api-Key", "Cookie"}
)

// checkNoCredential refuses user information in addresses, and headers with credentials,
// because the adapted configuration would contain these secrets.
func checkNoCredential(d *cf.Dispenser, segment []cf.Token) error {
	for _, token := range segment {
		if userInfo.MatchString(token.Text) {
			return d.Errf("%s: an address must not contain credentials, because the configuration would show them", d.Val())
		}
	}
	if d.Val() != "header_up" && d.Val() != "health_headers" {
		return nil
	}
	for _, token := range segment[1:] {
		name := http.CanonicalHeaderKey(trimOperator(token.Text))
		if slices.Contains(credentialHeaders, name) {
			return d.Errf("%s must not contain the header %s: api_key sends the credential, also in health checks", d.Val(), name)
		}
	}
	return nil
}

// trimOperator removes the operator of header_up from the name of a header.
func trimOperator(name string) string {
	if name != "" && (name[0] == '+' || name[0] == '-' || name[0] == '?' || name[0] == '>') {
		return name[1:]
	}
	return name
}

// finishProxy passes the stored segments to reverse_proxy, and separates the transport
// from the rest of the resulting configuration.
func (p *provider) finishProxy(line *cf.Dispenser, last cf.Token) error {
	rp := new(reverseproxy.Handler)
	if len(p.proxyTokens) > 0 {
		if err := rp.UnmarshalCaddyfile(p.proxyBlock(last)); err != nil {
			return err
		}
	}
	p.config.TransportRaw, rp.TransportRaw = rp.TransportRaw, nil
	if onlyTransport := string(caddyconfig.JSON(rp, nil)) == "{}"; !onlyTransport {
		p.config.ReverseProxyRaw = caddyconfig.JSONModuleObject(rp, "handler", "reverse_proxy", nil)
	}
	if err := p.setConnectTimeout(line); err != nil {
		return err
	}
	return p.setAddress(line, len(rp.Upstreams) > 0 || rp.DynamicUpstreamsRaw != nil)
}

// proxyBlock returns the stored segments as the block of a reverse_proxy directive.
func (p *provider) proxyBlock(last cf.Token) *cf.Dispenser {
	first := p.proxyTokens[0]
	head := func(text string) cf.Token {
		return cf.Token{File: first.File, Line: first.Line - 1, Text: text}
	}
	tokens := append([]cf.Token{head("reverse_proxy"), head("{")}, p.proxyTokens...)
	return cf.NewDispenser(append(tokens, last))
}

// setConnectTimeout sets connect_timeout in the configuration of the http transport.
func (p *provider) setConnectTimeout(line *cf.Dispenser) error {
	if p.connectTimeout == 0 {
		return nil
	}
	fields := map[string]any{"protocol": "http"}
	if p.config.TransportRaw != nil {
		if err := json.Unmarshal(p.config.TransportRaw, &fields); err != nil {
			return line.WrapErr(err)
		}
	}
	if fields["protocol"] != "http" || fields["dial_timeout"] != nil {
		return line.Errf("provider '%s': connect_timeout sets dial_timeout of the http transport, but the provider has another transport or sets dial_timeout itself", p.config.Name)
	}
	fields["dial_timeout"] = p.connectTimeout
	p.config.TransportRaw = caddyconfig.JSON(fields, nil)
	return nil
}

// setAddress sets base_url if reverse_proxy has the addresses of the provider. In this
// case, base_url in the configuration is only a path. The host of the complete URL is the
// name of the provider, which is never resolved.
func (p *provider) setAddress(line *cf.Dispenser, addressed bool) error {
	switch {
	case !addressed && p.path != "":
		return line.Errf("provider '%s': base_url is only a path, so the provider needs to or dynamic", p.config.Name)
	case !addressed:
		return nil
	case p.config.BaseURL != "":
		return line.Errf("provider '%s': with to or dynamic, base_url must be only a path", p.config.Name)
	}
	scheme := "http"
	if p.encrypted() {
		scheme = "https"
	}
	p.config.BaseURL = scheme + "://" + p.config.Name + p.path
	return nil
}

// encrypted reports whether the transport uses TLS.
func (p *provider) encrypted() bool {
	var transport struct {
		TLS json.RawMessage `json:"tls"`
	}
	return json.Unmarshal(p.config.TransportRaw, &transport) == nil && transport.TLS != nil
}
