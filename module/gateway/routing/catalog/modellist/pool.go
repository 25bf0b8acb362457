package modellist

import (
	"errors"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// Identity identifies a list of models. Providers with the same address, transport and
// credential share a list. An Identity contains references to secrets, never secrets.
type Identity struct {
	Format                   *format.Descriptor // the format whose endpoint is asked
	APIKey, BaseURL          string             // as configured
	Preset, Transport, Proxy string             // as configured, in JSON
}

// pool keeps lists across reloads.
var pool = caddy.NewUsagePool()

// Lists are the lists that one configuration uses. The zero value is empty.
type Lists struct{ used []Identity }

// Load returns the list with an identity. Another provider or an earlier configuration may
// have read it already.
func (l *Lists) Load(id Identity, source Source) *List {
	shared, _ := pool.LoadOrStore(id, new(cache))
	l.used = append(l.used, id)
	return &List{Source: source, format: id.Format, cache: shared.(*cache)}
}

// Release releases the lists that Load has returned. Running requests may still use them.
func (l *Lists) Release() error {
	var errs []error
	for _, id := range l.used {
		_, err := pool.Delete(id)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
