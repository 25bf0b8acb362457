package endpoints_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// A response of the same WebSocket counted as checked, also by a guard of other models: what a request for a model
// without the guard had sent was a part of the next request for a model with it.
func TestAGuardRefusesWhatItHasNotCheckedOnASocket(t *testing.T) {
	v := startLines(t)
	s := startSockets(t, v, "model free {\nto up/gpt-real\n}", "guard g regex {\nblock card\nmodels gpt\n}", "guard all regex {\nblock key\n}")
	say := func(c *socketClient, model, previous string) (id string, end frame) {
		c.send(`{"type":"response.create","model":"` + model + `",` + hello + previous + `}`)
		all := c.answer()
		return parsed(t, all[0]).Response.ID, parsed(t, all[len(all)-1])
	}
	after := func(id string) string { return `,"previous_response_id":"` + id + `"` }
	c := openSocket(t, s, site.ClientKey)
	guarded, _ := say(c, "gpt", "")
	next, end := say(c, "gpt", after(guarded))
	require.Equal(t, "response.completed", end.Type)
	unguarded, end := say(c, "free", after(next))
	require.Equal(t, "response.completed", end.Type, "a model without the guard")
	sent := len(v.received())
	for _, id := range []string{unguarded, next} {
		_, end = say(c, "gpt", after(id))
		assert.Contains(t, end.Error.Message, "the guard 'g' cannot check", id)
	}
	assert.Len(t, v.received(), sent)
	_, end = say(c, "gpt", "")
	assert.Equal(t, "response.completed", end.Type, "a request that names nothing")
	_, end = say(c, "free", after(unguarded))
	assert.Equal(t, "response.completed", end.Type, "the guard of all models has checked all")
}

// What a guard has cut out of an answer could be asked for by the next request.
func TestAGuardRefusesTheAnswerThatItHasCutOnASocket(t *testing.T) {
	v := startLines(t)
	s := startSockets(t, v, "guard g regex {\npattern p there\nblock p\n}")
	c := openSocket(t, s, site.ClientKey)
	all := c.ask(hello)
	require.NotEqual(t, "response.completed", parsed(t, all[len(all)-1]).Type)
	end := c.fault(hello + `,"previous_response_id":"` + parsed(t, all[0]).Response.ID + `"`)
	assert.Contains(t, end.Error.Message, "the guard 'g' cannot check")
}
