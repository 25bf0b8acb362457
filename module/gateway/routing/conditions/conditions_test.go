package conditions_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/conditions"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// load returns the condition of an expression, in which {request. abbreviates the prefix.
func load(t *testing.T, expression string) (catalog.Condition, error) {
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	t.Cleanup(cancel)
	return conditions.Load(ctx, strings.ReplaceAll(expression, "{request.", "{"+conditions.Prefix))
}

// exchangeOf returns the exchange of a request in a format.
func exchangeOf(t *testing.T, format, body string) *exchange.Exchange {
	client := formats.Of(translate.Format(format))
	view, refused := client.Requests.Inspect([]byte(body), translate.Generate)
	require.Nil(t, refused)
	return &exchange.Exchange{
		Key: &aigateway.Key{ID: "team", Owner: "ada", Limit: "small", Labels: aigateway.Labels{Customer: "acme", Tags: []aigateway.Tag{{Name: "env", Value: "prod"}}}},
		Request: exchange.Request{
			Format: client, Client: http.Header{"User-Agent": {"claude-cli/2.0.76 (external, cli)"}}, Body: []byte(body), View: view,
		},
	}
}

const question = `"messages":[{"role":"user","content":"hi"}]`

var bodies = map[string]struct{ format, body string }{
	"plain":    {"chat", `{"model":"m",` + question + `}`},
	"long":     {"chat", `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("word ", 1000) + `"}]}`},
	"bounded":  {"messages", `{"model":"m","max_tokens":64000,` + question + `}`},
	"picture":  {"messages", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},{"type":"text","text":"what"}]}]}`},
	"document": {"messages", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"x"}}]}]}`},
	"searches": {"responses", `{"model":"m","tools":[{"type":"web_search"},{"type":"function","name":"a","parameters":{"type":"object"}},{"type":"code_interpreter","container":{"type":"auto"}}],"input":"hi"}`},
	"lookup":   {"messages", `{"model":"m","max_tokens":5,"tools":[{"type":"web_search_20250305","name":"web_search"}],` + question + `}`},
	"grounds":  {"gemini", `{"tools":[{"googleSearch":{}}],"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`},
	"tools":    {"chat", `{"model":"m","tools":[{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"b"}}],` + question + `}`},
	"thinking": {"messages", `{"model":"m","max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":2000},` + question + `}`},
	"idle":     {"messages", `{"model":"m","max_tokens":9000,"thinking":{"type":"disabled"},` + question + `}`},
	"effort":   {"responses", `{"model":"m","reasoning":{"effort":"high"},"input":"hi"}`},
	"none":     {"chat", `{"model":"m","reasoning_effort":"none",` + question + `}`},
	"budget":   {"gemini", `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"thinkingConfig":{"thinkingBudget":1024}}}`},
	"stream":   {"chat", `{"model":"m","stream":true,` + question + `}`},
}

// Each value is compared in the requests of several formats. A value that a request does not state has
// its type, so that no expression fails: a comparison with nothing is an error in CEL.
func TestConditionsReadTheRequest(t *testing.T) {
	for expression, want := range map[string]string{
		"{request.input_tokens} > 1000":                                      "long picture",
		"{request.input_tokens} < 5":                                         "",
		"{request.max_tokens} > 10000":                                       "bounded",
		"{request.images} > 0":                                               "picture",
		"{request.documents} + {request.recordings} > 0":                     "document",
		"{request.tools} == 2":                                               "tools",
		"{request.tools} == 3":                                               "searches",
		"{request.tools} == 1":                                               "lookup grounds",
		"{request.thinks} == true":                                           "budget effort thinking",
		"{request.effort} == 'high'":                                         "effort",
		"{request.effort} in ['none', 'minimal']":                            "none",
		"{request.stream} == true":                                           "stream",
		"{request.format} == 'gemini'":                                       "budget grounds",
		"{request.operation} != 'generate'":                                  "",
		"{request.client} != 'claude-cli'":                                   "",
		"{request.key} == 'team' && {request.tools} > 0":                     "tools searches lookup grounds",
		"{request.owner} + {request.limit} != 'adasmall'":                    "",
		"{request.customer} == 'acme' && {request.max_tokens} > 10000":       "bounded",
		"{request.tag.env} == 'prod' && {request.stream}":                    "stream",
		"{request.tag.region} != ''":                                         "",
		"{time.now}.getFullYear() < 2020":                                    "",
		"path('/elsewhere')":                                                 "",
		"{request.stream} > 5":                                               "", // fails, and so does not hold
		"{http.request.header.X-Absent} == 'a'":                              "",
		"!({request.images} > 0 || {request.thinks}) && {request.tools} > 1": "tools searches",
	} {
		condition, err := load(t, expression)
		require.NoError(t, err, expression)
		var held []string
		for name, request := range bodies {
			if ex := exchangeOf(t, request.format, request.body); condition.Holds(conditions.Example(ex)) {
				held = append(held, name)
			}
		}
		assert.ElementsMatch(t, strings.Fields(want), held, expression)
	}
}

