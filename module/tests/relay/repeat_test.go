package relay_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

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
