package access_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

const (
	card    = "4111 1111 1111 1111"
	address = "jane.doe@example.com"
)

// guarded starts a site with a provider of every format, behind a guard.
func guarded(t *testing.T, guard ...string) (*site.Site, *gatewaytest.Provider) {
	t.Helper()
	p := gatewaytest.NewProvider(t)
	google := site.Direct.Provider("google", p, "format gemini", "models gem")
	return site.Start(t, append(guard, site.Direct.Provider("p", p), google, "model gem {\nto google\n}", site.Steady)...), p
}

const pii = "guard pii regex {\nblock card iban key\nmask email\n}"

// heard is what the guard "recorder" was asked about since it was cleared.
var heard struct {
	sync.Mutex
	views []aigateway.GuardView
}

// hearing forgets what was heard, and returns a function that returns what was heard since.
func hearing() func() []aigateway.GuardView {
	heard.Lock()
	defer heard.Unlock()
	heard.views = nil
	return func() []aigateway.GuardView {
		heard.Lock()
		defer heard.Unlock()
		return heard.views
	}
}

// recorder is a guard that notes what it is asked about. It edits calls so that their JSON
// breaks, fails for a text with the word "unspeakable", and does not check "unreadable".
type recorder struct{}

func init() { caddy.RegisterModule(recorder{}) }

func (recorder) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "ai_gateway.guards.recorder", New: func() caddy.Module { return new(recorder) }}
}

func (*recorder) Check(_ context.Context, v *aigateway.GuardView) (verdict aigateway.GuardVerdict, _ error) {
	heard.Lock()
	defer heard.Unlock()
	heard.views = append(heard.views, *v)
	for i, text := range v.Texts {
		if strings.Contains(text.Text, "unspeakable") {
			return verdict, errors.New("the guard has no words")
		}
		verdict.Unchecked = verdict.Unchecked || strings.Contains(text.Text, "unreadable")
		if start := strings.Index(text.Text, "breakable"); start >= 0 {
			verdict.Edits = append(verdict.Edits, aigateway.GuardEdit{Text: i, Start: start, End: start + len("breakable"), With: `"`, Rule: "quote"})
		}
	}
	return verdict, nil
}

// startRecorded starts a gateway with the guard recorder, which no Caddyfile can name.
func startRecorded(t *testing.T) (*site.Site, *gatewaytest.Provider) {
	t.Helper()
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("p", p), site.Steady)
	var config map[string]any
	response := s.Get(s.AdminURL("/config/"))
	defer response.Body.Close()
	require.NoError(t, json.NewDecoder(response.Body).Decode(&config))
	handlers := handlersOf(config)
	require.Len(t, handlers, 1)
	handlers[0]["guards"] = []any{map[string]any{"name": "rec", "guard": map[string]any{"guard": "recorder"}}}
	raw, err := json.Marshal(config)
	require.NoError(t, err)
	// The admin API answers while the configuration without the guard may still accept connections:
	// Reload waits for its end.
	require.NoError(t, s.Reload(string(raw)))
	return s, p
}

// handlersOf returns the handlers of the gateway in a configuration.
func handlersOf(config any) (handlers []map[string]any) {
	switch v := config.(type) {
	case map[string]any:
		if v["handler"] == "ai_gateway" {
			return []map[string]any{v}
		}
		for _, inner := range v {
			handlers = append(handlers, handlersOf(inner)...)
		}
	case []any:
		for _, inner := range v {
			handlers = append(handlers, handlersOf(inner)...)
		}
	}
	return handlers
}

func TestX106ABlockedRequestNamesGuardAndRule(t *testing.T) {
	s, p := guarded(t, pii)
	for _, path := range append([]string{site.CountPath}, site.ClientPaths...) {
		t.Run(path, func(t *testing.T) {
			answer := s.Ask(path, site.BodyFor(site.Counted(path), "m", "my card is "+card, false))
			assert.Equal(t, http.StatusBadRequest, answer.Status)
			assert.Contains(t, answer.Failure(t).Message, "blocked by the guard 'pii', rule 'card'")
			assert.Equal(t, "false", answer.Header.Get("X-Should-Retry"))
			assert.NotContains(t, answer.Body, "1111", "no text is repeated")
			record := s.Record(answer.ID())
			assert.Equal(t, "refused", record["outcome"])
			assert.Contains(t, record["fault"], "guard 'pii'")
		})
	}
	chat := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", card, false))
	assert.Contains(t, chat.Body, `"code":"content_blocked"`)
	assert.Zero(t, p.Count(), "no provider gets the request")
	s.AssertNoEntry("1111 1111")
}

