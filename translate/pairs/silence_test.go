package pairs_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// fullRequest is a request with many kinds of objects. Together, the full requests of a pair
// have all kinds.
type fullRequest struct {
	w      way
	traits string
	body   string
}

var fullRequests = []fullRequest{
	{
		way{translate.Messages, translate.Chat}, "files true; cache_breakpoints true; reasoning_effort low high; extensions service_tier; reasoning_replay reasoning; prefill native",
		conversation(
			`{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},`+picture+`},`+png+`},`+memo+`,"citations":{}},`+
				document+`{"type":"base64","media_type":"application/pdf","data":"AAAA"}},`+
				document+`{"type":"content","content":[{"type":"text","text":"b"},`+png+`}]}},`+
				`{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"c"}]}]},`+
				`{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":""},{"type":"text","text":"d"},{"type":"tool_use","id":"c1","name":"f","input":{"x":{}}}]},`+
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"e"},`+png+`},`+memo+`},{"type":"tool_reference","tool_name":"f"}]}]},`+
				`{"role":"system","content":[{"type":"text","text":"g"}],"output_config":{"effort":"low"}},`+
				`{"role":"assistant","content":[{"type":"text","text":"h"}]}`,
			`"system":[{"type":"text","text":"i"}]`, `"tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}]`,
			`"tool_choice":{"type":"tool","name":"f"}`, `"thinking":{"type":"adaptive"}`, `"metadata":{"user_id":"u"}`,
			`"output_config":{"effort":"high","format":{"type":"json_schema","schema":{}}}`,
		),
	},
	{
		way{translate.Messages, translate.Completions}, "extensions structured_outputs",
		conversation(
			`{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"text","text":"b"}]},`+hi,
			`"system":[{"type":"text","text":"i"}]`, `"metadata":{"user_id":"u"}`, `"output_config":{"format":{"type":"json_schema","schema":{}}}`,
		),
	},
	{way{translate.Messages, translate.Chat}, "", replied(`{"type":"redacted_thinking","data":"d"}`).body},
	{
		way{translate.Messages, translate.Responses}, "cache_breakpoints true; responses_reasoning text",
		conversing(
			`{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},`+picture+`},`+png+`},`+memo+`,"citations":{}},`+
				document+`{"type":"base64","media_type":"application/pdf","data":"AAAA"}},`+
				document+`{"type":"content","content":[{"type":"text","text":"b"},`+png+`}]}},`+
				`{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"c"}]}]},`+
				`{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":""},{"type":"text","text":"d"},{"type":"tool_use","id":"c1","name":"f","input":{"x":{}}}]},`+
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"e"},`+png+`},`+memo+`},{"type":"tool_reference","tool_name":"f"}]}]},`+
				`{"role":"system","content":[{"type":"text","text":"g"}],"output_config":{"effort":"low"}}`,
			`"system":[{"type":"text","text":"i"}]`, `"tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}]`,
			`"tool_choice":{"type":"tool","name":"f"}`, `"thinking":{"type":"adaptive"}`, `"metadata":{"user_id":"u"}`,
			`"output_config":{"effort":"high","format":{"type":"json_schema","schema":{}}}`,
		),
	},
	{
		way{translate.Chat, translate.Responses}, "cache_breakpoints true; responses_reasoning text",
		discussing(
			`{"role":"system","content":[{"type":"text","text":"a"}]},`+
				`{"role":"user","content":[{"type":"text","text":"b","cache_control":{"type":"ephemeral"}},`+pngPart+`,`+pdfPart+`]},`+
				`{"role":"assistant","content":[{"type":"text","text":"c"},{"type":"refusal","refusal":"d"}],"thinking_blocks":[{"type":"thinking","thinking":"t","signature":"s"}],`+
				`"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"c2","type":"custom","custom":{"name":"g","input":"x"}}]},`+
				`{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"e"}]},`+hi,
			`"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}},{"type":"custom","custom":{"name":"g","format":{"type":"grammar","grammar":{"syntax":"s","definition":"d"}}}},{"type":"custom","custom":{"name":"h","format":{"type":"text"}}}]`,
			`"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"f"}},{"type":"custom","custom":{"name":"g"}}]}}`,
			`"response_format":{"type":"json_schema","json_schema":{"schema":{}}}`, `"stream":true`, `"stream_options":{"include_usage":true}`,
		).body,
	},
	{
		way{translate.Chat, translate.Responses}, "",
		provided("", `"tool_choice":{"type":"custom","custom":{"name":"f"}}`).body,
	},
	{way{translate.Messages, translate.Completions}, "", replied(`{"type":"redacted_thinking","data":"d"}`).body},
	{way{translate.Messages, translate.Completions}, "", replied(`{"type":"thinking","thinking":"t","signature":"s"}`).body},
	{
		way{translate.Chat, translate.Messages}, "thinking_style adaptive",
		talk(
			`{"role":"system","content":[{"type":"text","text":"a"}]},`+
				`{"role":"user","content":[{"type":"text","text":"b","cache_control":{"type":"ephemeral"}},`+pngPart+`,`+pdfPart+`]},`+
				`{"role":"assistant","content":[{"type":"text","text":"c"},{"type":"refusal","refusal":"d"}],"thinking_blocks":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"redacted_thinking","data":"d"}],`+
				`"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},`+
				`{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"e"}]},`+hi,
			`"tools":[{"type":"function","cache_control":{"type":"ephemeral"},"function":{"name":"f","parameters":{"type":"object","properties":{}}}}]`,
			`"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]}}`,
			`"response_format":{"type":"json_schema","json_schema":{"schema":{}}}`, `"stream":true`, `"stream_options":{"include_usage":true}`,
		),
	},
	{
		way{translate.Chat, translate.Messages}, "",
		talk(hi, oneFunction, `"tool_choice":{"type":"function","function":{"name":"f"}}`),
	},
	{
		way{translate.Chat, translate.Completions}, "extensions structured_outputs",
		talk(
			`{"role":"system","content":[{"type":"text","text":"a"}]},{"role":"user","content":[{"type":"text","text":"b"}]},`+
				`{"role":"assistant","content":[{"type":"refusal","refusal":"d"}]},`+hi,
			`"response_format":{"type":"json_schema","json_schema":{"schema":{}}}`, `"stream":true`, `"stream_options":{"include_usage":true}`,
		),
	},
	{way{translate.Responses, translate.Messages}, "thinking_style adaptive", fullOfItems(messageParts+","+calledItems, `"type":"text"`)},
	{way{translate.Responses, translate.Chat}, "files true; cache_breakpoints true; reasoning_replay reasoning; custom_tools native; reasoning_effort low", fullOfItems(messageParts+","+reasonedItems+calledItems, `"type":"grammar","syntax":"lark","definition":"d"`)},
	{
		way{translate.Responses, translate.Chat}, "",
		arming(customTool, `"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"custom","name":"f"}]}`).body,
	},
	{
		way{translate.Responses, translate.Completions}, "extensions structured_outputs",
		responding(
			`{"type":"message","role":"system","content":[{"type":"input_text","text":"a"}]},`+itemSaid("user", "hi")+`,{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"d"},{"type":"output_text","text":"c"}]},`+itemHi,
			`"text":{"format":{"type":"json_schema","schema":{}}}`, `"stream":true`, `"reasoning":{}`,
		).body,
	},
	{way{translate.Completions, translate.Chat}, "", `{"model":"m1","prompt":"hi","stream":true,"stream_options":{"include_usage":true}}`},
	{way{translate.Completions, translate.Messages}, "", `{"model":"m1","prompt":"hi","max_tokens":5,"stream":true,"stream_options":{"include_usage":true}}`},
}

