package responses_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire/responses"
)

// read reads a request. members is the request without braces and model.
func read(members string, strict bool) (*reply.Request, *reply.Refusal) {
	body := wire.NewBody([]byte(`{"model":"m1",`+members+`}`), responses.Format.Family, strict)
	request, _ := responses.Format.Endpoints[0].Generate(body)
	return request, body.Refused()
}

const (
	user   = `{"role":"user","content":"hi"}`
	call   = `{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`
	result = `{"type":"function_call_output","call_id":"c","output":"r"}`
)

func TestRequestsAreRefusedByTheFieldAtFault(t *testing.T) {
	for name, test := range map[string]struct {
		members, param, code string
	}{
		"no input":              {`"messages":[]`, "input", "missing_required_parameter"},
		"empty input":           {`"input":[]`, "input", "invalid_value"},
		"input of another kind": {`"input":{}`, "input", "invalid_type"},
		"item without type":     {`"input":[{}]`, "input[0].type", "invalid_value"},
		"unknown item":          {`"input":[{"type":"compaction_trigger"}]`, "input[0].type", "invalid_value"},
		"role":                  {`"input":[{"role":"tool","content":"x"}]`, "input[0].role", "invalid_value"},
		"no content":            {`"input":[{"role":"user"}]`, "input[0].content", "missing_required_parameter"},
		"unknown part":          {`"input":[{"role":"user","content":[{"type":"text","text":"x"}]}]`, "input[0].content[0].type", "invalid_value"},
		"file by id":            {`"input":[{"role":"user","content":[{"type":"input_file","file_id":"f"}]}]`, "input[0].content[0].file_id", "invalid_value"},
		"image of chat":         {`"input":[{"role":"user","content":[{"type":"input_image","image_url":{"url":"http://x"}}]}]`, "input[0].content[0].image_url", "invalid_type"},
		"call without output":   {`"input":[` + user + `,` + call + `]`, "input", "invalid_value"},
		"output without call":   {`"input":[` + user + `,` + result + `]`, "input[1].call_id", "invalid_value"},
		"call without value":    {`"input":[{"type":"custom_tool_call","call_id":"c","name":"f","arguments":"{}"}]`, "input[0].input", "missing_required_parameter"},
		"id of another kind":    {`"input":[{"type":"function_call","id":"toolu_1","call_id":"c","name":"f","arguments":"{}"},` + result + `]`, "input[0].id", "invalid_value"},
		"reasoning no summary":  {`"input":[{"type":"reasoning"},` + call + `,` + result + `]`, "input[0].summary", "missing_required_parameter"},
		"previous response":     {`"input":"x","previous_response_id":"resp_1"`, "previous_response_id", "previous_response_not_found"},
		"conversation":          {`"input":"x","conversation":"conv_1"`, "conversation", "unsupported_parameter"},
		"stored prompt":         {`"prompt":{"id":"p"}`, "prompt", "unsupported_parameter"},
		"background":            {`"input":"x","background":true`, "background", "unsupported_parameter"},
		"item reference":        {`"input":[{"type":"item_reference","id":"msg_1"}]`, "input", ""},
		"temperature":           {`"input":"x","temperature":3`, "temperature", "invalid_value"},
		"top_logprobs":          {`"input":"x","top_logprobs":21`, "top_logprobs", "invalid_value"},
		"effort":                {`"input":"x","reasoning":{"effort":"much"}`, "reasoning.effort", "invalid_value"},
		"format of chat":        {`"input":"x","text":{"format":{"type":"json_schema","json_schema":{}}}`, "text.format.name", "missing_required_parameter"},
		"format without type":   {`"input":"x","text":{"format":{}}`, "text.format.type", "missing_required_parameter"},
		"function of chat":      {`"input":"x","tools":[{"type":"function","function":{"name":"f"}}]`, "tools[0].name", "missing_required_parameter"},
		"tool name":             {`"input":"x","tools":[{"type":"custom","name":"a b"}]`, "tools[0].name", "invalid_value"},
		"tool in a namespace":   {`"input":"x","tools":[{"type":"namespace","name":"n","tools":[{"type":"function"}]}]`, "tools[0].tools[0].name", "missing_required_parameter"},
		"no such tool":          {`"input":"x","tool_choice":{"type":"function","name":"f"}`, "tool_choice", "invalid_value"},
		"stream options alone":  {`"input":"x","stream_options":{}`, "stream_options", "invalid_value"},
	} {
		t.Run(name, func(t *testing.T) {
			_, refused := read(test.members, false)
			require.NotNil(t, refused)
			assert.Equal(t, test.param, refused.Param, refused.Message)
			assert.Equal(t, test.code, refused.Code)
		})
	}
}

