package endpoints_test

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// priced is a price for all models of the provider.
const priced = "model * {\nto up\nprice input 1 output 2\n}"

// startTapped starts a site that passes everything on and keeps records.
func startTapped(t *testing.T, w site.Way, rules string, lines ...string) passing {
	return startPassing(t, w, "allow /v1/* /v1beta/*\n"+rules, append(lines, "store sqlite "+filepath.Join(t.TempDir(), "gateway.db"))...)
}

// sends answers with a body of a type.
func (a *account) sends(contentType, body string, headers ...string) {
	a.answers(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		_, _ = io.WriteString(w, body)
	})
}

const eventStream = "text/event-stream"

// Other gateways have no cost for what they pass on, or guess the format of a stream by the host.
func TestX023StreamsThatArePassedOnAreRead(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := startTapped(t, w, "", priced)
		for _, path := range site.ClientPaths {
			stream := strings.Join(site.Streams[path], "")
			target, body := site.Addressed(path, site.BodyFor(path, "m-1", "hello", true))
			if path == site.ResponsesPath {
				body = strings.Replace(body, "{", `{"store":false,`, 1)
			}
			p.account.sends(eventStream, stream)
			answer := p.pass(http.MethodPost, target, body, "Accept-Encoding", "gzip, br")
			require.Equal(t, http.StatusOK, answer.Status, answer.Body)
			assert.Equal(t, stream, answer.Body, path)
			assert.Equal(t, body, p.account.last(t).body, path)
			assert.Equal(t, "identity", p.account.last(t).header.Get("Accept-Encoding"), path)
			r := recordOf(t, p.Site, answer.ID())
			assert.Equal(t, []any{"generate", "answered", 200, "m-1", "m-1"}, []any{r.Operation, r.Outcome, r.Status, r.Model, r.Calls[0].Model}, path)
			call := r.Calls[0]
			assert.Contains(t, call.Price, "model *", path)
			if path == site.ChatPath || path == site.CompletionsPath { // which report usage only if they are asked to
				assert.Equal(t, "estimated", call.Source, path)
				assert.Positive(t, call.Cost, path)
				continue
			}
			assert.Equal(t, []any{"provider", int64(9), int64(4), int64(17_000)}, []any{call.Source, call.Input, call.Output, call.Cost}, path)
		}
	})
}

// The bytes are those of the provider, whether the gateway can read them or not.
func TestX029CodedAnswersThatArePassedOnAreRead(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := startTapped(t, w, "", priced)
		answered := `{"id":"c","object":"chat.completion","model":"m-1-2026","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}`
		for name, kind := range map[string][2]string{
			"JSON":     {"application/json", answered},
			"a stream": {eventStream, "data: " + strings.Replace(strings.Replace(answered, "chat.completion", "chat.completion.chunk", 1), `"message"`, `"delta"`, 1) + "\n\ndata: [DONE]\n\n"},
		} {
			body := site.BodyFor(site.ChatPath, "m-1", "hello", kind[0] == eventStream)
			zipped := string(gzipped(t, kind[1]))
			for coded, sent := range map[string][]string{"as it is": {kind[1]}, "gzip": {zipped, "Content-Encoding", "gzip"}} {
				p.account.sends(kind[0], sent[0], sent[1:]...)
				answer := p.pass(http.MethodPost, site.ChatPath, body)
				assert.Equal(t, sent[0], answer.Body, "%s %s", name, coded)
				call := recordOf(t, p.Site, answer.ID()).Calls[0]
				assert.Equal(t, []any{"provider", int64(7), int64(3), int64(13_000)}, []any{call.Source, call.Input, call.Output, call.Cost}, "%s %s", name, coded)
			}
		}
		p.account.sends("application/json", "broken", "Content-Encoding", "gzip")
		answer := p.pass(http.MethodPost, site.ChatPath, site.BodyFor(site.ChatPath, "m-1", "hello", false))
		assert.Equal(t, "broken", answer.Body)
		assert.Equal(t, "estimated", recordOf(t, p.Site, answer.ID()).Calls[0].Source, "what cannot be read is not free")

		zipped := string(gzipped(t, site.BodyFor(site.ChatPath, "m-2", "hello", false)))
		p.account.sends("application/json", answered)
		answer = p.pass(http.MethodPost, site.ChatPath, zipped, "Content-Encoding", "gzip")
		assert.Equal(t, zipped, p.account.last(t).body)
		assert.Equal(t, "m-2", recordOf(t, p.Site, answer.ID()).Calls[0].Model)
	})
}

