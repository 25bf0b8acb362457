package keys

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/filewatch"
)

// writeKeys writes a file of keys in place.
func writeKeys(t *testing.T, path string, lines ...string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
}

// loadFile loads a file as the gateway does. The file is followed until the test ends
// or cancel is called.
func loadFile(t *testing.T, path string) (*FileKeys, context.CancelFunc, error) {
	t.Helper()
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	t.Cleanup(cancel)
	config, err := json.Marshal(&FileKeys{Path: path})
	require.NoError(t, err)
	mod, err := ctx.LoadModuleByID("ai_gateway.keys.file", config)
	if err != nil {
		return nil, cancel, err
	}
	return mod.(*FileKeys), cancel, nil
}

// observed loads a file that only the test polls.
func observed(t *testing.T, path string) (*FileKeys, *observer.ObservedLogs) {
	t.Helper()
	f, cancel, err := loadFile(t, path)
	require.NoError(t, err)
	cancel()
	core, logs := observer.New(zap.InfoLevel)
	f.file.Logger = zap.New(core)
	return f, logs
}

// settle polls as many times as a change needs to take effect.
func (f *FileKeys) settle() {
	f.file.Poll()
	f.file.Poll()
}

func (f *FileKeys) names() []string {
	var names []string
	for _, key := range []string{"one", "two", "three"} {
		if entry := f.Lookup(sumOf(key)); entry != nil {
			names = append(names, entry.ID)
		}
	}
	return names
}

func line(key string) string { return "key " + key + " " + hexOf(key) }

func TestAFileHasKeysAsACaddyfileHas(t *testing.T) {
	t.Setenv("TEST_KEY", secret)
	t.Setenv("TEST_DIR", t.TempDir())
	path := filepath.Join(os.Getenv("TEST_DIR"), "keys")
	writeKeys(t, path, "# those of the team", line("one")+" {", "\tmodels gpt-*", "\tfrom ::1", "\towner alice", "}", "",
		"key env {env.TEST_KEY} # of the machine", line("two")+" {", "\tdisabled", "}")
	f, _, err := loadFile(t, "{env.TEST_DIR}/keys")
	require.NoError(t, err)
	one := f.Lookup(sumOf("one"))
	require.NotNil(t, one)
	assert.Equal(t, []aigateway.Pattern{"gpt-*"}, one.Models)
	assert.Equal(t, "alice", one.Owner)
	assert.Equal(t, "env", f.Lookup(sumOf(secret)).ID)
	assert.True(t, f.Lookup(sumOf("two")).Disabled)
	assert.Nil(t, f.Lookup(sumOf("three")))
	count := 0
	for range f.All() {
		count++
	}
	assert.Equal(t, 3, count)
}

// listKey is not a single value of a header.
const listKey = "sk-secret,with-comma"

// wrongFiles are invalid texts of keys files, with their errors.
var wrongFiles = map[string]string{
	"one sk-secret":                            ":1: each entry of a keys file begins with the word key",
	line("one") + "\n\nprovider demo":          ":3: each entry of a keys file",
	line("one") + "\nkey two sk-secret":        ":2: a key is {env.NAME}",
	"key":                                      ":1: a key needs a name",
	line("one") + "\n" + line("one"):           ":2: key one is defined twice",
	line("one") + "\nkey a " + hexOf("one"):    ":2: key a: has the same value as key one",
	"key a {env.NO_SUCH_KEY} {\n\tdisabled\n}": ":1: key a: resolving secret",
	line("one") + "\nkey a {env.LIST_KEY}":     ":2: key a: a key has 8 to 256 printable ASCII characters, without spaces or commas",
	line("one") + " {\n\tmodels":               ":2: models needs at least one pattern",
	line("one") + " {\n\tdisabled":             ":2: the block of key one is not closed",
	line("one") + "\n}":                        ":2: each entry of a keys file",
	line("one") + " {\n\tfrom nowhere\n}":      ":2: a network is",
}

func TestAWrongFileIsRefusedByLine(t *testing.T) {
	t.Setenv("LIST_KEY", listKey)
	path := filepath.Join(t.TempDir(), "keys")
	for text, want := range wrongFiles {
		writeKeys(t, path, text)
		_, _, err := loadFile(t, path)
		if assert.Error(t, err, text) {
			place, what, _ := strings.Cut(strings.TrimPrefix(want, ":"), ": ")
			assert.Contains(t, err.Error(), what, text)
			assert.Regexp(t, "keys:"+place+`$`, err.Error(), text)
			assert.NotContains(t, err.Error(), "sk-secret")
		}
	}
}

func TestAMissingFileIsRefused(t *testing.T) {
	for _, path := range []string{filepath.Join(t.TempDir(), "no-keys"), t.TempDir(), "{env.NO_SUCH_DIR}/keys"} {
		_, _, err := loadFile(t, path)
		assert.ErrorContains(t, err, "keys file: ", path)
	}
}