// Subagents and work in the background cost what the model of the session costs, since nothing kept them
// apart; those of opencode were not known even then, and had a session of their own. The requests are those of
// the agents.
func TestConditionsReadWhatAgentsState(t *testing.T) {
	const line = `{"model":"m","max_tokens":5,"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.329; cc_entrypoint=cli;%"}],` + question + `}`
	for name, c := range map[string]struct {
		format, body, session, agent string
		header                       http.Header
		subagent                     bool
	}{
		"Claude Code":                 {"messages", strings.ReplaceAll(line, "%", ""), "s", "", http.Header{"X-Claude-Code-Session-Id": {"s"}}, false},
		"its subagent":                {"messages", strings.ReplaceAll(line, "%", " cc_is_subagent=true;"), "s", "a", http.Header{"X-Claude-Code-Session-Id": {"s"}, "X-Claude-Code-Agent-Id": {"a"}}, true},
		"one that only the line has":  {"messages", strings.ReplaceAll(line, "%", " cc_is_subagent=true;"), "", "", nil, true},
		"a question about the mark":   {"messages", `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"cc_is_subagent=true"}]}`, "", "", nil, false},
		"Codex":                       {"responses", `{"model":"m","input":"hi","prompt_cache_key":"t"}`, "s", "t", http.Header{"Session-Id": {"s"}, "Thread-Id": {"t"}}, false},
		"its review":                  {"responses", `{"model":"m","input":"hi"}`, "s", "t", http.Header{"Session-Id": {"s"}, "Thread-Id": {"t"}, "X-Openai-Subagent": {"review"}}, true},
		"its review on a socket":      {"responses", `{"model":"m","input":"hi","client_metadata":{"x-openai-subagent":"review"},"prompt_cache_key":"t"}`, "t", "", nil, true},
		"opencode":                    {"chat", `{"model":"m",` + question + `}`, "s", "", http.Header{"X-Session-Affinity": {"s"}}, false},
		"its subagent, as no other":   {"chat", `{"model":"m",` + question + `}`, "s", "", http.Header{"X-Session-Affinity": {"t"}, "X-Parent-Session-Id": {"s"}}, true},
		"a client that is not agent":  {"chat", `{"model":"m","user":"u",` + question + `}`, "", "", nil, false},
		"a form, which has no fields": {"chat", "--b\r\nprompt_cache_key", "", "", nil, false},
	} {
		ex := exchangeOf(t, "chat", bodies["plain"].body)
		ex.Request.Format, ex.Request.Body, ex.Request.Client = formats.Of(translate.Format(c.format)), []byte(c.body), c.header
		for value, want := range map[string]string{"session": "'" + c.session + "'", "agent": "'" + c.agent + "'", "subagent": strconv.FormatBool(c.subagent)} {
			condition, err := load(t, "{request."+value+"} == "+want)
			require.NoError(t, err)
			assert.True(t, condition.Holds(conditions.Example(ex)), "%s: %s", name, value)
		}
	}
}

func TestConditionsAreCheckedWhenTheyAreLoaded(t *testing.T) {
	for expression, want := range map[string]string{
		"{request.tokens} > 1":     "unknown placeholder {http.ai_gateway.request.tokens}; known are: input_tokens, max_tokens, images, documents, recordings, tools, thinks, effort, stream, format, operation, client, session, agent, subagent, key, owner, limit, customer and tag.NAME",
		"{request.imags} > 1":      "unknown placeholder {http.ai_gateway.request.imags}; did you mean 'images'? known are: input_tokens, max_tokens, images, documents, recordings, tools, thinks, effort, stream, format, operation, client, session, agent, subagent, key, owner, limit, customer and tag.NAME",
		"{request.stream}":         "a condition is true or false: compare the placeholder, as in {http.ai_gateway.request.stream} == true",
		"{request.input_tokens} >": "Syntax error",
	} {
		_, err := load(t, expression)
		assert.ErrorContains(t, err, want, expression)
	}
}

// modelOf returns a model whose targets have the conditions, "" for none.
func modelOf(t *testing.T, expressions ...string) *catalog.Model {
	m := new(catalog.Model)
	for i, expression := range expressions {
		target := catalog.Target{Provider: &catalog.Provider{Name: string(rune('a' + i))}, Weight: 1}
		if expression != "" {
			var err error
			target.If, err = load(t, expression)
			require.NoError(t, err)
		}
		m.Targets = append(m.Targets, target)
		m.Steps = append(m.Steps, m.Targets[i:])
	}
	return m
}

func TestTargetsWhoseConditionHoldsAreLeft(t *testing.T) {
	m := modelOf(t, "{request.images} > 0", "{request.tools} > 0", "", "{request.stream} == true")
	for name, want := range map[string]struct{ left, over string }{
		"plain":   {"c", "a b"},
		"picture": {"a c", ""},
		"tools":   {"b c", "a"},
		"stream":  {"c d", "a b"},
	} {
		ex := exchangeOf(t, bodies[name].format, bodies[name].body)
		selected, refused := conditions.Select(m, ex, conditions.Example(ex))
		require.Nil(t, refused)
		var left, over []string
		for _, target := range selected.Targets {
			left = append(left, target.Provider.Name)
		}
		for _, target := range ex.Course.PassedOver {
			over = append(over, target.Provider)
			assert.Equal(t, "unmet", target.Reason.Word())
		}
		assert.Equal(t, want.left, strings.Join(left, " "), name)
		assert.Equal(t, want.over, strings.Join(over, " "), name)
	}
}

func TestARequestThatNoTargetTakesIsRefused(t *testing.T) {
	ex := exchangeOf(t, bodies["plain"].format, bodies["plain"].body)
	selected, refused := conditions.Select(modelOf(t, "{request.images} > 0", "{request.stream} == true"), ex, conditions.Example(ex))
	assert.Nil(t, selected)
	require.NotNil(t, refused)
	assert.Equal(t, "model: 'm' has no target that takes this request", refused.Message)
}

func TestAModelWithoutConditionsCostsNothing(t *testing.T) {
	m, ex := modelOf(t, "", ""), exchangeOf(t, bodies["plain"].format, bodies["plain"].body)
	r := conditions.Example(ex)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if selected, _ := conditions.Select(m, ex, r); selected != m {
			panic("another model")
		}
	}))
}