// The items of a responses request with every kind of object in them.
const (
	messageParts = `{"type":"message","role":"developer","content":[{"type":"input_text","text":"a"}]},` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"b","prompt_cache_breakpoint":{"mode":"explicit"}},` +
		`{"type":"input_image","image_url":"data:image/png;base64,AAAA"},{"type":"input_file","filename":"f","file_data":"data:application/pdf;base64,AAAA"}]}`
	reasonedItems = `{"type":"reasoning","summary":[{"type":"summary_text","text":"t"}]},{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"t"}]},`
	calledItems   = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"c"},{"type":"refusal","refusal":"d"}]},` +
		`{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"custom_tool_call","call_id":"c2","name":"g","input":"x"},` +
		`{"type":"tool_search_call","call_id":"c3","execution":"client","arguments":{}},` +
		`{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"e"}]},{"type":"custom_tool_call_output","call_id":"c2","output":"r"},` +
		`{"type":"tool_search_output","call_id":"c3","execution":"client","tools":[{"type":"function","name":"i"}]},` +
		`{"type":"additional_tools","tools":[{"type":"function","name":"j"}]},{"type":"configuration_update","reasoning":{"effort":"low"},"text":{}},` +
		`{"type":"message","role":"user","content":"hi"}`
)

// fullOfItems is one of these items, and with a free text of that format.
func fullOfItems(items, format string) string {
	return responding(
		items, `"tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{}}},{"type":"custom","name":"g","format":{`+format+`}},`+
			`{"type":"custom","name":"h","format":{"type":"text"}},{"type":"namespace","name":"n","tools":[{"type":"function","name":"k"}]},{"type":"tool_search","execution":"client"}]`,
		`"tool_choice":{"type":"function","name":"f"}`, `"text":{"format":{"type":"json_schema","schema":{}}}`, `"stream":true`, `"stream_options":{}`, `"reasoning":{"effort":"low"}`,
	).body
}

