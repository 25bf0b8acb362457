// Package clients runs the vendors' own Go clients against a running gateway: what their
// accumulators and typed errors make of its answers. The suite in ../npm has all cases;
// this one shows that the clients of another language agree. It is a module of its own so
// that the clients never enter the dependency graph of those who build the gateway.
//
// The gateway runs with ../Caddyfile at GATEWAY_URL and accepts GATEWAY_KEY; the suite fails
// without them.
package clients

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/stretchr/testify/require"
)

const model = anthropic.Model("demo")

var (
	gatewayURL = os.Getenv("GATEWAY_URL")
	gatewayKey = os.Getenv("GATEWAY_KEY")
)

func TestMain(m *testing.M) {
	if gatewayURL == "" || gatewayKey == "" {
		fmt.Fprintln(os.Stderr, "GATEWAY_URL and GATEWAY_KEY must name a running gateway")
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
	var all strings.Builder
	for _, block := range message.Content {
		if block.Type == "text" {
			all.WriteString(block.Text)
		}
	}
	return all.String()
}

// apiError asserts that err is the vendor's typed error and returns it.
func apiError(t *testing.T, err error) *anthropic.Error {
	t.Helper()
	var failure *anthropic.Error
	require.ErrorAs(t, err, &failure)
	return failure
}
