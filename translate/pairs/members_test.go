package pairs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// rendered is a request as a provider gets it, under traits.
func rendered(t *testing.T, source, target translate.Format, body, traits string) (out, losses, refused string) {
	t.Helper()
	return renderedFor(t, source, target, body, upstreamName(target), traits)
}

// renderedFor is rendered for a model.
func renderedFor(t *testing.T, source, target translate.Format, body, upstream, traits string) (out, losses, refused string) {
	t.Helper()
	_, wrong := formats.Of(source).Requests.Inspect([]byte(body), translate.Generate)
	require.Nil(t, wrong, body)
	info := &core.RequestInfo{Model: "m1", Upstream: upstream, Traits: traitsOf(t, traits), Seals: sealer}
	raw, r, f := pairs.Render(nil, source, target, []byte(body), info)
	if f != nil {
		return "", "", f.Param
	}
	requireRight(t, target, raw)
	return string(raw), lossesOf(r.Losses), ""
}

// A chat client marked the result of a tool for the cache, and Converse got no mark, without a
// report: in the loop of an agent, results are most of what is paid for.
func TestMarksInsideResultsAreBehindThem(t *testing.T) {
	const mark = `"prompt_cache_breakpoint":{"mode":"explicit"}`
	ofChat := func(content string) string {
		return returning(`{"role":"tool","tool_call_id":"c1","content":[` + content + `]}`).body
	}
	ofItem := func(kind, output string) string {
		call := callItemF
		if kind == "custom_tool_call" {
			call = `{"type":"custom_tool_call","call_id":"c1","name":"f","input":"x"}`
		}
		return going(call + `,{"type":"` + kind + `_output","call_id":"c1","output":[` + output + `]}`).body
	}
	for name, c := range map[string]struct {
		source translate.Format
		body   string
	}{
		"a text of chat":                {translate.Chat, ofChat(`{"type":"text","text":"r",` + mark + `}`)},
		"a text of chat in other words": {translate.Chat, ofChat(`{"type":"text","text":"r","cache_control":{"type":"ephemeral"}}`)},
		"the second text of chat":       {translate.Chat, ofChat(`{"type":"text","text":"q"},{"type":"text","text":"r",` + mark + `}`)},
		"a text of responses":           {translate.Responses, ofItem("function_call", `{"type":"input_text","text":"r",`+mark+`}`)},
		"an image of responses":         {translate.Responses, ofItem("function_call", `{"type":"input_image","image_url":"data:image/png;base64,AAAA",`+mark+`}`)},
		"a text of a free call":         {translate.Responses, ofItem("custom_tool_call", `{"type":"input_text","text":"r",`+mark+`}`)},
		"a file of a free call":         {translate.Responses, ofItem("custom_tool_call", `{"type":"input_file","file_data":"data:application/pdf;base64,AAAA",`+mark+`}`)},
	} {
		out, losses, refused := rendered(t, c.source, translate.Converse, c.body, "cache_breakpoints true")
		require.Empty(t, refused, name)
		_, after, found := strings.Cut(out, `{"toolResult":`)
		require.True(t, found, name)
		assert.Contains(t, after, `]}},{"cachePoint":{"type":"default"}}`, name)
		assert.NotContains(t, losses, "cache", name)
		_, losses, _ = rendered(t, c.source, translate.Converse, c.body, "")
		assert.Contains(t, losses, "cache", "%s: a mark that is not sent is reported", name)
	}
}

// Claude on Converse keeps a cache for an hour if it is asked to; other models have one lifetime.
func TestLifetimesOfCachesReachConverse(t *testing.T) {
	const marked = `{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}]}`
	for upstream, want := range map[string]string{
		"us.anthropic.claude-sonnet-4-6": `{"cachePoint":{"type":"default","ttl":"1h"}}`,
		"us.amazon.nova-pro-v1:0":        `{"cachePoint":{"type":"default"}}`,
	} {
		info := &core.RequestInfo{Model: "m1", Upstream: upstream, Traits: traitsOf(t, "cache_breakpoints true")}
		for _, from := range []translate.Format{translate.Messages, translate.Chat} {
			out, r, refused := pairs.Render(nil, from, translate.Converse, []byte(conversation(marked)), info)
			require.Nil(t, refused)
			assert.Contains(t, string(out), want)
			assert.Equal(t, strings.Contains(want, "ttl"), len(r.Losses) == 0, r.Losses)
		}
	}
}