// rendering is the result of a request that was not refused.
type rendering struct {
	out     string
	context translate.AnswerContext
	calls   int
	lost    map[string]bool
}

func (r *rendering) equal(other *rendering) bool {
	return r.out == other.out && r.calls == other.calls && maps.Equal(r.lost, other.lost) && reflect.DeepEqual(r.context, other.context)
}

// render renders a body; ok is false for one that is refused.
func (f *fullRequest) render(info *core.RequestInfo, body []byte) (r rendering, ok bool) {
	if _, fault := formats.Of(f.w.source).Requests.Inspect(body, translate.Generate); fault != nil {
		return r, false
	}
	out, rendered, fault := pairs.Render(nil, f.w.source, f.w.target, body, info)
	rendered.Answer.Settings = nil // repeating a member of the request does not carry it over
	r = rendering{string(out), rendered.Answer, numberOfCalls(rendered), make(map[string]bool)}
	for _, loss := range rendered.Losses {
		r.lost[loss.Path] = true
	}
	return r, fault == nil
}

// object is an object of a request and its path in reports.
type object struct {
	members map[string]any
	path    string
}

// objectsOf returns the objects in the value at a path; index is the notation of the format
// for the index of an element.
func objectsOf(value any, path, index string) (all []object) {
	switch value := value.(type) {
	case map[string]any:
		all = append(all, object{value, path})
		for name, member := range value {
			all = append(all, objectsOf(member, strings.TrimPrefix(path+"."+name, "."), index)...)
		}
	case []any:
		for _, element := range value {
			all = append(all, objectsOf(element, path+index, index)...)
		}
	}
	return all
}

// unknownMember is the name of a member that no format has.
const unknownMember = "x_unknown"

// memberNames returns the names of the members of all formats, and an unknown one.
func memberNames() []string {
	names := []string{unknownMember, "enabled", "mode"}
	for _, w := range requestWays {
		for _, row := range pairs.Fields(w.source, w.target) {
			for _, path := range translatetest.MembersNamed(row.Name) {
				path, _, _ = strings.Cut(path, "=")
				names = append(names, strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]*", r) })...)
			}
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return strings.Trim(name, "-0123456789") == "" })
}

// memberValues are values of two kinds of JSON, both not empty.
var memberValues = []string{`"v"`, `{"type":"v"}`}

