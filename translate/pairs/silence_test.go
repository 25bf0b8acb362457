package pairs_test

import (
	"encoding/json"
	"fmt"
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

// fullRequest is a request with objects that a conversion takes. Together they
// have every kind of them.
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

// rendering is what came of a request.
type rendering struct {
	out    string
	memory translate.AnswerContext
	calls  int
	lost   map[string]bool
}

// render renders a body; ok is false for one that is refused.
func (f *fullRequest) render(t *testing.T, info *core.RequestInfo, root any) (r rendering, ok bool) {
	t.Helper()
	body, err := json.Marshal(root)
	require.NoError(t, err)
	if _, fault := formats.Of(f.w.from).Requests.Inspect(body, translate.Generate); fault != nil {
		return r, false
	}
	out, rendered, fault := pairs.Render(nil, f.w.from, f.w.to, body, info)
	rendered.Answer.Settings = nil // what is repeated is not carried over by that
	r = rendering{string(out), rendered.Answer, rendered.Calls(), make(map[string]bool)}
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

// objectsOf are the objects in a value that stands at a path; index is how the
// format writes that of an element.
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

const nobodys = "x_unknown"

// memberNames are the names of all members that any format has, and nobody's.
func memberNames() []string {
	names := []string{nobodys, "enabled", "mode"}
	for _, w := range requestWays {
		for _, row := range pairs.Fields(w.from, w.to) {
			for _, path := range translatetest.MembersNamed(row.Name) {
				path, _, _ = strings.Cut(path, "=")
				names = append(names, strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]*", r) })...)
			}
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return strings.Trim(name, "-0123456789") == "" })
}

// memberValues are of the kinds of JSON that are told apart, and not empty.
var memberValues = []any{"v", map[string]any{"type": "v"}}

// asksNothing are members that may be left out in silence: where they stand they
// ask for nothing, or for what another member says already.
var asksNothing = map[string]string{
	"messages to chat: tool_choice":                    "there are no tools",
	"messages to completions: tool_choice":             "there are no tools",
	"chat to completions: tool_choice":                 "there are no tools",
	"chat to completions: parallel_tool_calls":         "there are no tools",
	"chat to messages: parallel_tool_calls":            "true is the default",
	"messages to responses: tool_choice":               "there are no tools",
	"chat to responses: parallel_tool_calls":           "true is the default",
	"chat to responses: messages[*].reasoning":         "the thinking blocks say it",
	"chat to responses: messages[*].reasoning_content": "the thinking blocks say it",
	"responses to messages: parallel_tool_calls":       "true is the default",
	"responses to chat: parallel_tool_calls":           "true is the default",
	"responses to completions: parallel_tool_calls":    "true is the default",
	"chat to messages: messages[*].reasoning":          "the thinking blocks say it",
	"chat to messages: messages[*].reasoning_content":  "the thinking blocks say it",
}

// Members that only other types of blocks, parts and tools have were read, and
// then left out without a word. Whatever member stands wherever: it becomes a part
// of the provider's request, it is reported, or the request is refused.
func TestNoMemberIsLostInSilence(t *testing.T) {
	names := memberNames()
	for _, f := range fullRequests {
		t.Run(f.w.name(), func(t *testing.T) {
			var root any
			require.NoError(t, json.Unmarshal([]byte(f.body), &root))
			index := map[bool]string{true: ".*", false: "[*]"}[f.w.from == translate.Messages]
			seen := make(map[string]bool)
			for _, o := range objectsOf(root, "", index) {
				if kind := fmt.Sprint(o.path, " of type ", o.members["type"]); !seen[kind] {
					seen[kind] = true
					f.assertNoSilence(t, root, o, names, kind)
				}
			}
		})
	}
}

// assertNoSilence puts each name into an object of the request that has it not.
func (f *fullRequest) assertNoSilence(t *testing.T, root any, o object, names []string, kind string) {
	info := &core.RequestInfo{Model: "m1", Upstream: "up", Traits: traitsOf(t, f.traits)}
	before, ok := f.render(t, info, root)
	require.True(t, ok)
	for _, name := range names {
		if _, there := o.members[name]; there {
			continue
		}
		path := strings.TrimPrefix(o.path+"."+name, ".")
		for _, value := range memberValues {
			o.members[name] = value
			after, ok := f.render(t, info, root)
			told := !ok || !reflect.DeepEqual(before, after)
			assert.True(t, told || asksNothing[f.w.name()+": "+path] != "", "%s=%v in %s", name, value, kind)
			if name == nobodys && ok && !strings.Contains(after.out, name) {
				assert.Contains(t, after.lost, path)
			}
		}
		delete(o.members, name)
	}
}
