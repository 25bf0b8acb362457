package relay_test

import (
	"bufio"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// A dial that outlives its attempt reads the variables of the request while the next
// attempt writes variables (T2). With a common map, this would be a data race.
func TestADialThatOutlivesItsAttemptRacesWithNobody(t *testing.T) {
	deaf, p := deafAddress(t), gatewaytest.NewProvider(t)
	s := site.Start(t,
		site.Proxied.ProviderAt("deaf", deaf, "models 1", "response_header_timeout 5ms", "connect_timeout 200ms"),
		site.Proxied.Provider("p", p, "models 2", "header_up X-Address {http.reverse_proxy.upstream.hostport}"),
		"model m {\nto deaf\nto p\n}",
	)
	for range 10 {
		assert.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", true)).Status)
	}
	for _, r := range p.Requests() {
		assert.Equal(t, p.Address(), r.Header.Get("X-Address"))
	}
}

// For an error that is context.Canceled, reverse_proxy assumes that the client has left,
// answers 499, and tries no other address (T29). The gateway's own deadlines must therefore
// not return context.Canceled.
func TestADeadlineOfTheGatewayIsNotTakenForTheClients(t *testing.T) {
	silent, stalled, p := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	silent.Always(gatewaytest.StallAfter(0, gatewaytest.NewGate(t)))
	stalled.Always(gatewaytest.Stall(gatewaytest.NewGate(t), gatewaytest.Answer()))
	s := site.Start(t,
		site.Proxied.Provider("silent", silent, "models 1", "first_event_timeout 20ms"),
		site.Proxied.Provider("stalled", stalled, "models 2", "response_header_timeout 20ms"),
		site.Proxied.Provider("p", p, "models 3"),
		"model m {\nto silent\nto stalled\nto p\n}",
	)
	answer := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "hello", true))
	assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
	assert.True(t, answer.Read(t, site.MessagesPath).Complete)
	assert.Equal(t, 3.0, s.Record(answer.ID())["attempts"])
}

// After a refused connection, reverse_proxy tries the next address only if it gets the dial
// error (T26). State of the first address in the attempt once made the stream of the second
// address a failure.
func TestAddressesOfOneProviderAreTriedWithinOneAttempt(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, "provider p vllm {\nto "+gatewaytest.RefusedAddress(t)+" "+p.Address()+"\nlb_policy round_robin\nlb_retries 1\n}")
	for _, path := range site.ClientPaths {
		for _, streaming := range []bool{false, true} {
			answer := s.Ask(path, site.BodyFor(path, "m", "hello", streaming))
			assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
			record := s.Record(answer.ID())
			assert.Equal(t, 1.0, record["attempts"])
			assert.Equal(t, "answered", record["outcome"])
		}
	}
}

// Without a word of load balancing, an address that refuses connections once failed about
// a third of the requests: the repeated attempt could select it again.
func TestADeadAddressFailsNoRequest(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	dead, alive := " "+gatewaytest.RefusedAddress(t), " "+p.Address()
	for name, lines := range map[string]string{
		"two":            "to" + dead + alive,
		"three":          "to" + dead + alive + " " + gatewaytest.RefusedAddress(t),
		"ai_prefix_hash": "to" + dead + alive + "\nlb_policy ai_prefix_hash",
	} {
		t.Run(name, func(t *testing.T) {
			s := site.Start(t, "provider p vllm {\n"+lines+"\n}")
			for i := range 12 {
				answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello "+strconv.Itoa(i), false))
				assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
				assert.Equal(t, 1.0, s.Record(answer.ID())["attempts"])
			}
		})
	}
}

// A provider may have begun to answer a request after which the connection breaks.
func TestARequestThatWasSentGoesToNoOtherAddress(t *testing.T) {
	p, q := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	p.Always(gatewaytest.Reset())
	q.Always(gatewaytest.Reset())
	s := site.Start(t, "provider p vllm {\nto "+p.Address()+" "+q.Address()+"\n}", "model m {\nto p\nattempts 1\n}")
	answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", false))
	assert.Equal(t, http.StatusBadGateway, answer.Status, answer.Body)
	assert.Equal(t, 1, p.Count()+q.Count())
}

