// Package secrets follows the files of secrets, so that a rotated secret takes effect
// without a reload. A reload would not help: Caddy skips a configuration that has not
// changed, and a reference does not change with its secret.
//
// It promises that logs name the reference of a secret, but contain no part of the secret
// and no digest of it; and that an old value stays in effect while the file cannot be read,
// is empty, or contains a value that is refused.
package secrets

import (
	"context"
	"fmt"
	"os"
	"strings"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/filewatch"
)

// Follow calls accept with the value of a reference. If the reference names a file, Follow
// then calls accept with each new value, until ctx ends; calls do not overlap. Variables
// of the environment, pipes and devices do not change. Follow returns an error if the
// reference has no value, or if accept refuses the first value.
func Follow(ctx context.Context, reference string, logger *zap.Logger, accept func(aigateway.Secret) error) error {
	value, err := aigateway.ResolveSecret(reference)
	if err != nil {
		return err
	}
	if err := accept(value); err != nil {
		return err
	}
	path, named := aigateway.SecretFile(reference)
	if info, err := os.Stat(path); !named || err != nil || !info.Mode().IsRegular() {
		return nil
	}
	file := filewatch.File{
		Path: path, Name: "secret", Parts: "value", Logger: logger.With(zap.String("reference", reference)),
		Accept: func(text []byte) error {
			changed := aigateway.Secret(strings.TrimSpace(string(text)))
			if changed == value {
				return nil
			}
			if err := accept(changed); err != nil {
				return err
			}
			value = changed
			return nil
		},
	}
	if err := file.Start(ctx); err != nil {
		return fmt.Errorf("following %s: %w", reference, err)
	}
	return nil
}
