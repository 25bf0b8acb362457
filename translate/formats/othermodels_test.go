package formats_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// bodyOf returns a request that a format accepts, with further members.
func bodyOf(format translate.Format, members string) []byte {
	if format == translate.Completions {
		return []byte(`{"model":"m","prompt":"hi",` + members + `}`)
	}
	if format == translate.Gemini {
		return []byte(`{"contents":[{"parts":[{"text":"hi"}]}],` + members + `}`)
	}
	return []byte(`{"model":"m","messages":[{"role":"user","content":"hi"}],"prompt":{"id":"p"},"input":"hi","max_tokens":9,` + members + `}`)
}

// Views had no trace of fields that name further models, so that a key with restricted
// models reached every model of a provider that falls back.
func TestViewsNameTheFieldThatNamesFurtherModels(t *testing.T) {
	for members, want := range map[string]string{
		`"models":["m","n"]`:                         "models",
		`"MODELS":["n"]`:                             "models", // some providers ignore the case
		`"m\u006fdels":["n"]`:                        "models",
		`"fallbacks":[{"model":"n"}]`:                "fallbacks",
		`"fallbacks":["n"]`:                          "fallbacks",
		`"fallback_model":"n"`:                       "fallback_model",
		`"route":"fallback","models":["n"]`:          "route",
		`"preset":"p"`:                               "preset",
		`"plugins":[{"id":"fusion"}]`:                "plugins",
		`"providerOptions":{"gateway":{"models":1}}`: "providerOptions",
		`"models":[]`:                                "",
		`"models":null`:                              "",
		`"fallback_credit_token":"t"`:                "",
		`"provider":{"order":["a"]}`:                 "",
	} {
		for _, d := range formats.All() {
			body := bodyOf(d.Name, members)
			view, refused := d.Requests.Inspect(body, translate.Generate)
			if assert.Nil(t, refused, "%s %s", d.Name, members) {
				assert.Equal(t, want, view.Beyond.OtherModels, "%s %s", d.Name, members)
			}
			for end := range body {
				_, refused := d.Requests.Inspect(body[:end], translate.Generate)
				assert.NotNil(t, refused, "a body that is cut off")
			}
		}
	}
}

// A tool can ask a model of its own choice: the advisor of messages names one, and tools of
// OpenRouter have a model among their parameters. Each format searched the tools by itself:
// completions had forgotten it, and its byte lane sent them on.
func TestViewsNameTheToolThatAsksFurtherModels(t *testing.T) {
	for tool, asks := range map[string]bool{
		`{"type":"advisor_20260301","name":"advisor","model":"n"}`:               true,
		`{"type":"\u0061dvisor_20260301","name":"advisor","model":"n"}`:          true,
		`{"type":"openrouter:advisor","parameters":{"model":"n"}}`:               true,
		`{"model":"n","name":"advisor","type":"advisor_1"}`:                      true,
		`{"t\u0079pe":"openrouter:web"}`:                                         true,
		`{"type":"custom","name":"n","tools":[1,{"type":"advisor_1"}]}`:          true, // in a namespace
		`{"type":"custom","name":"n","Tools":[{"tools":[{"type":"Advisor_"}]}]}`: true,
		`{"type":"Advisor_1"}`:                true, // some providers ignore the case
		`{"type":" advisor_1"}`:               true, // and some the space around it
		`{"type":"OpenRouter:web"}`:           true,
		`{"type":"custom","name":"advisor_"}`: false,
		`{"type":"advisor"}`:                  false,
		`{"type":"function","name":"f","function":{"name":"openrouter:"}}`:                                     false,
		`{"type":"function","name":"f","parameters":{"properties":{"tools":{"enum":[{"type":"advisor_1"}]}}}}`: false,
	} {
		for _, d := range formats.All() {
			field := map[bool]string{true: "tools[1]"}[asks]
			if asks && d.Name == translate.Messages {
				field = "tools.1"
			}
			body := bodyOf(d.Name, `"tools":[{"type":"custom","name":"first"},`+tool+`]`)
			view, refused := d.Requests.Inspect(body, translate.Generate)
			if assert.Nil(t, refused, "%s %s", d.Name, tool) {
				assert.True(t, strings.HasPrefix(view.Beyond.OtherModels, field), "%s %s: %s", d.Name, tool, view.Beyond.OtherModels)
				assert.Equal(t, asks, view.Beyond.OtherModels != "", "%s %s", d.Name, tool)
			}
			for end := range body {
				_, refused := d.Requests.Inspect(body[:end], translate.Generate)
				assert.NotNil(t, refused, "a body that is cut off")
			}
		}
	}
}