// Compression would hold events back (T9).
func TestEncodeLeavesEventStreamsAlone(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.StartCaddyfile(t, site.Block("encode gzip {\nminimum_length 1\n}", w.Provider("p", p)))
		gate := gatewaytest.NewGate(t)
		for _, path := range site.ClientPaths {
			p.Script(gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, site.Streams[path]...), gatewaytest.Stall(gate, gatewaytest.More())))
			response, err := s.Send(t.Context(), path, site.BodyFor(path, "m", "hello", true), "Accept-Encoding", "gzip, zstd, br")
			require.NoError(t, err)
			assert.Empty(t, response.Header.Get("Content-Encoding"))
			assert.Equal(t, "no-cache, no-transform", response.Header.Get("Cache-Control"))
			first := make([]byte, 5)
			_, err = io.ReadFull(response.Body, first) // while the provider is not done yet
			require.NoError(t, err)
			_ = response.Body.Close()

			response, err = s.Send(t.Context(), path, site.BodyFor(path, "m", "hello", false), "Accept-Encoding", "gzip")
			require.NoError(t, err)
			assert.Equal(t, "gzip", response.Header.Get("Content-Encoding"), "a JSON answer may be compressed")
			plain, err := gzip.NewReader(response.Body)
			require.NoError(t, err)
			body, err := io.ReadAll(plain)
			require.NoError(t, err)
			assert.Contains(t, string(body), "hello")
			_ = response.Body.Close()
		}
	})
}

// reverse_proxy would send the client's address, cookies and credentials to a provider
// (T16). Headers of the messages format were once sent to providers of chat and
// completions.
func TestProvidersSeeOnlyTheListedHeaders(t *testing.T) {
	t.Setenv("UPSTREAM_KEY", "sk-upstream")
	for path, headers := range map[string]http.Header{
		site.MessagesPath: {
			"Accept": {"application/json"}, "Accept-Encoding": {"identity"}, "Content-Type": {"application/json"},
			"User-Agent": {"the-client/1.0"}, "Authorization": {"Bearer sk-upstream"},
			"Anthropic-Version": {"2023-06-01"}, "Anthropic-Beta": {"one,two"},
		},
		site.ChatPath: {
			"Accept": {"application/json"}, "Accept-Encoding": {"identity"}, "Content-Type": {"application/json"},
			"User-Agent": {"the-client/1.0"}, "Authorization": {"Bearer sk-upstream"},
		},
		site.ResponsesPath: {
			"Accept": {"application/json"}, "Accept-Encoding": {"identity"}, "Content-Type": {"application/json"},
			"User-Agent": {"the-client/1.0"}, "Authorization": {"Bearer sk-upstream"}, "Openai-Beta": {"x=1"},
		},
	} {
		site.EachWay(t, func(t *testing.T, w site.Way) {
			p, plus := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
			up := []string{"models plus", "header_up X-Extra yes", "header_up User-Agent gateway/1", "header_up Host provider.example", "header_up -Accept"}
			s := site.Start(t, w.Provider("p", p, "api_key {env.UPSTREAM_KEY}", "models m"),
				w.Provider("plus", plus, append(up, "api_key {env.UPSTREAM_KEY}")...))
			client := []string{
				"Accept", "application/json", "User-Agent", "the-client/1.0", "Anthropic-Beta", "one,two", "Openai-Beta", "x=1",
				"Cookie", "session=1", "X-Forwarded-For", "203.0.113.7", "X-Forwarded-Host", "a.example", "X-Forwarded-Proto", "https",
				"Forwarded", "for=203.0.113.7", "X-Real-Ip", "203.0.113.7", "Via", "1.1 proxy", "X-Api-Key", "sk-other", "Te", "trailers",
				"Proxy-Authorization", "Basic eDp5", "X-Stainless-Os", "Linux", "Idempotency-Key", "1", "Traceparent", "00-1-1-01",
				"Accept-Encoding", "br", "Accept-Language", "de", "Origin", "https://a.example", "Referer", "https://a.example/x",
				"Anthropic-Workspace-Id", "w", "Openai-Organization", "org", "Openai-Project", "p", "X-Gateway-On-Loss", "warn",
			}
			if path != site.MessagesPath {
				client = append(client, "Anthropic-Version", "2023-06-01")
			}
			assert.Equal(t, http.StatusOK, s.Ask(path+"?beta=true&x=1", site.BodyFor(path, "m", "hello", false), client...).Status)
			got := p.Requests()[0]
			want := headers.Clone()
			got.Header.Del("Content-Length")
			assert.Equal(t, want, got.Header)
			assert.Equal(t, p.Address(), got.Host, "not the host that the client used")
			assert.Equal(t, path == site.MessagesPath, got.Query == "beta=true", "a query of the messages format")

			assert.Equal(t, http.StatusOK, s.Ask(path, site.BodyFor(path, "plus", "hello", false), client...).Status)
			got = plus.Requests()[0]
			assert.Equal(t, "yes", got.Header.Get("X-Extra"))
			assert.Equal(t, "gateway/1", got.Header.Get("User-Agent"))
			assert.Equal(t, "provider.example", got.Host)
			assert.Empty(t, got.Header.Get("X-Forwarded-For"))
			assert.Empty(t, got.Header.Get("Via"))
			assert.Equal(t, "Bearer sk-upstream", got.Header.Get("Authorization"))
		})
	}
}

