// Package sealkeys loads the keys that seal reasoning and ids of stored objects: the configured ones, else one in
// Caddy's storage, which the machines of a cluster share. It creates the stored key only
// when it is needed.
package sealkeys

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/secrets"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// keyName is the name of the key in Caddy's storage.
const keyName = "ai_gateway/seal.key"

// storage has the methods of Caddy's storage that this package uses.
type storage interface {
	Lock(ctx context.Context, name string) error
	Unlock(ctx context.Context, name string) error
	Load(ctx context.Context, key string) ([]byte, error)
	Store(ctx context.Context, key string, value []byte) error
}

// patience is the longest time for which a request waits for the storage.
const patience = 5 * time.Second

// Load returns a function that returns the keys. references are references to secrets,
// whose files are followed until ctx ends.
// Without references, the first call of the function reads or creates the key in Caddy's
// storage: validating a configuration must not create it.
func Load(ctx caddy.Context, references []string) (func() *seal.Ring, error) {
	if len(references) == 0 {
		return sync.OnceValue(func() *seal.Ring { return storedRing(ctx.Storage(), ctx.Logger()) }), nil
	}
	r := &ring{keys: make([][]byte, len(references))}
	for i, reference := range references {
		accept := func(key aigateway.Secret) error { return r.set(i, []byte(key)) }
		if err := secrets.Follow(ctx, reference, ctx.Logger().With(zap.String("word", "seal_keys")), accept); err != nil {
			return nil, fmt.Errorf("seal_keys: %w", err)
		}
	}
	return r.current.Load, nil
}

// ring is a ring of configured keys, which change with their files.
type ring struct {
	current atomic.Pointer[seal.Ring] // of all keys that are set

	mu   sync.Mutex // guards keys
	keys [][]byte   // nil until they are set, in the order of their references
}

// set replaces the key with an index.
func (r *ring) set(index int, key []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	keys := slices.Clone(r.keys)
	keys[index] = key
	known := slices.DeleteFunc(slices.Clone(keys), func(key []byte) bool { return key == nil })
	changed, err := seal.NewRing(known[0], known[1:]...)
	if err != nil {
		return err
	}
	r.keys = keys
	r.current.Store(changed)
	return nil
}

// storedRing returns the key in a storage. If the storage fails, it returns a temporary
// key, which is lost when the configuration is loaded again.
func storedRing(storage storage, logger *zap.Logger) *seal.Ring {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	key, err := storedKey(ctx, storage)
	if err != nil {
		logger.Warn("reading or storing the key of seals failed; after the next reload, the reasoning of earlier answers is left out of requests, and sealed ids are not found", zap.Error(err))
		key = newKey()
	}
	ring, _ := seal.NewRing(key) // the only error is a short key
	return ring
}

// storedKey returns the key in a storage. It creates the key if there is none.
func storedKey(ctx context.Context, storage storage) (key []byte, err error) {
	if err := storage.Lock(ctx, keyName); err != nil {
		return nil, fmt.Errorf("locking %s: %w", keyName, err)
	}
	defer func() { err = errors.Join(err, storage.Unlock(ctx, keyName)) }()
	key, err = storage.Load(ctx, keyName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		key = newKey()
		err = storage.Store(ctx, keyName, key)
	case err == nil && len(key) < seal.MinKey:
		err = seal.ErrShortKey
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", keyName, err)
	}
	return key, nil
}

func newKey() []byte {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never returns an error
	return key
}