// Clients of one vendor's two formats use the same words for tiers, and newer words for old ones.
func TestTiersReachWhereTheFormatHasTheWord(t *testing.T) {
	for word, want := range map[string]map[translate.Format]string{
		"fast":      {translate.Chat: `"service_tier":"priority"`, translate.Responses: `"service_tier":"priority"`, translate.Gemini: `"serviceTier":"priority"`, translate.Converse: `{"type":"priority"}`},
		"priority":  {translate.Chat: `"service_tier":"priority"`, translate.Responses: `"service_tier":"priority"`, translate.Gemini: `"serviceTier":"priority"`, translate.Converse: `{"type":"priority"}`},
		"flex":      {translate.Chat: `"service_tier":"flex"`, translate.Responses: `"service_tier":"flex"`, translate.Gemini: `"serviceTier":"flex"`, translate.Converse: `{"type":"flex"}`},
		"scale":     {translate.Chat: `"service_tier":"scale"`, translate.Responses: `"service_tier":"scale"`},
		"ultrafast": {translate.Responses: `"service_tier":"ultrafast"`},
		"unheard":   {},
	} {
		for from, body := range map[translate.Format]string{translate.Chat: wanting(`"service_tier":"` + word + `"`).body, translate.Responses: posing(`"service_tier":"` + word + `"`).body} {
			for _, to := range spoken {
				if from == to {
					continue
				}
				out, losses, refused := rendered(t, from, to, body, "extensions service_tier")
				require.Empty(t, refused)
				if tier := want[to]; tier != "" {
					assert.Contains(t, out, tier, "%s of %s to %s", word, from, to)
				} else {
					assert.Contains(t, losses, "service_tier hint", "%s of %s to %s", word, from, to)
				}
			}
		}
	}
}

// A client that asked for blocking got texts that nobody had checked: the member was dropped as
// if only its costs mattered, also where the other format has it.
func TestModerationIsKeptOrReported(t *testing.T) {
	for policy, blocks := range map[string]bool{
		`{"input":{"mode":"score"}}`:                              false,
		`{"input":{"mode":"score"},"output":{"mode":"score"}}`:    false,
		`{"output":{"mode":"block"}}`:                             true,
		`{"input":{"mode":"block"},"output":{"mode":"score"}}`:    true,
		`{"output":{"categories":["x"],"mode":"block"},"new":{}}`: true,
	} {
		member := `"moderation":{"model":"m","policy":` + policy + `}`
		for from, body := range map[translate.Format]string{translate.Chat: wanting(member).body, translate.Responses: posing(member).body} {
			for _, to := range spoken {
				if from == to {
					continue
				}
				switch out, losses, refused := rendered(t, from, to, body, ""); {
				case to == translate.Chat || to == translate.Responses:
					assert.Contains(t, out, member)
				case blocks:
					assert.Equal(t, "moderation", refused, "%s to %s", from, to)
				default:
					assert.Contains(t, losses, "moderation shaping")
				}
			}
		}
	}
}

// Results that do not state their call pass to the vendor that takes them, and nowhere else.
func TestResultsWithoutIDsStayInTheirFormat(t *testing.T) {
	for _, item := range []string{
		`{"type":"function_call_output","name":"f","namespace":"n","output":"r"}`,
		`{"type":"function_call_output","call_id":null,"output":"r"}`,
		`{"type":"custom_tool_call_output","output":[{"type":"input_text","text":"r"}]}`,
		`{"type":"function_call_output","call_id":"","output":"r"}`,
	} {
		for _, to := range spoken {
			if to == translate.Responses || to == translate.Completions {
				continue
			}
			_, _, refused := rendered(t, translate.Responses, to, going(item).body, "")
			assert.Equal(t, "input[1].call_id", refused, "%s to %s", item, to)
		}
	}
}

// The beginning of an answer that a provider keeps cannot be continued elsewhere.
func TestReferencesToWhatGeminiKeepsAreRefused(t *testing.T) {
	for _, member := range []string{"continuationToken", "continuation_token", "cachedContent", "cached_content"} {
		for _, to := range spoken {
			if to != translate.Gemini {
				_, _, refused := rendered(t, translate.Gemini, to, generating(`"`+member+`":"t"`).body, "")
				assert.NotEmpty(t, refused, "%s to %s", member, to)
			}
		}
	}
}

// A history with blocks that the vendor has put into its answers goes on with every other
// provider, and the fallback with it.
func TestHistoriesWithTheVendorsBlocksGoOn(t *testing.T) {
	for block, class := range map[string]string{
		`{"type":"fallback","from":{"model":"a"},"to":{"model":"b"}}`:                                                                                         "messages.*.content.* hint",
		`{"type":"advisor_tool_result","tool_use_id":"s","content":{"type":"advisor_result","text":"x"}}`:                                                     "messages.*.content.* shaping",
		`{"type":"mcp_tool_use","id":"s","name":"f","server_name":"m","input":{}},{"type":"mcp_tool_result","tool_use_id":"s","is_error":false,"content":[]}`: "messages.*.content.* shaping",
		`{"type":"mcp_tool_listing","server_name":"m","tools":[]}`:                                                                                            "messages.*.content.* shaping",
		`{"type":"compaction","content":null}`:                                                                                                                "messages.*.content.* hint",
		`{"type":"compaction","content":"the summary"}`:                                                                                                       "messages.*.content.*.content shaping",
		`{"type":"web_fetch_tool_result","tool_use_id":"s","content":{}}`:                                                                                     "messages.*.content.* shaping",
	} {
		for _, to := range spoken {
			if to == translate.Messages {
				continue
			}
			out, losses, refused := rendered(t, translate.Messages, to, replied(block+`,{"type":"text","text":"t"}`).body, "prompt_template turns")
			require.Empty(t, refused, "%s to %s", block, to)
			assert.Contains(t, losses, class, "%s to %s", block, to)
			assert.Equal(t, strings.Contains(block, "the summary"), strings.Contains(out, "the summary"))
		}
	}
}