// A request line in absolute form contains a host. Direct calls, with the provider's
// credential, once went to that host.
func TestNoRequestChoosesTheHost(t *testing.T) {
	t.Setenv("UPSTREAM_KEY", "sk-upstream")
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p, foreign := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		s := site.StartCaddyfile(t, ":PORT(site) {\nai_gateway {\nkey client {env.CLIENT_KEY}\n"+
			w.Provider("p", p, "api_key {env.UPSTREAM_KEY}")+"}\n}\n")
		conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port("site"))))
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
		body := site.BodyFor(site.ChatPath, "m", "hello", false)
		_, err = fmt.Fprintf(conn, "POST %s%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s",
			foreign.URL, site.ChatPath, foreign.Address(), site.ClientKey, len(body), body)
		require.NoError(t, err)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		defer func() { _ = response.Body.Close() }()
		assert.Equal(t, http.StatusOK, response.StatusCode)
		assert.Zero(t, foreign.Count())
		require.Equal(t, 1, p.Count())
		assert.Equal(t, p.Address(), p.Requests()[0].Host)
	})
}

func TestAProviderBehindASocketIsReached(t *testing.T) {
	path := t.TempDir() + "/provider.sock"
	listener, err := net.Listen("unix", path)
	require.NoError(t, err)
	hosts := make(chan string, 1)
	engine := demo.New(demo.WithPace(0))
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hosts <- r.Host
		engine.ServeHTTP(w, r)
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	s := site.Start(t, "provider local vllm {\nto unix/"+path+"\n}")
	answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hello", true))
	assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
	assert.Equal(t, "local", <-hosts, "the name of the provider, where there is no host")
}

// With HTTP/2, an answer breaks off by a reset of the stream; the connection stays open.
func TestAProviderOverTLSIsReachedByHTTP2(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewTLSProvider(t)
		trust := "transport http {\ntls_trust_pool inline {\ntrust_der " + base64.StdEncoding.EncodeToString(p.Certificate()) + "\n}\n}\n"
		address := "base_url " + p.URL
		if w == site.Proxied {
			address = "to " + p.URL + "\nlb_policy first"
		}
		s := site.Start(t, "provider p vllm {\n"+address+"\n"+site.EveryFormat+trust+"}")
		for _, path := range site.ClientPaths {
			major := make(chan int, 1)
			p.Script(func(c *gatewaytest.Call) {
				major <- c.Request.ProtoMajor
				gatewaytest.Answer()(c)
			})
			answer := s.Ask(path, site.BodyFor(path, "m", "hello", true))
			assert.True(t, answer.Read(t, path).Complete)
			assert.Equal(t, 2, <-major)
			requests := p.Requests()
			assert.Equal(t, p.Address(), requests[len(requests)-1].Host)

			begin := strings.Join(site.Streams[path][:len(site.Streams[path])-2], "")
			seen := s.AfterContent(p, path, begin, gatewaytest.Reset()).Read(t, path)
			require.NotNil(t, seen.Failure)
			assert.Equal(t, site.Truncated.Message, seen.Failure.Message)
			p.Script(gatewaytest.Reset())
			site.Unreachable.Assert(t, path, s.Ask(path, site.BodyFor(path, "m", "hello", true)))
		}
	})
}

