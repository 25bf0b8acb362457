package usage_test

import (
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// BenchmarkRequests compares requests with and without what is counted of them: the
// ledger and nested limits. Metrics are always there. The processor time is that of the
// client and of the provider, too, and that of the gateway until it has stopped with all
// records in the database.
func BenchmarkRequests(b *testing.B) {
	for _, c := range []struct {
		name  string
		lines []string
	}{
		{"without", []string{"ledger off", "key bench {env.KEY_BENCH}"}},
		{"ledger", []string{"key bench {env.KEY_BENCH}"}},
		{"ledger_and_limits", []string{
			"limit everything {\nper gateway\nrequests 100000000/1m\nconcurrent 1000\n}",
			"limit research {\nper group\ntokens 100000000000/1m\nwithin everything\n}",
			"limit small {\nrequests 100000000/1m\ntokens 100000000000/1m\nconcurrent 1000\nwithin research\n}",
			"key bench {env.KEY_BENCH} {\nlimit small\n}",
		}},
	} {
		for _, kind := range []struct {
			name, path string
			stream     bool
		}{{"chat", site.ChatPath, false}, {"messages_stream", site.MessagesPath, true}} {
			b.Run(kind.name+"/"+c.name, func(b *testing.B) {
				b.Setenv("KEY_BENCH", site.AliceKey)
				var before time.Duration
				b.Cleanup(func() { // behind that of the site
					b.ReportMetric(float64(processorTime()-before)/float64(b.N), "cpu-ns/op")
				})
				p := gatewaytest.NewProvider(b)
				lines := append([]string{"store sqlite " + b.TempDir() + "/gateway.db", site.Direct.Provider("p", p, priced, "format messages chat")}, c.lines...)
				s := site.Start(b, lines...)
				body := site.BodyFor(kind.path, "m", "hello", kind.stream)
				before = processorTime()
				for b.Loop() {
					request, err := http.NewRequest(http.MethodPost, s.URL("site", kind.path), strings.NewReader(body))
					require.NoError(b, err)
					request.Header.Set("Authorization", "Bearer "+site.AliceKey)
					request.Header.Set("Content-Type", "application/json")
					request.Header.Set("Anthropic-Version", "2023-06-01")
					response, err := s.Client.Do(request)
					require.NoError(b, err)
					_, err = io.Copy(io.Discard, response.Body)
					require.NoError(b, err)
					require.NoError(b, response.Body.Close())
					require.Equal(b, http.StatusOK, response.StatusCode)
				}
			})
		}
	}
}

// processorTime returns the processor time of this process.
func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // cannot fail for the own process
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
