package aigateway_test

import (
	"crypto/sha256"
	"fmt"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func init() {
	caddy.RegisterModule(OneKey{})
}

// OneKey is a source with a single key. In a Caddyfile:
//
//	keys one {env.GATEWAY_KEY}
type OneKey struct {
	// Secret is a reference to the key: {env.NAME} or {file./absolute/path}.
	Secret string `json:"secret"`

	key aigateway.Key
}

func (OneKey) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.keys.one",
		New: func() caddy.Module { return new(OneKey) },
	}
}

func (k *OneKey) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the name of the module
	if !d.AllArgs(&k.Secret) {
		return d.ArgErr()
	}
	return nil
}

func (k *OneKey) Provision(caddy.Context) error {
	secret, err := aigateway.ResolveSecret(k.Secret)
	if err != nil {
		return err
	}
	k.key = aigateway.Key{ID: "one", Digest: sha256.Sum256([]byte(secret))}
	return nil
}

func (k *OneKey) Lookup(digest aigateway.Digest) *aigateway.Key {
	if !k.key.Matches(digest) {
		return nil
	}
	return &k.key
}

func ExampleKeySource() {
	source := &OneKey{key: aigateway.Key{ID: "one", Digest: sha256.Sum256([]byte("sk-example"))}}
	fmt.Println(source.Lookup(sha256.Sum256([]byte("sk-example"))).ID)
	fmt.Println(source.Lookup(sha256.Sum256([]byte("sk-other"))))
	// Output:
	// one
	// <nil>
}