func TestChangesTakeEffectHoweverTheyAreMade(t *testing.T) {
	replace := func(t *testing.T, path, text string) {
		writeKeys(t, path+".new", text)
		require.NoError(t, os.Rename(path+".new", path))
	}
	for name, change := range map[string]func(t *testing.T, path, text string){
		"in place":    func(t *testing.T, path, text string) { writeKeys(t, path, text) },
		"by a rename": replace,
		"by the links of a mounted volume": func(t *testing.T, path, text string) {
			dir := t.TempDir()
			writeKeys(t, filepath.Join(dir, "keys"), text)
			_ = os.Remove(path)
			require.NoError(t, os.Symlink(filepath.Join(dir, "keys"), path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "keys")
			change(t, path, line("one"))
			f, logs := observed(t, path)
			change(t, path, line("one")+"\n"+line("two"))
			f.settle()
			assert.Equal(t, []string{"one", "two"}, f.names())
			change(t, path, line("three"))
			f.settle()
			assert.Equal(t, []string{"three"}, f.names())
			change(t, path, "# nobody")
			f.settle()
			assert.Empty(t, f.names())
			assert.Len(t, logs.FilterMessage("keys file has changed").All(), 3)
		})
	}
}

func TestAFileIsFollowedUntilTheConfigurationEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	writeKeys(t, path, line("one"))
	synctest.Test(t, func(t *testing.T) {
		f, cancel, err := loadFile(t, path)
		require.NoError(t, err)
		writeKeys(t, path, line("two"))
		time.Sleep(2*filewatch.Interval + 1) // on the fake clock
		synctest.Wait()
		assert.Equal(t, []string{"two"}, f.names())
		cancel() // synctest fails the test if the goroutine does not end
	})
}

// A file that was still being written was once used with only some of its lines.
func TestAFileThatStillChangesIsNotUsedYet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	writeKeys(t, path, line("one"), line("two"))
	f, _ := observed(t, path)
	writeKeys(t, path, line("one"))
	f.file.Poll()
	assert.Equal(t, []string{"one", "two"}, f.names())
	writeKeys(t, path, line("one"), line("two"), line("three"))
	f.file.Poll()
	assert.Equal(t, []string{"one", "two"}, f.names())
	f.file.Poll()
	assert.Equal(t, []string{"one", "two", "three"}, f.names())
}

func TestABadEditKeepsTheKeysAndIsReportedOnce(t *testing.T) {
	t.Setenv("LIST_KEY", listKey)
	path := filepath.Join(t.TempDir(), "keys")
	for text, want := range wrongFiles {
		writeKeys(t, path, line("one"))
		f, logs := observed(t, path)
		writeKeys(t, path, text)
		for range 3 {
			f.settle()
		}
		assert.Equal(t, []string{"one"}, f.names(), text)
		lines := logs.FilterLevelExact(zap.ErrorLevel).All()
		if assert.Len(t, lines, 1, text) {
			message := lines[0].ContextMap()["error"].(string)
			_, what, _ := strings.Cut(strings.TrimPrefix(want, ":"), ": ")
			assert.Contains(t, message, what)
			assert.NotContains(t, message, "sk-secret")
		}
		writeKeys(t, path, line("one"), line("two"))
		f.settle()
		assert.Equal(t, []string{"one", "two"}, f.names(), "the next valid edit takes effect")
	}
}

// A file that a full disk or a mistyped command had emptied once revoked all of its
// keys. A file with only a comment is empty on purpose.
func TestAnEmptiedFileKeepsTheKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	writeKeys(t, path, line("one"))
	f, logs := observed(t, path)
	writeKeys(t, path, "")
	f.settle()
	assert.Equal(t, []string{"one"}, f.names())
	assert.Equal(t, 1, logs.FilterMessageSnippet("keeping its previous keys").Len())
	writeKeys(t, path, "# nobody any more")
	f.settle()
	assert.Empty(t, f.names())
}

func TestAVanishedFileKeepsTheKeysAndIsReportedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	writeKeys(t, path, line("one"))
	f, logs := observed(t, path)
	for range 2 {
		require.NoError(t, os.Remove(path))
		f.settle()
		f.settle()
		assert.Equal(t, []string{"one"}, f.names())
		writeKeys(t, path, line("one"))
		f.settle()
	}
	assert.Len(t, logs.FilterMessageSnippet("cannot be read").All(), 2, "once for each outage")
	assert.Len(t, logs.FilterMessage("keys file can be read again").All(), 2)
	assert.Equal(t, 4, logs.Len(), "a file that comes back unchanged has not changed")
}

func TestChangesAreCheckedBeforeTheyTakeEffect(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	writeKeys(t, path, line("one"))
	f, logs := observed(t, path)
	f.CheckChanges(func(iter.Seq[*aigateway.Key]) error { return nil })
	f.CheckChanges(func(keys iter.Seq[*aigateway.Key]) error {
		for key := range keys {
			if key.ID == "two" {
				return errors.New("key two is defined twice")
			}
		}
		return nil
	})
	writeKeys(t, path, line("two"))
	f.settle()
	assert.Equal(t, []string{"one"}, f.names())
	require.Equal(t, 1, logs.Len())
	assert.Equal(t, "key two is defined twice", logs.All()[0].ContextMap()["error"])
	writeKeys(t, path, line("three"))
	f.settle()
	assert.Equal(t, []string{"three"}, f.names())
}

// A relative path was once resolved in the directory in which Caddy was started, so
// that a service did not find the file that "caddy run" had found.
func TestARelativePathIsRefused(t *testing.T) {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	defer cancel()
	assert.EqualError(t, (&FileKeys{Path: "keys"}).Provision(ctx), "keys file: the path must be absolute")
}