// Each endpoint beside text is read as it is at the gateway's own path.
func TestWhatIsPassedOnBesideTextIsRead(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := startTapped(t, w, "", "model * {\nto up\nprice input 1 output 2 image 0.5 minute 0.6 characters 3 search 2\n}")
		speech, formType := form(t, "model=m-1", "file@a.mp3="+strings.Repeat("x", 5000), "response_format=srt")
		for path, c := range map[string][4]string{
			"/v1/embeddings":            {`{"model":"m-1","input":"a"}`, "application/json", "application/json", `{"object":"list","data":[],"model":"m-1","usage":{"prompt_tokens":5,"total_tokens":5}}`},
			"/v1/rerank":                {`{"model":"m-1","query":"a","documents":["b"]}`, "application/json", "application/json", `{"results":[],"meta":{"billed_units":{"search_units":2}}}`},
			"/v1/images/generations":    {`{"model":"m-1","prompt":"a","n":2}`, "application/json", "application/json", `{"created":1,"data":[{"b64_json":"x"},{"b64_json":"y"}]}`},
			"/v1/audio/speech":          {`{"model":"m-1","input":"hello","voice":"v"}`, "application/json", "audio/mpeg", "sound"},
			"/v1/audio/transcriptions":  {speech, formType, "text/plain", "1\n00:00:00,000 --> 00:00:10,000\nhello\n"},
			"/v1/messages/count_tokens": {site.BodyFor(site.MessagesPath, "m-1", "hello", false), "application/json", "application/json", `{"input_tokens":3}`},
		} {
			p.account.sends(c[2], c[3])
			answer, own := p.pass(http.MethodPost, path, c[0], "Content-Type", c[1]), p.Ask(path, c[0], "Content-Type", c[1])
			require.Equal(t, http.StatusOK, answer.Status, "%s: %s", path, answer.Body)
			assert.Equal(t, c[3], answer.Body, path)
			if path != "/v1/messages/count_tokens" { // which has no call in its record
				assert.Equal(t, recordOf(t, p.Site, own.ID()), recordOf(t, p.Site, answer.ID()), path)
			}
		}
	})
}

