package usage_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters/counterstest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// A client does not know which of two gateways answers. Where each keeps what it has stored to itself, the
// other one does not find the file, and both charge the batch.
func TestTwoGatewaysShareFilesAndSettleTheirBatchesOnce(t *testing.T) {
	t.Parallel()
	server, ok := counterstest.StartRedis(t)
	cluster, installed := storetest.Postgres(t)
	if !ok || !installed {
		return
	}
	dsn := filepath.Join(t.TempDir(), "dsn")
	require.NoError(t, os.WriteFile(dsn, []byte(cluster.NewDatabase(t)), 0o600))
	vendor := startFiling(t)
	gateways := sharing(t, server, "deny", "store postgres {file."+dsn+"}",
		site.Direct.ProviderAt("p", strings.TrimPrefix(vendor.URL, "http://"), halfDollars, "format chat responses", "files_state sealed", "batches sealed"),
		"seal_keys {env.KEY_BOB}", "limit pocket {\nbudget 100/month\n}", "key alice {env.KEY_ALICE} {\nlimit pocket\n}", "key bob {env.KEY_BOB}")
	one, other := filer{vendor, t, gateways[0].Address}, filer{vendor, t, gateways[1].Address}

	input := one.store(site.AliceKey, chatLines("m", 3))
	var created shownBatch
	require.Eventually(t, func() bool { // once the other one has read what the requests may cost
		answer := other.create(site.AliceKey, input)
		if answer.Status == http.StatusForbidden {
			return false
		}
		created = readFileBatch(t, answer)
		return true
	}, site.Patience, site.PollEvery)
	assert.Equal(t, input, created.Input)
	assert.EqualValues(t, 30e9, settledCalls(t, gateways[0].AdminURL, "reserved").Calls[0].Held)

	path := fileBatchesPath + "/" + created.ID
	output := vendor.end("completed", [3]int{3, 2, 1}, resultLine("m", 8), resultLine("m", 10))
	var all sync.WaitGroup
	for _, f := range []filer{one, other, one, other} {
		all.Go(func() {
			ended := f.read(site.AliceKey, http.MethodGet, path)
			assert.Equal(t, http.StatusOK, ended.Status, ended.Body)
		})
	}
	all.Wait()
	ended := readFileBatch(t, one.read(site.AliceKey, http.MethodGet, path))
	assert.Equal(t, ended, readFileBatch(t, other.read(site.AliceKey, http.MethodGet, path)), "the same ids at both")
	for _, f := range []filer{one, other} {
		assert.Equal(t, vendor.stored()[output].content, f.read(site.AliceKey, http.MethodGet, filesPath+"/"+ended.Output+"/content").Body)
		assert.Equal(t, http.StatusNotFound, f.read(site.BobKey, http.MethodGet, filesPath+"/"+ended.Output+"/content").Status)
	}
	for _, s := range gateways {
		done := settledCalls(t, s.AdminURL, "provider")
		assert.EqualValues(t, 9e9, done.cost(), "18 tokens at half a dollar")
		assert.Equal(t, &batchCounts{Succeeded: 2, Errored: 1}, done.Batch)
	}
	for _, id := range []string{ended.Output, input} {
		assert.Equal(t, http.StatusOK, other.read(site.AliceKey, http.MethodDelete, filesPath+"/"+id).Status)
		assert.Equal(t, http.StatusNotFound, one.read(site.AliceKey, http.MethodGet, filesPath+"/"+id).Status)
	}
	last := one.store(site.AliceKey, chatLines("m", 9))
	require.Eventually(t, func() bool { return one.create(site.AliceKey, last).Status == http.StatusOK }, site.Patience, site.PollEvery, "9 of 100 dollars are spent, and 90 are reserved")
	refused := one.create(site.AliceKey, last)
	assert.Equal(t, http.StatusTooManyRequests, refused.Status, "%s", refused.Body)
}

// A gateway behind another one is a provider like any: the ids that it has sealed are sealed once more. Where
// ids of gateways were passed on as they were, the output of a batch could be read at the inner one only
// (https://github.com/BerriAI/litellm/issues/37352); where contents were read as texts, files arrived broken
// (https://github.com/appstrate/appstrate/issues/151).
func TestAGatewayBehindAnotherStoresFiles(t *testing.T) {
	site.SetKeys(t)
	vendor := startFiling(t)
	const stores = "format chat responses\nfiles_state sealed\nbatches sealed"
	inner := site.StartProcess(t, "", site.Direct.ProviderAt("p", strings.TrimPrefix(vendor.URL, "http://"), stores), "key alice {env.KEY_ALICE}")
	outer := site.Start(t, site.Direct.ProviderAt("inner", inner.Address, stores, "models m", "api_key {env.KEY_ALICE}"), "key bob {env.KEY_BOB}")
	f := filer{vendor, t, strings.TrimPrefix(outer.URL("site", ""), "http://")}

	const binary = "%PDF\x00\xff\xfe\x80\r\n\xc3"
	id := idIn(t, f.upload(site.BobKey, filesPath, purpose("user_data"), file(binary)))
	assert.Equal(t, binary, vendor.stored()[rawFile(1)].content)
	assert.Less(t, len(id), 256)
	assert.Equal(t, binary, f.read(site.BobKey, http.MethodGet, filesPath+"/"+id+"/content").Body)
	assert.Equal(t, http.StatusNotFound, filer{vendor, t, inner.Address}.read(site.AliceKey, http.MethodGet, filesPath+"/"+id).Status, "which is that of another gateway")

	created := readFileBatch(t, f.create(site.BobKey, f.store(site.BobKey, chatLines("m", 1))))
	output := vendor.end("completed", [3]int{1, 1, 0}, resultLine("m", 8))
	ended := readFileBatch(t, f.read(site.BobKey, http.MethodGet, fileBatchesPath+"/"+created.ID))
	assert.Less(t, len(ended.Output), 256)
	assert.Equal(t, vendor.stored()[output].content, f.read(site.BobKey, http.MethodGet, filesPath+"/"+ended.Output+"/content").Body)

	// The output of a batch that is cancelled had the vendor's id (https://github.com/BerriAI/litellm/pull/36048).
	cancelled := readFileBatch(t, f.ask(site.BobKey, http.MethodPost, fileBatchesPath+"/"+created.ID+"/cancel", nil, ""))
	assert.Equal(t, ended.Output, cancelled.Output)
}