// A provider that ignores letter case reads "Type" as the type, and one that reads the last
// of two members named type never sees the first. A format that checks tools may refuse
// these; no format may take them for tools that ask no model.
func TestNoSpellingHidesAToolThatAsksFurtherModels(t *testing.T) {
	for _, members := range []string{
		`"tools":[{"Type":"advisor_1"}]`,
		`"tools":[{"TYPE":"openrouter:web","name":"x"}]`,
		`"tools":[{"type":"function","type":"advisor_1"}]`,
		`"tools":[{"type":"advisor_1","type":"function"}]`,
		`"tools":[{"type":"function","Type":"advisor_1"}]`,
		`"tools":[{"type":null,"Type":"advisor_1"}]`,
		`"Tools":[{"type":"advisor_1"}]`,
		`"t\u006fols":[{"type":"advisor_1"}]`,
		`"\u0054OOLS":[{"type":"advisor_1"}]`,
		`"toolſ":[{"type":"advisor_1"}]`, // the long s is an s to those who ignore the case
		`"tools":[{"type":"function","name":"f"},"x",{"type":"openrouter:web"}]`,
		`"tools":[],"Tools":[{"type":"advisor_1"}]`,
	} {
		for _, d := range formats.All() {
			view, refused := d.Requests.Inspect(bodyOf(d.Name, members), translate.Generate)
			assert.True(t, refused != nil || view.Beyond.OtherModels != "", "%s %s", d.Name, members)
		}
	}
}

// Items of the responses format bring tools that were found later.
func TestViewsNameTheToolOfAnItemThatAsksFurtherModels(t *testing.T) {
	for item, at := range map[string]string{
		`{"type":"additional_tools","role":"developer","tools":[{"type":"advisor_1"}]}`:                             "input[0].tools[0]",
		`{"type":"tool_search_output","tools":[{"type":"namespace","name":"n","tools":[{"Type":"openrouter:x"}]}]}`: "input[0].tools[0].tools[0]",
		`{"type":"new_item","Tools":[{"type":"advisor_1"}]}`:                                                        "input[0].tools[0]",
		`{"type":"function_call","call_id":"c","name":"f","arguments":"{\"tools\":[{\"type\":\"advisor_1\"}]}"}`:    "",
	} {
		view, refused := formats.Of(translate.Responses).Requests.Inspect([]byte(`{"model":"m","input":[`+item+`]}`), translate.Generate)
		assert.Nil(t, refused, item)
		assert.Equal(t, at, view.Beyond.OtherModels, item)
	}
}

// Providers that ignore letter case read members that the gateway had not: "MAX_TOKENS"
// exceeded the reservation of a budget, and "BACKGROUND" the refusal of stored state.
func TestFieldsMustBeWrittenInLowerCase(t *testing.T) {
	for member, field := range map[string]string{
		`"Stream":true`:         "stream",
		`"\u0053TREAM":true`:    "stream",
		`"ſtream":{"stream":1}`: "stream", // the long s is an s to those who ignore the case
		`"TEMPERATURE":null`:    "temperature",
	} {
		checked := 0
		for _, d := range formats.All() {
			if !hasField(d, field) {
				continue
			}
			checked++
			_, refused := d.Requests.Inspect(bodyOf(d.Name, member), translate.Generate)
			if assert.NotNil(t, refused, "%s %s", d.Name, member) {
				assert.Equal(t, field+": must be written in lower case", refused.Message, d.Name)
			}
		}
		assert.NotZero(t, checked, field)
	}
}

// hasField reports whether the rows of a format have a field of that name: a format may do
// without.
func hasField(d *format.Descriptor, name string) bool {
	fields := core.Join(d.Requests.Source, d.Requests.Target)
	return slices.ContainsFunc(fields, func(f core.Field) bool { return f.Name == name })
}

// What a check finds inside a member that only objects of another type have does not refuse a
// request. A provider that goes by the members, and not by the type, reads them all the same.
func TestMembersOfOtherTypesHideNothing(t *testing.T) {
	for format, body := range map[translate.Format]string{
		translate.Chat:      `{"model":"m","messages":[{"role":"user","content":"hi","tool_calls":[%]}]}`,
		translate.Messages:  `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"hi","content":[%]}]}]}`,
		translate.Responses: `{"model":"m","input":[{"type":"message","role":"user","content":"hi","output":[%]}]}`,
	} {
		inspect := func(object string) (translate.View, *fault.Fault) {
			return formats.Of(format).Requests.Inspect([]byte(strings.Replace(body, "%", object, 1)), translate.Generate)
		}
		_, refused := inspect(`{"type":5}`)
		assert.Nil(t, refused, format)
		view, refused := inspect(`{"tools":[{"type":"advisor_1"}]}`)
		assert.Nil(t, refused, format)
		assert.NotEmpty(t, view.Beyond.OtherModels, format)
		_, refused = inspect(`{"a":1,"a":2}`)
		if assert.NotNil(t, refused, format) {
			assert.Contains(t, refused.Message, "a: must appear once", format)
		}
	}
}
