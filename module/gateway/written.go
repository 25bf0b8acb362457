package gateway

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/written"
)

// Digest returns the digest of a configuration whose modules are not loaded yet, apart from the lines
// that it was written with. Caddy sorts the members of what it loads, so the order does not count.
func (c *Config) Digest() string {
	own, members := *c, any(nil)
	own.Written = nil
	text, _ := json.Marshal(own) // a configuration always encodes
	_ = json.Unmarshal(text, &members)
	text, _ = json.Marshal(members)
	return aigateway.ShortDigest(sha256.Sum256(text))
}

// dropStale drops the lines of a configuration that has been changed since it was adapted.
func (c *Config) dropStale() {
	if c.Written != nil && c.Written.Digest != c.Digest() {
		c.Written = new(written.Caddyfile)
	}
}

// modules matches the names of modules with which Caddy begins the error of a module.
var modules = regexp.MustCompile(`(position \d+: |loading module '[^']*': |provision [a-z][a-z0-9_.]*: |[a-z][a-z0-9_]*\.[a-z0-9_.]+: invalid configuration: )+`)

// placed returns an error of loading with the place of its cause in the Caddyfile. It logs the place
// and the error first, because Caddy puts the names of all modules around it in front.
func (c *Config) placed(logger *zap.Logger, err error) error {
	if err == nil || c.Written == nil || len(c.Written.Lines) == 0 {
		return err
	}
	message := modules.ReplaceAllString(err.Error(), "")
	place := c.Written.Place(message)
	logger.Error(place + ": " + message)
	return fmt.Errorf("%w, at %s", err, place)
}
