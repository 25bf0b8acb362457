package clients

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// These tests are about what servers do that the vendor's own service does not.

// hurried are models whose providers answer without a pause and refuse nothing:
// in the client's format, and in another one.
var hurried = []string{"hurried-messages", "hurried-chat"}

// eachHurried runs a test with both majors and all of these models. ask makes a
// request whose turns alternate, the user's first.
func eachHurried(t *testing.T, test func(t *testing.T, m major, ask func(turns ...any) []byte)) {
	for _, model := range hurried {
		t.Run(model, func(t *testing.T) {
			eachMajor(t, func(t *testing.T, m major) {
				test(t, m, func(turns ...any) []byte {
					for i, turn := range turns {
						if text, ok := turn.(string); ok {
							turns[i] = userTurn(text)
						}
					}
					return request(t, turns, fields{"model": model})
				})
			})
		})
	}
}

func TestThinkingWithoutASignatureComesBackInTheNextTurn(t *testing.T) {
	eachHurried(t, func(t *testing.T, m major, ask func(...any) []byte) {
		const prompt = "[[think]] [[fault:no-signature]] about primes"
		plain, err := m.create(t.Context(), ask(prompt))
		require.NoError(t, err)
		streamed, err := m.stream(t.Context(), ask(prompt))
		require.NoError(t, err)
		for _, first := range []*turn{plain, streamed} {
			assert.Equal(t, "thinking", first.Blocks[0].Type)
			second, err := m.create(t.Context(), ask(prompt, first.Param, "And further?"))
			require.NoError(t, err)
			assert.Contains(t, second.text(), "And further?")
		}
	})
}

func TestAnAnswerThatSaysNothingIsAnAnswer(t *testing.T) {
	eachHurried(t, func(t *testing.T, m major, ask func(...any) []byte) {
		plain, err := m.create(t.Context(), ask("[[fault:null-content]] Hi"))
		require.NoError(t, err)
		streamed, err := m.stream(t.Context(), ask("[[fault:null-content]] Hi"))
		require.NoError(t, err)
		for _, answer := range []*turn{plain, streamed} {
			assert.Empty(t, answer.Blocks)
			assert.Equal(t, "end_turn", answer.StopReason)
		}
	})
}

// An error that came in one piece with text was once a status in most runs, and
// the text was lost.
func TestAnErrorRightBehindTextEndsTheStream(t *testing.T) {
	for _, model := range hurried {
		t.Run(model, func(t *testing.T) {
			message, err := accumulate(t, newClient(), ask("[[fault:burst]] [[fault:error-event after=2]] Tell a story that breaks off",
				func(p *anthropic.MessageNewParams) { p.Model = anthropic.Model(model) }))
			assert.Equal(t, http.StatusOK, apiError(t, err).StatusCode, "an error of the stream")
			assert.Equal(t, "This is", text(&message))
			assert.Empty(t, message.StopReason)
		})
	}
}

func TestAPromptBeyondTheContextIsRefusedInTheVendorsWords(t *testing.T) {
	eachHurried(t, func(t *testing.T, m major, ask func(...any) []byte) {
		_, plain := m.create(t.Context(), ask("[[fault:too-long]]"))
		_, streamed := m.stream(t.Context(), ask("[[fault:too-long]]"))
		for _, err := range []error{plain, streamed} {
			refused := refusalOf(t, err)
			assert.Equal(t, http.StatusBadRequest, refused.status)
			var body struct{ Error struct{ Message string } }
			require.NoError(t, json.Unmarshal([]byte(refused.body), &body))
			assert.Regexp(t, `^prompt is too long: .*213462 tokens`, body.Error.Message)
		}
	})
}

func TestModelsThatAProviderListsAreListed(t *testing.T) {
	client := newClient()
	page, err := client.Models.List(t.Context(), anthropic.ModelListParams{})
	require.NoError(t, err)
	var names []string
	for _, info := range page.Data {
		names = append(names, info.ID)
	}
	assert.Subset(t, names, []string{"listed-large", "listed-small"})
	assert.NotContains(t, names, "unlisted")
}
