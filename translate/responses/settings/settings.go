// Package settings has the members of a response that repeat its request. Requests keep their
// values, and answers write them.
package settings

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// setting is a member of a response that repeats its request.
type setting struct {
	name  string
	unset string // the value if the request has none; "" to leave the member out
	fixed bool   // the value is unset whatever the request
	long  bool   // the value may be long: streams, which repeat the response, have unset instead
}

// all lists the settings in the order in which they are written.
var all = [...]setting{
	{name: "background", unset: "false", fixed: true},
	{name: "instructions", unset: "null", long: true},
	{name: "max_output_tokens", unset: "null"},
	{name: "max_tool_calls", unset: "null"},
	{name: "metadata", unset: "{}"},
	{name: "parallel_tool_calls", unset: "true"},
	{name: "previous_response_id", unset: "null", fixed: true},
	{name: "prompt_cache_key"},
	{name: "reasoning", unset: `{"effort":null,"summary":null}`},
	{name: "safety_identifier"},
	{name: "store", unset: "false", fixed: true},
	{name: "temperature", unset: "1"},
	{name: "text", unset: `{"format":{"type":"text"}}`},
	{name: "tool_choice", unset: `"auto"`},
	{name: "tools", unset: "[]", long: true},
	{name: "top_logprobs"},
	{name: "top_p", unset: "1"},
	{name: "truncation", unset: `"disabled"`},
	{name: "user"},
}

// Default contains the settings of a request without any.
var Default = Append(nil, []byte("{}"), true)

// Append appends the members of an answer that repeat the request, each with a
// comma before it. body must have passed Inspect. store is always false, since the gateway
// keeps no responses.
func Append(dst, body []byte, stream bool) []byte {
	var values Values
	c := jsonscan.Again(body)
	for c.EnterObject(); c.Member(); {
		i := Index(c.Name())
		values.Set(i, c.Skip())
	}
	return values.Append(dst, stream)
}

// Values contains the raw values of the settings of a request, by index.
type Values [len(all)][]byte

// Set keeps the value of the setting with an index. Negative indexes are ignored.
func (v *Values) Set(i int, raw []byte) {
	if i >= 0 && string(raw) != "null" {
		v[i] = raw
	}
}

// Append appends all settings.
func (v *Values) Append(dst []byte, stream bool) []byte {
	for i, s := range all {
		value := v[i]
		if stream && s.long {
			value = nil
		}
		if value == nil && s.unset == "" {
			continue
		}
		dst = append(dst, `,"`+s.name+`":`...)
		if value == nil {
			dst = append(dst, s.unset...)
		} else {
			dst = jsonscan.AppendCompact(dst, value)
		}
	}
	return dst
}

// Index returns the index of the setting with that name, -1 for none.
func Index(name []byte) int {
	for i := range all {
		if string(name) == all[i].name && !all[i].fixed {
			return i
		}
	}
	return -1
}