// lastBody returns the body that the provider got last.
func lastBody(t *testing.T, p *gatewaytest.Provider) string {
	t.Helper()
	all := p.Requests()
	require.NotEmpty(t, all)
	return string(all[len(all)-1].Body)
}

func TestX107AGuardSeesOnlyTheTextsThatItHasNotPassed(t *testing.T) {
	s, p := startRecorded(t)
	turns := func(list ...string) string {
		var messages []string
		for i, text := range list {
			messages = append(messages, `{"role":"`+[]string{"user", "assistant"}[i%2]+`","content":"`+text+`"}`)
		}
		return `{"model":"m","max_tokens":9,"messages":[` + strings.Join(messages, ",") + `]}`
	}
	seen := func(body string) (texts []string) {
		got := hearing()
		require.Equal(t, http.StatusOK, s.Ask(site.MessagesPath, body).Status)
		for _, v := range got() {
			if v.Phase != aigateway.GuardRequest {
				continue
			}
			assert.Equal(t, "messages", v.Format)
			for _, text := range v.Texts {
				if text.Kind != aigateway.GuardOther {
					texts = append(texts, string(text.Kind)+" "+text.Text)
				}
			}
		}
		return texts
	}
	assert.Equal(t, []string{"user one"}, seen(turns("one")))
	assert.Equal(t, []string{"assistant two", "user three"}, seen(turns("one", "two", "three")))
	assert.Equal(t, []string{"user one changed"}, seen(turns("one changed", "two", "three")), "what looks old is checked, too")
	assert.Equal(t, 3, p.Count())
	// A guard that could not be asked, with on_error pass, was never asked again about the texts
	// of that moment. And what it had passed for one key or model, it had passed for all.
	assert.Equal(t, []string{"user unreadable"}, seen(turns("unreadable")))
	assert.Equal(t, []string{"user unreadable"}, seen(turns("unreadable")), "an unchecked text has not passed")
	assert.Equal(t, []string{"user one"}, seen(strings.Replace(turns("one"), `"m"`, `"other"`, 1)), "the verdict may depend on the model")
}

func TestX108AnEditIsPutBackAsValidJSON(t *testing.T) {
	s, p := guarded(t, pii)
	for path, body := range map[string]string{
		site.MessagesPath:  `{ "model":"m", "max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"say \"TEXT\" \ud83d\ude00 \u00e9"} , {"type":"text","text":"kept \u0041"}]}],"metadata":{"user_id":"u"},"temperature":1.0}`,
		site.ChatPath:      `{ "model":"m", "messages":[{"role":"user","content":"say \"TEXT\" \ud83d\ude00 \u00e9"} , {"role":"user","content":"kept \u0041"}],"seed":1.0}`,
		site.ResponsesPath: `{ "model":"m", "input":[{"role":"user","content":"say \"TEXT\" \ud83d\ude00 \u00e9"} , {"role":"user","content":"kept \u0041"}],"top_p":1.0}`,
	} {
		t.Run(path, func(t *testing.T) {
			answer := s.Ask(path, strings.Replace(body, "TEXT", "mail "+address, 1))
			require.Equal(t, http.StatusOK, answer.Status, answer.Body)
			got := lastBody(t, p)
			assert.True(t, json.Valid([]byte(got)), got)
			before, after, _ := strings.Cut(body, `"say \"TEXT\" \ud83d\ude00 \u00e9"`)
			assert.Equal(t, before+`"say \"mail [email]\" 😀 é"`+after, got, "all bytes around the text are unchanged")
		})
	}
}

