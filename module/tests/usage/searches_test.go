package usage_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// A budget of 0.50 paid 28.03 USD for searches of Gemini, and one of 0.10 paid 6.09 USD for those
// of models whose price of a search is unknown.
func TestNoBudgetPaysForMoreSearchesThanItHas(t *testing.T) {
	const perCall = 10 * 14_000_000 // nanos
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"finishReason":"STOP","index":0,
			"groundingMetadata":{"webSearchQueries":["`+strings.Join(strings.Split("abcdefghij", ""), `","`)+`"]}}],
			"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":1},"modelVersion":"gemini-3.1-pro-preview"}`)
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	price := func(name, columns string) string {
		return fmt.Sprintf("price %s input 0.01 output 0.01%s\n", name, columns)
	}
	s := site.Start(t, "store sqlite "+dir+"/gateway.db", "ledger {\njournal "+dir+"/journal\n}",
		"limit all {\nper gateway\nbudget 0.5/day\n}",
		"provider gem gemini {env.CLIENT_KEY} {\nbase_url "+server.URL+"\nmodels searching unpriced free\n"+
			price("searching", " search 0.014")+price("unpriced", "")+price("free", " search 0")+"}")
	ask := func(model, tools string) site.Reply {
		return s.Ask("/v1beta/models/"+model+":generateContent", `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":10},"tools":[`+tools+`]}`)
	}
	var running sync.WaitGroup
	for range 20 {
		running.Go(func() { ask("searching", `{"googleSearch":{}}`) })
	}
	running.Wait()
	assert.EqualValues(t, 3, asked.Load(), "the fourth may cost more than is left")
	assert.LessOrEqual(t, asked.Load()*perCall, int64(500_000_000))

	for _, tool := range []string{"googleSearch", "google_search", "googleMaps", "enterpriseWebSearch"} {
		refused := ask("unpriced", `{"`+tool+`":{}}`)
		assert.Equal(t, http.StatusForbidden, refused.Status, tool)
		assert.Contains(t, refused.Body, "the price of a search by 'unpriced' is unknown", tool)
	}
	assert.Equal(t, http.StatusOK, ask("unpriced", `{"urlContext":{}}`).Status)
	assert.Equal(t, http.StatusOK, ask("free", `{"googleSearch":{}}`).Status)
}