// asksNothing lists the members that may be left out without a report, and why: there they
// ask for nothing, or repeat another member.
var asksNothing = map[string]string{
	"messages to chat: tool_choice":                    "there are no tools",
	"messages to completions: tool_choice":             "there are no tools",
	"chat to completions: tool_choice":                 "there are no tools",
	"chat to completions: parallel_tool_calls":         "there are no tools",
	"chat to messages: parallel_tool_calls":            "true is the default",
	"messages to responses: tool_choice":               "there are no tools",
	"chat to responses: parallel_tool_calls":           "true is the default",
	"chat to responses: messages[*].reasoning":         "the thinking blocks repeat it",
	"chat to responses: messages[*].reasoning_content": "the thinking blocks repeat it",
	"responses to messages: parallel_tool_calls":       "true is the default",
	"responses to chat: parallel_tool_calls":           "true is the default",
	"responses to completions: parallel_tool_calls":    "true is the default",
	"responses to messages: input[*].id":               "it only names what a provider kept",
	"responses to messages: input[*].status":           "it only names what a provider kept",
	"responses to chat: input[*].id":                   "it only names what a provider kept",
	"responses to chat: input[*].status":               "it only names what a provider kept",
	"responses to completions: input[*].id":            "it only names what a provider kept",
	"responses to completions: input[*].status":        "it only names what a provider kept",
	"chat to messages: messages[*].reasoning":          "the thinking blocks repeat it",
	"chat to messages: messages[*].reasoning_content":  "the thinking blocks repeat it",
}

// Members that belong to other types of blocks, parts and tools were read, and then left
// out without a report. Whatever member is in whatever object, it becomes a part of the
// provider's request, it is reported, or the request is refused.
func TestNoMemberIsLostInSilence(t *testing.T) {
	names := memberNames()
	for _, f := range fullRequests {
		t.Run(f.w.name(), func(t *testing.T) {
			t.Parallel()
			var root any
			require.NoError(t, json.Unmarshal([]byte(f.body), &root))
			index := map[bool]string{true: ".*", false: "[*]"}[f.w.source == translate.Messages]
			seen := make(map[string]bool)
			for _, o := range objectsOf(root, "", index) {
				if kind := fmt.Sprint(o.path, " of type ", o.members["type"]); !seen[kind] {
					seen[kind] = true
					f.assertNoSilence(t, withGap(t, root, o), o, names)
				}
			}
		})
	}
}

// gap is the body of a request around the position of a further member.
type gap struct{ before, after string }

// withGap returns the body of a request with a gap in one of its objects. The request is
// encoded once for all members that fill the gap, since encoding takes longer than
// translating.
func withGap(t *testing.T, root any, o object) gap {
	t.Helper()
	const mark = "\x00gap"
	o.members[mark] = 0
	body, err := json.Marshal(root)
	delete(o.members, mark)
	require.NoError(t, err)
	before, after, found := strings.Cut(string(body), `"\u0000gap":0`)
	require.True(t, found)
	return gap{before, after}
}

func (g gap) filled(members string) []byte { return []byte(g.before + members + g.after) }

// assertNoSilence gives an object of the request each member that it does not have.
func (f *fullRequest) assertNoSilence(t *testing.T, g gap, o object, names []string) {
	info := &core.RequestInfo{Model: "m1", Upstream: "up", Traits: traitsOf(t, f.traits)}
	before, ok := f.render(info, []byte(f.body))
	require.True(t, ok)
	for _, name := range names {
		if _, there := o.members[name]; there {
			continue
		}
		path := strings.TrimPrefix(o.path+"."+name, ".")
		for _, value := range memberValues {
			after, ok := f.render(info, g.filled(`"`+name+`":`+value))
			silent := ok && before.equal(&after) && asksNothing[f.w.name()+": "+path] == ""
			assert.False(t, silent, "%s=%v in %s of type %v", name, value, o.path, o.members["type"])
			if name == unknownMember && ok && !strings.Contains(after.out, name) {
				assert.Contains(t, after.lost, path)
			}
		}
	}
}
