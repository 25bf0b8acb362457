package relay_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

const framedAnswer = `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`

var promptNumber = regexp.MustCompile(`prompt-[0-9]+-`)

// If an HTTP/2 provider refused a stream, or closed the connection before it processed the
// stream, the client once got 502, although the request could be sent again safely.
func TestRequestsThatAProviderDidNotTakeAreSentAgain(t *testing.T) {
	const clients = 40
	for name, fate := range map[string]gatewaytest.Fate{"refused": gatewaytest.Refuse, "closed": gatewaytest.Leave} {
		for _, path := range []string{site.ChatPath, site.MessagesPath} { // as it is, and translated
			site.EachWay(t, func(t *testing.T, w site.Way) {
				t.Run(name+path, func(t *testing.T) {
					p := gatewaytest.NewFramed(t, []byte(framedAnswer), func(number int, _ string) gatewaytest.Fate {
						if number == 7 || number == 14 {
							return fate
						}
						return gatewaytest.Take
					})
					s := site.Start(t, w.ProviderAt("p", p.Address, "format chat", "transport http {\nversions h2c\n}"))
					want := askAtOnce(t, s, path, clients)
					bodies, arrived := p.Taken()
					var taken []string
					for _, body := range bodies {
						taken = append(taken, promptNumber.FindString(body))
					}
					slices.Sort(taken)
					assert.Equal(t, want, taken, "each was worked on once")
					assert.Greater(t, arrived, clients, "some were not taken at first")
				})
			})
		}
	}
}

// askAtOnce sends concurrent requests with different prompts, for a model with another name
// at the provider, and returns the sorted prompts.
func askAtOnce(t *testing.T, s *site.Site, path string, clients int) (prompts []string) {
	var running sync.WaitGroup
	for i := range clients {
		prompt := fmt.Sprintf("prompt-%d-", i)
		prompts = append(prompts, prompt)
		running.Go(func() {
			answer := s.Ask(path, site.BodyFor(path, "m", prompt+strings.Repeat("x", 100), false))
			assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
		})
	}
	running.Wait()
	slices.Sort(prompts)
	return prompts
}

// Of the requests right behind a stream of llama.cpp's server, 1 to 5 % failed with 502: the
// server closes the connection behind the last byte of each stream, without a header that
// announces it, and the next request was sent on this connection. Long requests fail while
// they are written, short ones while their answer is read.
func TestNoRequestFailsBehindAnAnswerWithASilentClose(t *testing.T) {
	const requests = 500
	server := silentServer(t)
	site.EachWay(t, func(t *testing.T, w site.Way) {
		s := site.Start(t, w.ProviderAt("p", server, "format chat"))
		for i := range requests {
			path := []string{site.ChatPath, site.MessagesPath}[i%2]
			prompt := strings.Repeat("x", 1+(i/2%2)*100_000)
			answer := s.Ask(path, site.BodyFor(path, "m", prompt, true))
			require.Equal(t, http.StatusOK, answer.Status, answer.Body)
			require.Equal(t, 1.0, s.Record(answer.ID())["attempts"])
		}
	})
}

// silentServer returns the address of a server that answers each request with a stream, and
// then closes the connection.
func silentServer(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	stream := `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}` +
		"\n\ndata: [DONE]\n\n"
	answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nKeep-Alive: timeout=5\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(stream), stream)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				request, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, request.Body)
				_, _ = io.WriteString(conn, answer)
			}()
		}
	}()
	return listener.Addr().String()
}