// Names of members in camel case were "?" in reports, so that nobody could see what was lost.
func TestMembersInCamelCaseAreReportedByName(t *testing.T) {
	for name, body := range map[string]string{
		"generationConfig.routingConfig":              configured(`"routingConfig":{"autoMode":{}}`).body,
		"generationConfig.modelSelectionConfig":       configured(`"modelSelectionConfig":{"x":1}`).body,
		"generationConfig.audioTimestamp":             configured(`"audioTimestamp":true`).body,
		"contents[*].parts[*].mediaProcessing":        ofParts(`{"text":"a","mediaProcessing":{"x":1}}`).body,
		"toolConfig.includeServerSideToolInvocations": generating(`"toolConfig":{"includeServerSideToolInvocations":true}`).body,
		"contents[*].parts[*].inlineData.displayName": ofParts(`{"inlineData":{"mimeType":"image/png","data":"AAAA","displayName":"a"}}`).body,
		"generationOutputConfig":                      generating(`"generationOutputConfig":{"x":1}`).body,
	} {
		_, losses, refused := rendered(t, translate.Gemini, translate.Messages, body, "")
		require.Empty(t, refused)
		assert.Contains(t, losses, name)
		assert.NotContains(t, losses, "?")
	}
}

// What is lost or refused about a tool has the name of the member that the client has sent, and
// of the list that the tool is in.
func TestMembersOfToolsAreReportedByTheirNames(t *testing.T) {
	const llama = "meta.llama3-1-70b-instruct-v1:0" // without strict tools
	const strictTool = `"name":"f","strict":true,"parameters":{"type":"object","properties":{},"additionalProperties":false}`
	for _, c := range []struct {
		name         string
		source       translate.Format
		upstream     string
		target       translate.Format
		body         string
		lost, refuse string
	}{
		{"strict of chat", translate.Chat, llama, translate.Converse, wanting(`"tools":[{"type":"function","function":{` + strictTool + `}}]`).body, "tools[*].function.strict shaping", ""},
		{"strict of responses", translate.Responses, llama, translate.Converse, posing(`"tools":[{"type":"function",` + strictTool + `}]`).body, "tools[*].strict shaping", ""},
		{"strict of messages", translate.Messages, llama, translate.Converse, option(`"tools":[{"name":"f","strict":true,"input_schema":{"type":"object"}}]`).body, "tools.*.strict shaping", ""},
		{"strict in an item", translate.Responses, llama, translate.Converse, listing(`{"type":"additional_tools","role":"developer","tools":[{"type":"function",` + strictTool + `}]}`).body, "input[*].tools[*].strict shaping", ""},
		{"tools in an item", translate.Responses, "up", translate.Completions, listing(`{"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"f"}]}`).body, "", "input[1].tools"},
		{"tools of the request", translate.Responses, "up", translate.Completions, posing(`"tools":[{"type":"function","name":"f"}]`).body, "", "tools"},
		{"a schema that is enforced anyway", translate.Chat, llama, translate.Converse, wanting(`"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":false,"schema":{"type":"object","additionalProperties":false}}}`).body, "response_format.json_schema.strict hint", ""},
		{"the same of responses", translate.Responses, llama, translate.Converse, posing(`"text":{"format":{"type":"json_schema","name":"n","strict":false,"schema":{"type":"object","additionalProperties":false}}}`).body, "text.format.strict hint", ""},
		{"a search for tools", translate.Responses, "up", translate.Messages, posing(`"tools":[{"type":"tool_search","description":"d","parameters":{"type":"object"}}]`).body, "tools[*].description hint, tools[*].parameters hint", ""},
		{"a summary of no reasoning", translate.Responses, "up", translate.Messages, posing(`"reasoning":{"summary":"auto"}`).body, "reasoning.summary hint", ""},
		{"thoughts of no reasoning", translate.Gemini, "up", translate.Messages, thinkingBy(`"includeThoughts":true`).body, "generationConfig.thinkingConfig.includeThoughts hint", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			info := &core.RequestInfo{Model: "m1", Upstream: c.upstream, Traits: traitsOf(t, "thinking_style adaptive;prompt_template turns"), Seals: sealer}
			_, r, refused := pairs.Render(nil, c.source, c.target, []byte(c.body), info)
			if c.refuse != "" {
				require.NotNil(t, refused)
				assert.Equal(t, c.refuse, refused.Param)
				return
			}
			require.Nil(t, refused)
			assert.Contains(t, lossesOf(r.Losses), c.lost)
		})
	}
}
