package models_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/models/service"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// A request has all facts of one version of the file, also while the file changes and the configuration
// is loaded again. A broken file changes nothing, and is logged.
func TestTheCatalogIsReplacedDuringRequests(t *testing.T) {
	const columns = "provider,models,longest,sampling,penalties,efforts,tool_choice\n"
	versions := []struct{ text, dropped string }{
		{columns + "openai,unheard-of,100,none,,low,any\n", "temperature,reasoning_effort,max_completion_tokens"},
		{columns + "openai,unheard-of,,all,refused,medium,auto\n", "presence_penalty,tool_choice"},
	}
	path := filepath.Join(t.TempDir(), "catalog.csv")
	write := func(text string) {
		require.NoError(t, os.WriteFile(path+".new", []byte(text), 0o600))
		require.NoError(t, os.Rename(path+".new", path))
	}
	write(versions[0].text)
	fakes := service.Start(t)
	t.Setenv("MODELS_KEY", "key-of-the-services-0123456789")
	lines := []string{
		"catalog " + path, "provider openai {env.MODELS_KEY} {\nbase_url " + fakes.URL + "/" + service.OpenAI + "/v1\nformat chat\nmodels unheard-of\n}",
	}
	s := site.Start(t, lines...)
	ask := func() string {
		reply := s.Ask(site.ChatPath, `{"model":"unheard-of","temperature":0.5,"presence_penalty":0.5,"reasoning_effort":"medium","max_completion_tokens":1000,"tool_choice":"required","messages":[{"role":"user","content":"a"}]}`)
		return reply.Header.Get("X-Gateway-Dropped")
	}
	var others sync.WaitGroup
	var ended atomic.Bool
	for range 3 {
		others.Go(func() {
			for !ended.Load() {
				assert.Contains(t, []string{versions[0].dropped, versions[1].dropped}, ask())
			}
		})
	}
	for range 2 {
		for _, v := range versions {
			write(v.text)
			require.NoError(t, s.Reload(site.Block("", lines...)))
			assert.Equal(t, v.dropped, ask(), "after a reload")
		}
		for _, v := range versions {
			write(v.text)
			for waiting := site.Waiting(t); waiting.Err() == nil && ask() != v.dropped; {
			}
			assert.Equal(t, v.dropped, ask(), "after a change of the file")
		}
	}
	before := ask()
	write(columns + "openai,unheard-of,many,none,,low,any\n")
	entry := s.EntryWhere(func(entry map[string]any) bool {
		message, _ := entry["msg"].(string)
		return strings.HasPrefix(message, "catalog file is invalid; keeping its previous rows")
	})
	assert.Contains(t, entry["error"], "line 2, column 19: longest: must be a number of tokens, got 'many'")
	assert.Equal(t, before, ask())
	ended.Store(true)
	others.Wait()
}
