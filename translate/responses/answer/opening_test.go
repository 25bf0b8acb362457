package answer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/tell"
)

// Before the first event of a provider, clients got only comments, which some of them do not
// count as activity: they gave up a provider that was processing a long prompt.
func TestAnAnswerContinuesItsOpening(t *testing.T) {
	ids := newIDs()
	opening := answer.NewOpening([]byte(`{"model":"asked","temperature":0.5}`), ids)
	ids.Begun = opening.Events
	out := opening.AppendKeepAlive(nil)
	for range 3 {
		out = opening.AppendKeepAlive(out)
	}
	e := answer.NewEmitter(&translate.AnswerContext{Stream: true}, ids)
	for _, event := range []event.Event{tell.Start, tell.Text("a"), tell.TextEnd, tell.End} {
		e.Handle(&event)
		out = append(out, e.Output()...)
	}
	response, err := client.Responses.Emitted(out) // reads the numbers, the ids and the order strictly
	require.NoError(t, err, "%s", out)
	assert.JSONEq(t, "["+aMessage(0, "completed", aText("a"))+"]", outputOf(t, response))
}

func TestAnOpeningWithoutAnAnswerFails(t *testing.T) {
	for name, keepAlives := range map[string]int{"at once": 0, "behind keep-alives": 3} {
		opening := answer.NewOpening(nil, newIDs())
		var out []byte
		for range keepAlives {
			out = opening.AppendKeepAlive(out)
		}
		out = opening.AppendFailure(out, fault.NoUpstream("m"))
		_, err := client.Responses.Emitted(out)
		require.ErrorIs(t, err, client.ErrFailed, name)
		_, data := lastEvent(t, string(out))
		response := data["response"].(client.Object)
		assert.Equal(t, "asked", response["model"], name)
		assert.Equal(t, []any{}, response["output"], name)
	}
}
