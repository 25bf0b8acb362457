package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// sealKeyName is the name of the key in Caddy's storage, which the machines of a
// cluster share.
const sealKeyName = "ai_gateway/seal.key"

// keyStorage is what is needed of Caddy's storage.
type keyStorage interface {
	Lock(ctx context.Context, name string) error
	Unlock(ctx context.Context, name string) error
	Load(ctx context.Context, key string) ([]byte, error)
	Store(ctx context.Context, key string, value []byte) error
}

// storagePatience bounds how long a request waits for the storage.
const storagePatience = 5 * time.Second

// loadSeals returns the keys that seal reasoning, given as references to secrets.
// Without any, the key of Caddy's storage is read when it is needed first:
// validating a configuration must not create it.
func loadSeals(ctx caddy.Context, references []string) (func() *seal.Ring, error) {
	if len(references) == 0 {
		return sync.OnceValue(func() *seal.Ring { return storedSeals(ctx.Storage(), ctx.Logger()) }), nil
	}
	keys := make([][]byte, len(references))
	for i, reference := range references {
		secret, err := aigateway.ResolveSecret(reference)
		if err != nil {
			return nil, fmt.Errorf("seal_keys: %w", err)
		}
		keys[i] = []byte(secret)
	}
	ring, err := seal.NewRing(keys[0], keys[1:]...)
	if err != nil {
		return nil, fmt.Errorf("seal_keys: %w", err)
	}
	return func() *seal.Ring { return ring }, nil
}

// storedSeals returns the key of a storage. If the storage fails, what the returned
// key seals opens until the configuration is loaded again.
func storedSeals(storage keyStorage, logger *zap.Logger) *seal.Ring {
	ctx, cancel := context.WithTimeout(context.Background(), storagePatience)
	defer cancel()
	key, err := storedSealKey(ctx, storage)
	if err != nil {
		logger.Warn("keeping the key that seals reasoning failed; reasoning that clients send back later is left out", zap.Error(err))
		key = newSealKey()
	}
	ring, _ := seal.NewRing(key) // it is long enough
	return ring
}

// storedSealKey returns the key of a storage, which it makes if there is none.
func storedSealKey(ctx context.Context, storage keyStorage) (key []byte, err error) {
	if err := storage.Lock(ctx, sealKeyName); err != nil {
		return nil, fmt.Errorf("locking %s: %w", sealKeyName, err)
	}
	defer func() { err = errors.Join(err, storage.Unlock(ctx, sealKeyName)) }()
	key, err = storage.Load(ctx, sealKeyName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		key = newSealKey()
		err = storage.Store(ctx, sealKeyName, key)
	case err == nil && len(key) < seal.MinKey:
		err = seal.ErrShortKey
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", sealKeyName, err)
	}
	return key, nil
}

func newSealKey() []byte {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	return key
}