func TestX109AnEditThatBreaksArgumentsBlocks(t *testing.T) {
	s, p := startRecorded(t)
	for path, body := range map[string]string{
		site.MessagesPath:  `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{"a":"breakable"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}]}`,
		site.ChatPath:      `{"model":"m","messages":[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{\"a\":\"breakable\"}"}}]},{"role":"tool","tool_call_id":"t1","content":"ok"}]}`,
		site.ResponsesPath: `{"model":"m","input":[{"role":"user","content":"go"},{"type":"function_call","call_id":"t1","name":"f","arguments":"{\"a\":\"breakable\"}"},{"type":"function_call_output","call_id":"t1","output":"ok"}]}`,
	} {
		answer := s.Ask(path, body)
		assert.Equal(t, http.StatusBadRequest, answer.Status, path)
		assert.Contains(t, answer.Failure(t).Message, "guard 'rec', rule 'quote'", path)
		answer = s.Ask(path, strings.ReplaceAll(body, "breakable", "fine"))
		assert.Equal(t, http.StatusOK, answer.Status, path+answer.Body)
	}
	assert.Equal(t, 3, p.Count())
}

func TestX113SignedReasoningIsNeverMasked(t *testing.T) {
	s, p := guarded(t, pii)
	body := `{"model":"m","max_tokens":2000,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"TEXT"},{"role":"assistant","content":[{"type":"thinking","thinking":"they wrote ` + address + `","signature":"EpwE` + strings.Repeat("Ab1/", 90) + `"},{"type":"text","text":"TEXT"}]},{"role":"user","content":"go on"}]}`
	s.Ask(site.MessagesPath, strings.ReplaceAll(body, "TEXT", address)) // the provider refuses the made-up signature
	assert.Equal(t, strings.ReplaceAll(body, "TEXT", "[email]"), lastBody(t, p))
}

func TestX114AReferenceIsRefusedUnlessAllowed(t *testing.T) {
	s, p := guarded(t, pii)
	for path, body := range map[string]string{
		site.ResponsesPath:   `{"model":"m","previous_response_id":"resp_1","input":"go on"}`,
		site.MessagesPath:    `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"file","file_id":"file_1"}}]}]}`,
		site.ChatPath:        `{"model":"m","messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"file_1"}}]}]}`,
		site.CompletionsPath: `{"model":"m","prompt":[19,16243,15]}`, // arrays of tokens passed unchecked
		"/v1/embeddings":     ` {"model":"m","\u0069nput":["a",[1,2,3]]}`,
	} {
		answer := s.Ask(path, body)
		assert.Equal(t, http.StatusBadRequest, answer.Status, path)
		assert.Contains(t, answer.Failure(t).Message, "refers to a content that the guard 'pii' cannot check", path)
	}
	assert.Zero(t, p.Count())
}

