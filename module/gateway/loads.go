package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/state"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/version"
)

// recordLoads makes the stores record the start of this configuration in their audit logs.
func (a *app) recordLoads() {
	for _, same := range a.byDatabase() {
		for _, set := range same {
			useAudit(set)
		}
		log, ok := same[0].Store.(aigateway.AuditLog)
		if !ok {
			continue
		}
		host, _ := os.Hostname() // "" if the machine has no name
		ctx := aigateway.WithActor(a.ctx, aigateway.Actor{Name: aigateway.ActorConfig + host})
		load := load{ctx, same[0].Store, log, a.parts(same), a.logger}
		if !load.record() {
			go load.retry()
		}
	}
}

// useAudit sets the options of the audit log of the backends.
func useAudit(set *backends.Set) {
	log, ok := set.Store.(aigateway.AuditLog)
	if !ok {
		return
	}
	var options aigateway.AuditOptions
	if accounts, ok := set.Accounts.(aigateway.AuditAccounts); ok {
		options = accounts.AuditOptions()
	}
	log.UseAudit(options)
}

// byDatabase returns the backends with a store, those with the same database together.
func (a *app) byDatabase() (groups [][]*backends.Set) {
	index := make(map[any]int)
	for _, set := range a.serving {
		if set.Store == nil {
			continue
		}
		var database any = set.Store
		if named, ok := set.Store.(aigateway.StoreIdentity); ok {
			database = named.Identity()
		}
		i, known := index[database]
		if !known {
			i, groups = len(groups), append(groups, nil)
			index[database] = i
		}
		groups[i] = append(groups[i], set)
	}
	return groups
}

// load is the start of a configuration, which a store has to record.
type load struct {
	ctx    context.Context // ends with the configuration
	store  aigateway.Store
	log    aigateway.AuditLog
	parts  map[string]string
	logger *zap.Logger
}

// retryLoad is the time between two attempts to record a load.
const retryLoad = time.Second

// retry records the load when the store is available.
func (l load) retry() {
	again := time.NewTicker(retryLoad)
	defer again.Stop()
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-again.C:
		}
		if l.record() {
			return
		}
	}
}

// record reports whether nothing is left to do. A store that cannot be reached keeps no
// configuration from starting.
func (l load) record() bool {
	if !l.store.Complete() {
		return false
	}
	err := l.log.AuditLoad(l.ctx, l.parts)
	if err != nil && !errors.Is(err, context.Canceled) {
		l.logger.Error("recording the start of the configuration", zap.Error(err))
	}
	return !errors.Is(err, aigateway.ErrUnavailable) && !errors.Is(err, aigateway.ErrBusy)
}

// parts returns digests of the parts of the configuration with one of the sets of backends, by
// their names. The part configuration is all of it, but for the contents of files.
func (a *app) parts(sets []*backends.Set) map[string]string {
	contents := make(map[string][]string)
	add := func(name string, part any) {
		text, _ := json.Marshal(part) // the parts always encode
		contents[name] = append(contents[name], string(text))
	}
	c := state.NewConfiguration(version.Running())
	c.Add(a.config.blocks())
	add("configuration", a.resolved.digest)
	for _, site := range a.sites {
		if !slices.Contains(sets, site.backends) {
			continue
		}
		c.Add(site.config.blocks())
		add("configuration", site.resolved.digest)
		for key := range site.resolved.sources.All() {
			add("key "+key.ID, []any{state.KeyOf(key, nil), key.Digest})
		}
	}
	for i := range c.Providers {
		add("provider "+c.Providers[i].Name, c.Providers[i])
	}
	for i := range c.Models {
		add("model "+c.Models[i].Name, c.Models[i])
	}
	for i := range c.Limits {
		add("limit "+c.Limits[i].Name, c.Limits[i])
	}
	digests := make(map[string]string, len(contents))
	for name, parts := range contents {
		slices.Sort(parts) // the order of sites differs between loads
		digests[name] = aigateway.ShortDigest(sha256.Sum256([]byte(strings.Join(slices.Compact(parts), "\n"))))
	}
	return digests
}