// reverse_proxy writes interim responses to the ResponseWriter of the client during the
// call.
func TestInterimResponsesOfAProviderAreIgnored(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, "commit_after 1ms", "keep_alive 1ms", w.Provider("p", p))
		for _, path := range site.ClientPaths {
			for _, streaming := range []bool{false, true} {
				p.Script(func(c *gatewaytest.Call) {
					c.Header().Set("Link", "</style.css>; rel=preload")
					c.WriteHeader(http.StatusEarlyHints)
					c.WriteHeader(http.StatusProcessing)
					gatewaytest.Answer()(c)
				})
				answer := s.Ask(path, site.BodyFor(path, "m", "hello", streaming))
				assert.Equal(t, http.StatusOK, answer.Status)
				assert.Contains(t, answer.Body, "hello")
				assert.Empty(t, answer.Header.Get("Link"))
			}
		}
	})
}

// Buffers of bodies and answers are reused. Concurrent requests must not share them.
func TestRequestsAtOnceDoNotMix(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		first, p := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		first.Always(gatewaytest.Status(http.StatusServiceUnavailable))
		s := site.Start(t, w.Provider("first", first, "models 1"), w.Provider("p", p, "models 2"), "model m {\nto first/other\nto p\n}")
		var all sync.WaitGroup
		for i := range 60 {
			all.Go(func() {
				path := site.ClientPaths[i%len(site.ClientPaths)]
				prompt := fmt.Sprintf("word-%d-%s", i, strings.Repeat("x", 50*i))
				response, err := s.Send(t.Context(), path, site.BodyFor(path, "m", prompt, i%2 == 0))
				if !assert.NoError(t, err) {
					return
				}
				defer func() { _ = response.Body.Close() }()
				body, err := io.ReadAll(response.Body)
				assert.NoError(t, err)
				assert.Equal(t, http.StatusOK, response.StatusCode)
				assert.Contains(t, string(body), fmt.Sprintf("word-%d-", i))
				if i%2 == 0 {
					answer := site.Reply{Body: string(body)}
					assert.True(t, answer.Read(t, path).Complete)
				}
			})
		}
		all.Wait()
		sent := make(map[string]int)
		for _, r := range p.Requests() {
			sent[r.SHA256]++
		}
		assert.Len(t, sent, 60, "the provider got each body once")
	})
}

// The documented log filter removes the header that Caddy does not mask (T11).
func TestTheShippedLogFilterHidesTheKey(t *testing.T) {
	const filter = "log {\nformat filter {\nrequest>headers>X-Api-Key delete\n}\n}"
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.StartCaddyfile(t, site.Block(filter, w.Provider("p", p)))
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL("site", site.MessagesPath),
			strings.NewReader(site.BodyFor(site.MessagesPath, "m", "hello", false)))
		require.NoError(t, err)
		request.Header.Set("X-Api-Key", site.ClientKey)
		request.Header.Set("Anthropic-Version", "2023-06-01")
		response, err := s.Client.Do(request)
		require.NoError(t, err)
		_ = response.Body.Close()
		assert.Equal(t, http.StatusOK, response.StatusCode)
		assert.Equal(t, 200.0, accessStatus(s))
		s.AssertNoEntry(site.ClientKey)
	})
}
