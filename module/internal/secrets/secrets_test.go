package secrets

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/filewatch"
)

// follower has the values that Follow has accepted, and its log.
type follower struct {
	values []aigateway.Secret
	logs   *observer.ObservedLogs
}

var errRefused = errors.New("refused")

// follow follows a reference until ctx ends. It refuses the value "refused".
func follow(t *testing.T, ctx context.Context, reference string) *follower {
	t.Helper()
	core, logs := observer.New(zap.InfoLevel)
	f := &follower{logs: logs}
	require.NoError(t, Follow(ctx, reference, zap.New(core), func(s aigateway.Secret) error {
		if s == "refused" {
			return errRefused
		}
		f.values = append(f.values, s)
		return nil
	}))
	return f
}

// settle waits, on the fake clock, until a change has taken effect.
func settle() {
	time.Sleep(2*filewatch.Interval + 1)
	synctest.Wait()
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// A rotated secret was once never read again, not even by a reload: Caddy skips a
// configuration that has not changed.
func TestARotatedSecretTakesEffect(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	write(t, path, "first\n")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := follow(t, ctx, "{file."+path+"}")
		settle()
		assert.Equal(t, []aigateway.Secret{"first"}, f.values)
		assert.Zero(t, f.logs.Len())

		write(t, path, "second\n")
		settle()
		assert.Equal(t, []aigateway.Secret{"first", "second"}, f.values)
		logs := f.logs.FilterMessage("secret has changed").All()
		require.Len(t, logs, 1)
		assert.Equal(t, map[string]any{"path": path, "reference": "{file." + path + "}"}, logs[0].ContextMap())
		cancel() // synctest fails the test if the goroutine does not end
	})
}

// The values of a mounted Kubernetes secret change when a symbolic link is replaced.
func TestASecretBehindSymbolicLinksIsFollowed(t *testing.T) {
	dir := t.TempDir()
	for _, version := range []string{"one", "two"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, version), 0o700))
		write(t, filepath.Join(dir, version, "key"), version)
	}
	data := filepath.Join(dir, "..data")
	require.NoError(t, os.Symlink("one", data))
	require.NoError(t, os.Symlink(filepath.Join("..data", "key"), filepath.Join(dir, "key")))
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := follow(t, ctx, "{file."+dir+"/key}")
		require.NoError(t, os.Symlink("two", data+".new"))
		require.NoError(t, os.Rename(data+".new", data))
		settle()
		assert.Equal(t, []aigateway.Secret{"one", "two"}, f.values)
		cancel()
	})
}

func TestASecretThatIsNotUsableKeepsTheOldOneAndIsLoggedOnce(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"is missing": func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) },
		"is empty":   func(t *testing.T, path string) { write(t, path, " \n") },
		"is refused": func(t *testing.T, path string) { write(t, path, "refused") },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "secret")
			write(t, path, "first")
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				f := follow(t, ctx, "{file."+path+"}")
				spoil(t, path)
				settle()
				settle()
				assert.Equal(t, []aigateway.Secret{"first"}, f.values)
				assert.Len(t, f.logs.FilterMessageSnippet("keeping its previous value").All(), 1)
				write(t, path, "second")
				settle()
				assert.Equal(t, []aigateway.Secret{"first", "second"}, f.values)
				cancel()
			})
		})
	}
}

func TestWhatCannotChangeIsReadOnce(t *testing.T) {
	t.Setenv("TEST_SECRET", "value")
	synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left
		f := follow(t, context.Background(), "{env.TEST_SECRET}")
		assert.Equal(t, []aigateway.Secret{"value"}, f.values)
		assert.Error(t, Follow(t.Context(), "{env.NO_SUCH_VARIABLE}", zap.NewNop(), nil))
		refuse := func(aigateway.Secret) error { return errRefused }
		assert.ErrorIs(t, Follow(t.Context(), "{env.TEST_SECRET}", zap.NewNop(), refuse), errRefused)
	})
}
