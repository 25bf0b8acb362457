// Package guests are two modules of a third party, which knows nothing of the
// gateway but its interfaces: a provider preset that answers in-process, and a
// key source without any store. They are built into Caddy with xcaddy to show
// that the namespaces for guests are open.
package guests

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

func init() {
	caddy.RegisterModule(Parrot{})
	caddy.RegisterModule(Derived{})
}

// Parrot is a provider that speaks the chat format and repeats what it is told.
type Parrot struct {
	// Greeting comes before what is repeated. Default: none.
	Greeting string `json:"greeting,omitempty"`
}

// CaddyModule returns the Caddy module information.
func (Parrot) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.providers.parrot",
		New: func() caddy.Module { return new(Parrot) },
	}
}

// Defaults returns what the preset implies.
func (*Parrot) Defaults() aigateway.Defaults {
	return aigateway.Defaults{
		BaseURL: "http://parrot/v1",
		Formats: []translate.Format{translate.Chat},
		Traits:  map[string]string{"system_role": "developer"},
		Models:  []string{"polly"},
	}
}

// UnmarshalCaddyfile reads the preset's own word: greeting <text>.
func (p *Parrot) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	for d.Next() {
		if d.Val() != "greeting" || !d.AllArgs(&p.Greeting) {
			return d.Errf("a parrot knows one word: greeting <text>, not %s", d.Val())
		}
	}
	return nil
}

// RoundTrip answers a request in-process.
func (p *Parrot) RoundTrip(r *http.Request) (*http.Response, error) {
	defer r.Body.Close()
	var said struct {
		Model    string `json:"model"`
		Messages []struct {
			Content string `json:"content"`
		} `json:"messages"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&said); err != nil {
		return nil, fmt.Errorf("reading request: %w", err)
	}
	words := []string{p.Greeting}
	for _, message := range said.Messages {
		words = append(words, message.Content)
	}
	return answer(r, said.Model, strings.TrimSpace(strings.Join(words, " "))), nil
}

func answer(r *http.Request, model, text string) *http.Response {
	quoted, _ := json.Marshal(text) // a string
	body := fmt.Sprintf(`{"id":"parrot-1","object":"chat.completion","created":1,"model":%q,"choices":[{"index":0,`+
		`"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`, model, quoted)
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
	}
}

// Derived are keys that are made from one secret: that of a name is "sk-" and
// the HMAC-SHA-256 of the name in hexadecimal. Whoever has the secret can hand
// out keys without telling the gateway, as long as it knows the names.
type Derived struct {
	// Secret is a reference to the secret: {env.NAME} or {file./path}.
	Secret string `json:"secret"`
	// Names are the names that have a key.
	Names []string `json:"names"`

	keys map[aigateway.Digest]*aigateway.Key
}

// CaddyModule returns the Caddy module information.
func (Derived) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.keys.derived",
		New: func() caddy.Module { return new(Derived) },
	}
}

// Provision makes the keys.
func (k *Derived) Provision(caddy.Context) error {
	secret, err := aigateway.ResolveSecret(k.Secret)
	if err != nil {
		return err
	}
	k.keys = make(map[aigateway.Digest]*aigateway.Key, len(k.Names))
	for _, name := range k.Names {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(name))
		digest := sha256.Sum256([]byte("sk-" + hex.EncodeToString(mac.Sum(nil))))
		k.keys[digest] = &aigateway.Key{ID: name, Digest: digest}
	}
	return nil
}

// Lookup returns the key with this digest, nil when there is none.
func (k *Derived) Lookup(digest aigateway.Digest) *aigateway.Key { return k.keys[digest] }

// UnmarshalCaddyfile reads: derived <secret reference> <name...>.
func (k *Derived) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the source's name
	if !d.Args(&k.Secret) {
		return d.ArgErr()
	}
	k.Names = d.RemainingArgs()
	return nil
}

// Interface guards
var (
	_ aigateway.Preset      = (*Parrot)(nil)
	_ http.RoundTripper     = (*Parrot)(nil)
	_ caddyfile.Unmarshaler = (*Parrot)(nil)
	_ aigateway.KeySource   = (*Derived)(nil)
	_ caddy.Provisioner     = (*Derived)(nil)
	_ caddyfile.Unmarshaler = (*Derived)(nil)
)