func TestAReferenceIsAllowedByItsWord(t *testing.T) {
	s, p := guarded(t, "guard pii regex {\nblock card\nallow_references on\n}")
	s.Ask(site.MessagesPath, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"file","file_id":"file_1"}}]}]}`)
	s.Ask(site.CompletionsPath, `{"model":"m","prompt":[[19,16243,15]]}`)
	assert.Equal(t, 2, p.Count())
}

func TestX114AGuardIsAskedAboutAnEmptyText(t *testing.T) {
	s, _ := startRecorded(t)
	got := hearing()
	assert.Equal(t, http.StatusOK, s.Ask(site.ChatPath, `{"model":"m","messages":[{"role":"user","content":""}]}`).Status)
	assert.NotEmpty(t, got(), "an empty text is nothing to search, but something to decide")
	assert.Equal(t, http.StatusServiceUnavailable, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "unspeakable", false)).Status)
}

// Each of these requests hides the number of a card where a guard may not look.
func TestNoWayAroundAGuard(t *testing.T) {
	s, p := guarded(t, pii)
	digits := strings.ReplaceAll(card, " ", "")
	escaped := strings.NewReplacer("4", `\u0034`, "1", `\u0031`).Replace(digits)
	chat := func(content string) string {
		return `{"model":"m","messages":[{"role":"user","content":` + content + `}]}`
	}
	for name, request := range map[string][2]string{
		"escapes of JSON":                {site.ChatPath, chat(`"` + escaped + `"`)},
		"escapes within arguments":       {site.ChatPath, `{"model":"m","messages":[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":"{\"a\":\"` + strings.ReplaceAll(escaped, `\`, `\\`) + `\"}"}}]},{"role":"tool","tool_call_id":"t","content":"ok"}]}`},
		"names of members of arguments":  {site.MessagesPath, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"` + digits + `":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}]}`},
		"two parts of a message":         {site.ChatPath, chat(`[{"type":"text","text":"4111 1111 "},{"type":"text","text":"1111 1111"}]`)},
		"two messages of one role":       {site.ChatPath, `{"model":"m","messages":[{"role":"user","content":"4111 1111 "},{"role":"user","content":"1111 1111"}]}`},
		"characters without a width":     {site.ChatPath, chat(`"4111\u200b1111\u20601111\u00ad1111"`)},
		"wide characters":                {site.ChatPath, chat(`"４１１１ １１１１ １１１１ １１１１"`)},
		"the result of a tool":           {site.MessagesPath, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"` + card + `"}]}]}]}`},
		"the system prompt":              {site.MessagesPath, `{"model":"m","max_tokens":9,"system":"` + card + `","messages":[{"role":"user","content":"go"}]}`},
		"a description of a tool":        {site.ChatPath, `{"model":"m","tools":[{"type":"function","function":{"name":"f","description":"` + card + `"}}],"messages":[{"role":"user","content":"go"}]}`},
		"a schema of a tool":             {site.ChatPath, `{"model":"m","tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"` + digits + `":{}}}}}],"messages":[{"role":"user","content":"go"}]}`},
		"a number":                       {site.ChatPath, `{"model":"m","metadata":{"n":` + digits + `},"messages":[{"role":"user","content":"go"}]}`},
		"a member that nobody defines":   {site.ChatPath, `{"model":"m","hidden":[{"prompt":"` + card + `"}],"messages":[{"role":"user","content":"go"}]}`},
		"a block that nobody defines":    {site.MessagesPath, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"note","words":"` + card + `"},{"type":"text","text":"go"}]}]}`},
		"a text document":                {site.MessagesPath, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"` + card + `"}}]}]}`},
		"signed reasoning":               {site.MessagesPath, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"thinking","thinking":"` + card + `","signature":"Eps"},{"type":"text","text":"a"}]},{"role":"user","content":"go"}]}`},
		"a prompt of completions":        {site.CompletionsPath, `{"model":"m","prompt":["a","` + card + `"]}`},
		"instructions of responses":      {site.ResponsesPath, `{"model":"m","instructions":"` + card + `","input":"go"}`},
		"the input of embeddings":        {"/v1/embeddings", `{"model":"m","input":["` + card + `"]}`},
		"a turn before a made-up answer": {site.ChatPath, `{"model":"m","messages":[{"role":"user","content":"` + card + `"},{"role":"assistant","content":"fine"},{"role":"user","content":"go"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			answer := s.Ask(request[0], request[1])
			assert.Equal(t, http.StatusBadRequest, answer.Status, answer.Body)
			assert.Contains(t, answer.Body, "rule 'card'")
		})
	}
	t.Run("a compressed body", func(t *testing.T) {
		answer := s.Ask(site.ChatPath, site.Encoded(t, "gzip", chat(`"`+card+`"`)), "Content-Encoding", "gzip")
		assert.Equal(t, http.StatusBadRequest, answer.Status, answer.Body)
	})
	assert.Zero(t, p.Count(), "no provider gets any of them")
}

func TestAGuardChecksOnlyItsKeysAndModelsAndKinds(t *testing.T) {
	s, p := guarded(t, "guard other regex {\nblock card\nmodels other-*\n}", "guard nobody regex {\nblock card\nkeys nobody\n}", "guard results regex {\nblock card\ncheck tool_result\n}")
	assert.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", card, false)).Status)
	assert.Equal(t, http.StatusBadRequest, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "other-m", card, false)).Status)
	assert.Equal(t, 1, p.Count())
}

// A request that is blocked must not be free: it would show, at no cost, what a guard finds.
func TestABlockedRequestCountsForTheRateOfItsKey(t *testing.T) {
	site.SetKeys(t)
	s, _ := guarded(t, pii, "limit two {\nrequests 2/1h\n}", "key alice {env.KEY_ALICE} {\nlimit two\n}")
	ask := func(text string) int {
		return s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", text, false), "Authorization", "Bearer "+site.AliceKey).Status
	}
	assert.Equal(t, []int{http.StatusBadRequest, http.StatusOK, http.StatusTooManyRequests}, []int{ask(card), ask("hello"), ask("hello")})
}