// The vendor refuses these requests; other servers with its format accept them.
func TestOnlyAStrictEngineRefuses(t *testing.T) {
	const sealed = `{"type":"reasoning","summary":[],"encrypted_content":"foreign"}`
	for name, test := range map[string]struct{ members, param, code string }{
		"few tokens":                {`"input":"x","max_output_tokens":15`, "max_output_tokens", "invalid_value"},
		"unknown field":             {`"input":"x","stop":["y"]`, "stop", "unknown_parameter"},
		"unknown field of a tool":   {`"input":"x","tools":[{"type":"function","name":"f","input_schema":{}}]`, "tools[0].input_schema", "unknown_parameter"},
		"unknown type of tool":      {`"input":"x","tools":[{"type":"bash_20250124"}]`, "tools[0].type", "invalid_value"},
		"foreign seal":              {`"input":[` + user + `,` + sealed + `,` + call + `,` + result + `]`, "input[1].encrypted_content", "invalid_encrypted_content"},
		"foreign compaction":        {`"input":[{"type":"compaction","encrypted_content":"foreign"}]`, "input[0].encrypted_content", "invalid_encrypted_content"},
		"reasoning by its id":       {`"input":[{"type":"reasoning","id":"rs_1","summary":[]},` + call + `,` + result + `]`, "input", ""},
		"reasoning before the user": {`"input":[{"type":"reasoning","summary":[]},` + user + `]`, "input[0]", ""},
		"reasoning at the end":      {`"input":[` + user + `,{"type":"reasoning","summary":[]}]`, "input[1]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, refused := read(test.members, true)
			require.NotNil(t, refused)
			assert.Equal(t, test.param, refused.Param, refused.Message)
			assert.Equal(t, test.code, refused.Code)
			_, refused = read(test.members, false)
			assert.Nil(t, refused)
		})
	}
}

// A conversation of an agent: an environment and a prompt from the user, tools
// that come as an item, parallel calls of both kinds, and the reasoning as sent.
func TestTheItemsOfAnAgentAreRead(t *testing.T) {
	seal := (&reply.Answer{}).Sign("")
	request, refused := read(`"instructions":"one two","store":false,"include":["reasoning.encrypted_content"],
		"prompt_cache_key":"k","client_metadata":{},"input":[
		{"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"f"},{"type":"custom","name":"apply_patch"}]},
		{"type":"message","role":"developer","content":[{"type":"input_text","text":"three"}]},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"environment"}]},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"prompt"},{"type":"input_image","image_url":"data:image/png;base64,AA=="}]},
		{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":"`+seal+`"},
		{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"t","annotations":[]}]},
		`+call+`,
		{"type":"custom_tool_call","id":"ctc_1","call_id":"d","name":"apply_patch","input":"p"},
		{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}},
		{"type":"custom_tool_call_output","call_id":"d","output":[{"type":"input_text","text":"done"}]},
		`+result+`]`, true)
	require.Nil(t, refused)
	assert.Equal(t, []string{"done", "r"}, request.Results)
	assert.Empty(t, request.Prompts)
	assert.Equal(t, 4, request.Messages)
	assert.True(t, request.Later)
	assert.True(t, request.Offers("f"))
	assert.True(t, request.Offers("apply_patch"))
	assert.Equal(t, 1500, request.MediaTokens())
}

func TestReasoningComesWhenItIsAskedFor(t *testing.T) {
	for members, want := range map[string]bool{
		`"input":"x"`: false,
		`"input":"x","reasoning":{"effort":"none","summary":"auto"}`: false,
		`"input":"x","reasoning":{"effort":"low"}`:                   true,
		`"input":"x","reasoning":{"summary":"auto"}`:                 true,
		`"input":"x","reasoning":{}`:                                 false,
	} {
		request, refused := read(members, true)
		require.Nil(t, refused)
		assert.Equal(t, want, request.Reason, members)
	}
}

func TestTheChoiceAmongToolsIsRead(t *testing.T) {
	const offered = `"input":"x","tools":[{"type":"function","name":"f"},{"type":"web_search"}],"tool_choice":`
	for choice, want := range map[string]reply.ToolChoice{
		`"auto"`:                         {Mode: reply.ChoiceAuto},
		`"none"`:                         {Mode: reply.ChoiceNone},
		`"required"`:                     {Mode: reply.ChoiceAny},
		`{"type":"function","name":"f"}`: {Mode: reply.ChoiceAny, Name: "f"},
		`{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"f"}]}`: {Mode: reply.ChoiceAny},
		`{"type":"web_search"}`: {Mode: reply.ChoiceAuto},
	} {
		request, refused := read(offered+choice, true)
		require.Nil(t, refused, choice)
		assert.Equal(t, want, request.Choice, choice)
	}
}