// Other gateways have let keys use models over a pass-through that they may not use elsewhere.
func TestX026TheModelOfWhatIsReadIsChecked(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := startTapped(t, w, "", "key other {env.OTHER_KEY} {\nmodels claude-* gpt-big\n}", "provider cheap vllm {\nbase_url http://127.0.0.1:1/v1\nmodels off\n}", "model gpt-big {\nto cheap/gpt-small\n}")
		for name, c := range map[string]struct {
			path, body string
			want       string
		}{
			"a model":                            {site.MessagesPath, site.BodyFor(site.MessagesPath, "claude-x", "hello", false), ""},
			"in a path":                          {"/v1beta/models/claude-x:generateContent", `{"contents":[{"parts":[{"text":"a"}]}]}`, ""},
			"counting":                           {site.CountPath, site.BodyFor(site.MessagesPath, "claude-x", "hello", false), ""},
			"another model":                      {site.MessagesPath, site.BodyFor(site.MessagesPath, "gpt-x", "hello", false), "may not use model 'gpt-x'"},
			"another model in a path":            {"/v1beta/models/gpt-x:generateContent", `{"contents":[{"parts":[{"text":"a"}]}]}`, "may not use model 'gpt-x'"},
			"a stream that is no tap":            {"/v1beta/models/claude-x:streamGenerateContent", `{"contents":[{"parts":[{"text":"a"}]}]}`, "only some models"},
			"a name that leads elsewhere":        {site.ChatPath, site.BodyFor(site.ChatPath, "gpt-big", "hello", false), "may not use model 'gpt-big'"},
			"models to fall back to":             {site.ChatPath, `{"model":"claude-x","models":["gpt-x"],"messages":[{"role":"user","content":"a"}]}`, "models"},
			"no model":                           {site.MessagesPath, `{"messages":[]}`, "model"},
			"two models":                         {site.MessagesPath, `{"model":"claude-x","model":"gpt-x","max_tokens":1,"messages":[{"role":"user","content":"a"}]}`, "model"},
			"what is not JSON":                   {site.ChatPath, "model=gpt-x", "JSON"},
			"more than the gateway reads":        {site.ChatPath, site.BodyFor(site.ChatPath, "claude-x", strings.Repeat("a", 33<<20), false), "larger"},
			"another endpoint":                   {"/v1/ocr", `{"model":"claude-x"}`, "only some models"},
			"an endpoint that looks like one":    {"/v1/x/chat/completions", site.BodyFor(site.ChatPath, "claude-x", "hello", false), "only some models"},
			"a response that the provider keeps": {site.ResponsesPath, `{"model":"claude-x","input":"a"}`, "stored objects"},
		} {
			before := len(p.account.lines())
			answer := p.pass(http.MethodPost, c.path, c.body, "Authorization", "Bearer "+otherKey)
			if c.want == "" {
				assert.Equal(t, http.StatusOK, answer.Status, "%s: %s", name, answer.Body)
				continue
			}
			assert.GreaterOrEqual(t, answer.Status, 400, name)
			assert.Contains(t, answer.Body, c.want, name)
			assert.Len(t, p.account.lines(), before, name)
		}
	})
}

// A budget holds for what is read, and a model without a price is not free.
func TestX025ABudgetHoldsForWhatIsRead(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		const small = "limit small {\nbudget 0.01/month\n}"
		p := startTapped(t, w, "", small, "key other {env.OTHER_KEY} {\nlimit small\n}", "model m-* {\nto up\nprice input 1 output 2\n}")
		ask := func(model string, tokens string) site.Reply {
			body := `{"model":"` + model + `","max_tokens":` + tokens + `,"messages":[{"role":"user","content":"a"}]}`
			return p.pass(http.MethodPost, site.MessagesPath, body, "Authorization", "Bearer "+otherKey)
		}
		p.account.sends("application/json", `{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":"end_turn","usage":{"input_tokens":1000,"output_tokens":2500}}`)
		answer := ask("m-1", "100000")
		assert.Equal(t, http.StatusTooManyRequests, answer.Status, "the answer may cost more than the budget: %s", answer.Body)
		assert.Contains(t, ask("free", "10").Body, "price")
		assert.Empty(t, p.account.lines())
		assert.Equal(t, http.StatusOK, ask("m-1", "2500").Status)
		answer = ask("m-1", "2500")
		assert.Contains(t, answer.Body, "budget", "6 of 10 parts are spent")
		assert.Equal(t, http.StatusOK, ask("m-1", "1000").Status)
		assert.Len(t, p.account.lines(), 2)
	})
}

// Where an operator lets keys with budgets call what has no price, they may call a model without one.
func TestX025AWordLetsKeysWithBudgetsUseModelsWithoutAPrice(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := startTapped(t, w, "unpriced allow", "limit small {\nbudget 5/month\n}", "key other {env.OTHER_KEY} {\nlimit small\n}")
		answer := p.pass(http.MethodPost, site.ChatPath, site.BodyFor(site.ChatPath, "free", "hello", false), "Authorization", "Bearer "+otherKey)
		require.Equal(t, http.StatusOK, answer.Status, answer.Body)
		r := recordOf(t, p.Site, answer.ID())
		assert.Equal(t, []any{"pass", "unknown"}, []any{r.Operation, r.Calls[0].Costing})
	})
}

