// Package clients holds the vendor's own Go client against a running gateway.
// It is a module of its own so that the client never enters the dependency
// graph of those who build the gateway.
//
// The gateway runs with ../Caddyfile. GATEWAY_URL and GATEWAY_KEY say where it
// is, GATEWAY_NARROW_KEY is a key for the model "alias" alone, GATEWAY_LIMITED_KEY
// one that may send 4 requests an hour, GATEWAY_BUDGET_KEY one whose budget has room
// for one answer, REPLAY_PORT is where the gateway expects the suite's own provider;
// the suite fails without them.
package clients

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/stretchr/testify/require"
)

const model = anthropic.Model("demo")

var (
	gatewayURL = os.Getenv("GATEWAY_URL")
	gatewayKey = os.Getenv("GATEWAY_KEY")
	narrowKey  = os.Getenv("GATEWAY_NARROW_KEY")
	limitedKey = os.Getenv("GATEWAY_LIMITED_KEY")
	budgetKey  = os.Getenv("GATEWAY_BUDGET_KEY")
	replayPort = os.Getenv("REPLAY_PORT")
)

func TestMain(m *testing.M) {
	if gatewayURL == "" || gatewayKey == "" || narrowKey == "" || limitedKey == "" || budgetKey == "" || replayPort == "" {
		fmt.Fprintln(os.Stderr, "GATEWAY_URL, GATEWAY_KEY, GATEWAY_NARROW_KEY, GATEWAY_LIMITED_KEY, GATEWAY_BUDGET_KEY and REPLAY_PORT must name a running gateway")
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// newClient makes a client that takes nothing from the environment but the
// gateway's address, and retries nothing unless the test says so.
func newClient(options ...option.RequestOption) anthropic.Client {
	return anthropic.NewClient(append([]option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithBaseURL(gatewayURL),
		option.WithAPIKey(gatewayKey),
		option.WithMaxRetries(0),
	}, options...)...)
}

// ask is a request with one user turn.
func ask(text string, more ...func(*anthropic.MessageNewParams)) anthropic.MessageNewParams {
	params := anthropic.MessageNewParams{
		Model:     model,
		MaxTokens: 1024,
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(text))},
	}
	for _, change := range more {
		change(&params)
	}
	return params
}

// accumulate reads a stream to its end as the vendor's accumulator does.
func accumulate(t *testing.T, client anthropic.Client, params anthropic.MessageNewParams) (anthropic.Message, error) {
	t.Helper()
	stream := client.Messages.NewStreaming(t.Context(), params)
	var message anthropic.Message
	for stream.Next() {
		require.NoError(t, message.Accumulate(stream.Current()))
	}
	return message, stream.Err()
}

// text joins the text blocks of an answer.
func text(message *anthropic.Message) string {
	var all string
	for _, block := range message.Content {
		if block.Type == "text" {
			all += block.Text
		}
	}
	return all
}

// apiError asserts that err is the vendor's typed error and returns it.
func apiError(t *testing.T, err error) *anthropic.Error {
	t.Helper()
	var failure *anthropic.Error
	require.ErrorAs(t, err, &failure)
	return failure
}

// wire keeps the requests that a client sent.
type wire struct {
	mu   sync.Mutex
	sent []*http.Request
}

func (w *wire) option() option.RequestOption {
	return option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		w.mu.Lock()
		w.sent = append(w.sent, r)
		w.mu.Unlock()
		return next(r)
	})
}

func (w *wire) retryCounts() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	counts := make([]string, len(w.sent))
	for i, r := range w.sent {
		counts[i] = r.Header.Get("X-Stainless-Retry-Count")
	}
	return counts
}
