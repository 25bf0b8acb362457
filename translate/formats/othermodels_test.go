package formats_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// minimal is a request that every format accepts, with further members.
func minimal(members string) []byte {
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
			body := minimal(members)
			if d.Name == translate.Completions {
				body = []byte(`{"model":"m","prompt":"hi",` + members + `}`)
			}
			view, refused := d.Requests.Inspect(body, translate.Generate)
			if assert.Nil(t, refused, "%s %s", d.Name, members) {
				assert.Equal(t, want, view.OtherModels, "%s %s", d.Name, members)
			}
			for end := range body {
				_, refused := d.Requests.Inspect(body[:end], translate.Generate)
				assert.NotNil(t, refused, "a body that is cut off")
			}
		}
	}
}

// A tool can ask a model of its own choice: the advisor of messages names one, and
// tools of OpenRouter have a model among their parameters.
func TestViewsNameTheToolThatAsksFurtherModels(t *testing.T) {
	for tool, asks := range map[string]bool{
		`{"type":"advisor_20260301","name":"advisor","model":"n"}`:         true,
		`{"type":"\u0061dvisor_20260301","name":"advisor","model":"n"}`:    true,
		`{"type":"openrouter:advisor","parameters":{"model":"n"}}`:         true,
		`{"type":"custom","name":"advisor_"}`:                              false,
		`{"type":"function","name":"f","function":{"name":"openrouter:"}}`: false,
	} {
		for _, d := range formats.All() {
			if d.Name == translate.Completions {
				continue // has no tools
			}
			view, refused := d.Requests.Inspect(minimal(`"tools":[{"type":"custom","name":"first"},`+tool+`]`), translate.Generate)
			if assert.Nil(t, refused, "%s %s", d.Name, tool) {
				want := map[bool]string{true: "tools[1]"}[asks]
				if asks && d.Name == translate.Messages {
					want = "tools.1"
				}
				assert.Equal(t, want, view.OtherModels, "%s %s", d.Name, tool)
			}
		}
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
		for _, d := range formats.All() {
			body := minimal(member)
			if d.Name == translate.Completions {
				body = []byte(`{"model":"m","prompt":"hi",` + member + `}`)
			}
			_, refused := d.Requests.Inspect(body, translate.Generate)
			if assert.NotNil(t, refused, "%s %s", d.Name, member) {
				assert.Equal(t, field+": must be written in lower case", refused.Message, d.Name)
			}
		}
	}
}