// A format that has learned something new is passed on, and a response that leaves nothing behind.
func TestARequestThatCannotBeReadIsPassedOnUnread(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := startTapped(t, w, "max_body 64MiB", priced)
		long := site.BodyFor(site.ChatPath, "m-1", strings.Repeat("a", 33<<20), false)
		for name, c := range map[string][2]string{
			"new members": {site.ChatPath, `{"model":"m-1","conversation_of_tomorrow":[]}`},
			"no JSON":     {site.MessagesPath, "hello"},
			"too long":    {site.ChatPath, long},
		} {
			answer := p.pass(http.MethodPost, c[0], c[1])
			require.Equal(t, http.StatusOK, answer.Status, "%s: %s", name, answer.Body)
			assert.Equal(t, "pass", recordOf(t, p.Site, answer.ID()).Operation, name)
			if sent := p.account.last(t).body; sent != "" { // the account keeps no long ones
				assert.Equal(t, c[1], sent, name)
			}
		}
		for body, want := range map[string]int{
			`{"model":"m-1","input":"a","store":false}`:                                 http.StatusOK,
			`{"model":"m-1","input":"a"}`:                                               http.StatusForbidden,
			`{"model":"m-1","input":"a","store":false,"previous_response_id":"resp_1"}`: http.StatusForbidden,
			`{"model":"m-1","input":"a","store":false,"conversation":"conv_1"}`:         http.StatusForbidden,
			`{"model":"m-1","input":"a","store":false,"background":true}`:               http.StatusForbidden,
		} {
			answer := p.pass(http.MethodPost, site.ResponsesPath, body)
			assert.Equal(t, want, answer.Status, "%s: %s", body, answer.Body)
		}
	})
}

// An error in an answer with the status 200 costs nothing, and the stream of a client that leaves costs
// what it has got.
func TestAnswersThatArePassedOnAndEndEarly(t *testing.T) {
	site.EachWay(t, func(t *testing.T, w site.Way) {
		p := startTapped(t, w, "", priced)
		body := site.BodyFor(site.ChatPath, "m-1", "hello", true)
		p.account.sends(eventStream, "data: {\"error\":{\"message\":\"overloaded\",\"type\":\"server_error\"}}\n\n")
		r := recordOf(t, p.Site, p.pass(http.MethodPost, site.ChatPath, body).ID())
		assert.Equal(t, []any{"answered", int64(0)}, []any{r.Outcome, r.Calls[0].Cost})

		events, left := site.Streams[site.MessagesPath], make(chan struct{})
		for end, want := range map[int][]any{4: {"client_closed", "partial", int64(1)}, len(events): {"answered", "provider", int64(4)}} {
			p.account.answers(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", eventStream)
				_, _ = io.WriteString(w, strings.Join(events[:end], ""))
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
				left <- struct{}{}
			})
			request, err := http.NewRequestWithContext(site.Waiting(t), http.MethodPost, p.URL("site", "/pass/up"+site.MessagesPath), strings.NewReader(site.BodyFor(site.MessagesPath, "m-1", "hello", true)))
			require.NoError(t, err)
			request.Header.Set("Authorization", "Bearer "+site.ClientKey)
			response, err := p.Client.Do(request)
			require.NoError(t, err)
			_, err = io.ReadFull(response.Body, make([]byte, len(strings.Join(events[:end], ""))))
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			<-left
			r = recordOf(t, p.Site, response.Header.Get("X-Request-Id"))
			assert.Equal(t, want, []any{r.Outcome, r.Calls[0].Source, r.Calls[0].Output}, "after %d events", end)
		}
	})
}
