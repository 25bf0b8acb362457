package endpoints_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

func TestCapabilitiesAreThoseOfTheModelsThatAKeyMayUse(t *testing.T) {
	s, p := site.StartLocked(t, "model allowed-fast {\nto up\n}", "model any-* {\nto up\n}")
	c, models := capabilitiesOf(s, site.AliceKey)
	assert.Equal(t, []string{"allowed-fast", "m1"}, models)
	_, models = capabilitiesOf(s, site.BobKey)
	assert.Equal(t, []string{"allowed-fast"}, models)
	for _, d := range c.Data {
		require.Len(t, d.Formats, len(formats.Names()))
		for format, got := range d.Formats {
			assert.Equal(t, "bytes", got.Lane)
			assert.Equal(t, format, got.Upstream)
			assert.Equal(t, []string{"*"}, got.Kept)
			assert.Equal(t, []string{}, append(got.Reported, got.Refused...))
		}
	}
	assert.JSONEq(t, `{"object":"list","data":[]}`, s.List(site.AliceKey, capabilitiesPath+"?model=other").Body)
	some := s.List(site.AliceKey, capabilitiesPath+"?model=m1&model=other&fields=count").Body
	assert.Contains(t, some, `{"model":"m1","formats":{`)
	assert.Contains(t, some, `{"lane":"bytes","upstream":"chat","kept":1,"reported":0,"refused":0,"left_out":0}`)
	assert.Contains(t, some, `,"endpoints":["/v1/embeddings",`)
	assert.NotContains(t, some, "allowed-fast")
	assert.Equal(t, http.StatusUnauthorized, s.List("sk-nobody", capabilitiesPath).Status)
	assert.Equal(t, http.StatusUnauthorized, s.List(site.OldKey, capabilitiesPath).Status)
	wrong := s.Ask(capabilitiesPath, "{}", "Authorization", "Bearer "+site.AliceKey)
	assert.Equal(t, http.StatusMethodNotAllowed, wrong.Status)
	assert.Equal(t, "GET, HEAD", wrong.Header.Get("Allow"))
	head := s.Raw("", "HEAD "+capabilitiesPath+" HTTP/1.1", "Authorization: Bearer "+site.AliceKey)
	assert.Equal(t, http.StatusOK, head.Status)
	assert.Empty(t, head.Body)
	assert.NotEmpty(t, head.Header.Get("Content-Length"))
	assert.Zero(t, p.Count(), "no provider is asked")
}

// Capabilities once listed endpoints for images and audio of the demo provider, which answers them with
// 404, and its model with a slash in the name was answered with 405 in the gemini format.
func TestTheDemoProviderHasWhatItsCapabilitiesList(t *testing.T) {
	s := site.Start(t, "provider demo {\nnames org/model:free\npace off\n}", "model org/model:free {\nto demo\n}")
	c, _ := capabilitiesOf(s, site.ClientKey)
	assert.Equal(t, []string{"/v1/embeddings", "/v1beta/models/{model}:embedContent", "/v1beta/models/{model}:batchEmbedContents"}, c.Data[0].Endpoints)
	assert.Equal(t, http.StatusOK, s.Ask("/v1beta/models/org/model:free:embedContent", `{"content":{"parts":[{"text":"x"}]}}`).Status)
	assert.Equal(t, http.StatusOK, s.Ask("/v1/embeddings", `{"model":"org/model:free","input":"x"}`).Status)
	assert.Equal(t, http.StatusNotFound, s.Ask("/v1/rerank", `{"model":"org/model:free","query":"x","documents":["x"]}`).Status)
	for _, method := range []string{"generateContent", "streamGenerateContent?alt=sse", "countTokens"} {
		answer := s.Ask("/v1beta/models/org/model:free:"+method, `{"contents":[{"role":"user","parts":[{"text":"x"}]}]}`)
		assert.Equal(t, http.StatusOK, answer.Status, "%s: %s", method, answer.Body)
	}
}

func TestCapabilitiesFollowTheTraitsOfTheTarget(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t,
		site.Direct.Provider("talker", p, "format chat", "models plain", "extensions min_p"),
		site.Direct.Provider("writer", p, "format completions", "models writer"),
		site.Direct.Provider("mute", p, "format completions", "prompt_template none", "models mute"),
		"model strict {\nto talker {\nextensions top_k\n}\non_loss reject\n}",
		"model both {\nto mute\nto talker\n}")
	c, models := capabilitiesOf(s, site.ClientKey)
	assert.Equal(t, []string{"both", "mute", "plain", "strict", "writer"}, models)
	ofPlain := c.Data[slices.Index(models, "plain")].Formats
	assert.Equal(t, "bytes", ofPlain["chat"].Lane)
	plain := ofPlain["messages"]
	assert.Equal(t, "translated", plain.Lane)
	assert.Equal(t, "chat", plain.Upstream)
	assert.Contains(t, plain.Kept, "temperature")
	assert.Contains(t, plain.Kept, "min_p")
	assert.Contains(t, plain.Reported, "top_k")
	assert.Contains(t, plain.Reported, "cache_control")
	assert.Contains(t, plain.Refused, "container")

	strict := c.Data[slices.Index(models, "strict")].Formats["messages"]
	assert.Contains(t, strict.Kept, "top_k")
	assert.NotContains(t, strict.Kept, "min_p", "the target's own list replaces the provider's")
	assert.Contains(t, strict.Refused, "output_config.effort=high")
	assert.Contains(t, strict.Reported, "cache_control", "a hint shapes nothing")

	assert.Equal(t, "completions", c.Data[slices.Index(models, "writer")].Formats["messages"].Upstream)
	mute := c.Data[slices.Index(models, "mute")].Formats
	assert.Len(t, mute, 1, "what no target can serve is not there")
	assert.Equal(t, "bytes", mute["completions"].Lane)
	both := c.Data[slices.Index(models, "both")].Formats
	assert.Equal(t, "chat", both["messages"].Upstream, "of the first target that can")
	assert.Equal(t, "completions", both["completions"].Upstream)
}

// Fields that are listed as refused are refused, and those listed as reported are
// reported.
func TestCapabilitiesAreTrue(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("talker", p, "format chat", "models m"))
		c, _ := capabilitiesOf(s, site.ClientKey)
		told := c.Data[0].Formats["messages"]
		for field, value := range map[string]string{"container": `"c"`, "speed": `"fast"`, "temperature": "0.5", "inference_geo": `"eu"`, "diagnostics": "{}"} {
			answer := s.Ask(site.MessagesPath, `{"`+field+`":`+value+`,`+site.BodyFor(site.MessagesPath, "m", "x", false)[1:])
			assert.Equal(t, slices.Contains(told.Refused, field), answer.Status == http.StatusBadRequest, field)
			assert.Equal(t, slices.Contains(told.Reported, field), answer.Header.Get("X-Gateway-Dropped") == field, field)
			if answer.Status == http.StatusOK {
				assert.Equal(t, slices.Contains(told.Kept, field), p.LastJSON(t)[field] != nil, field)
			}
		}
	})
}
