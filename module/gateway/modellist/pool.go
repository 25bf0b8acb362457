package modellist

import (
	"errors"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// Identity identifies a list of models. Providers share one if they are called at
// the same address, in the same way, with the same credential. It holds references
// to secrets, never secrets.
type Identity struct {
	Format                   *format.Descriptor // whose endpoint is asked
	APIKey, BaseURL          string             // of the configuration
	Preset, Transport, Proxy string             // of the configuration, as JSON
}

// pool keeps lists from one configuration to the next.
var pool = caddy.NewUsagePool()

// Lists are the lists that one configuration uses. The zero value is empty.
type Lists struct{ used []Identity }

// Load returns the list with this identity, which an earlier configuration or
// another provider may have read already.
func (l *Lists) Load(id Identity, from Source) *List {
	shared, _ := pool.LoadOrStore(id, new(cache))
	l.used = append(l.used, id)
	return &List{Source: from, format: id.Format, cache: shared.(*cache)}
}

// Release gives back what Load returned. Requests in flight may still use it.
func (l *Lists) Release() error {
	var errs []error
	for _, id := range l.used {
		_, err := pool.Delete(id)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
