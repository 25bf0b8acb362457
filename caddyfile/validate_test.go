package caddyfile_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport"
)

var (
	envReference  = regexp.MustCompile(`\{env\.(\w+)\}`)
	fileReference = regexp.MustCompile(`\{file\.(/[^}]+)\}`)
)

// withSecrets sets a value for every reference in a configuration.
func withSecrets(t *testing.T, config string) string {
	t.Helper()
	for _, match := range envReference.FindAllStringSubmatch(config, -1) {
		value := "sk-of-" + strings.ToLower(match[1]) + "-0123456789"
		switch match[1] {
		case "KEYS_FILE":
			value = filepath.Join(t.TempDir(), "keys")
			require.NoError(t, os.WriteFile(value, []byte("# nobody yet\n"), 0o600))
		case "PRICES", "PRICES_FILE":
			value = filepath.Join(t.TempDir(), "prices.csv")
			require.NoError(t, os.WriteFile(value, []byte("provider,models,input,output\n"), 0o600))
		case "DATA_DIR":
			value = t.TempDir()
		case "POSTGRES_DSN":
			value = "postgres://gateway:secret@127.0.0.1:9/gateway"
		case "LLM_HOST":
			value = "127.0.0.1"
		case "LLM_PORT":
			value = "9"
		}
		t.Setenv(match[1], value)
	}
	dir := t.TempDir()
	return fileReference.ReplaceAllStringFunc(config, func(ref string) string {
		file := filepath.Join(dir, filepath.Base(strings.Trim(ref, "{}")))
		require.NoError(t, os.WriteFile(file, []byte("sk-of-"+filepath.Base(file)+"-0123456789\n"), 0o600))
		return "{file." + file + "}"
	})
}

// Configurations that the grammar accepts must also pass `caddy validate`.
func TestGoldensWithoutErrorProvision(t *testing.T) {
	caddy.DefaultStorage.Path = t.TempDir()
	data := t.TempDir()
	t.Setenv("XDG_DATA_HOME", data)
	for file, content := range readGoldens(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".caddyfiletest")
		if strings.HasPrefix(name, "error_") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			_, adapted, _ := strings.Cut(content, separator)
			config := new(caddy.Config)
			require.NoError(t, json.Unmarshal([]byte(withSecrets(t, adapted)), config))
			assert.NoError(t, caddy.Validate(config))
			assert.Empty(t, filesBelow(t, data), "validating created a file")
		})
	}
}

func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, path)
		}
		return err
	}))
	return files
}
