package modelcard_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
)

func TestModelListsHaveTheShapeOfTheFormat(t *testing.T) {
	models := []modelcard.Card{
		{ID: "a"},
		{ID: "b", DisplayName: "B", Created: 1790000000, OwnedBy: "me", ContextTokens: 200000, OutputTokens: 64000},
	}
	assert.Equal(t,
		`{"data":[{"type":"model","id":"a","display_name":"a","created_at":"1970-01-01T00:00:00Z"},`+
			`{"type":"model","id":"b","display_name":"B","created_at":"2026-09-21T14:13:20Z","max_input_tokens":200000,"max_tokens":64000}],`+
			`"has_more":true,"first_id":"a","last_id":"b"}`,
		string(formats.Of(translate.Messages).Models.AppendList(nil, models, true)))
	assert.Equal(t,
		`{"object":"list","data":[{"id":"a","object":"model","created":0,"owned_by":"gateway"},`+
			`{"id":"b","object":"model","created":1790000000,"owned_by":"me","name":"B","context_length":200000,"max_completion_tokens":64000}]}`,
		string(formats.Of(translate.Chat).Models.AppendList(nil, models, true)))
	assert.Equal(t, `{"data":[],"has_more":false,"first_id":null,"last_id":null}`,
		string(formats.Of(translate.Messages).Models.AppendList(nil, nil, false)))
	assert.Equal(t, `{"object":"list","data":[]}`, string(formats.Of(translate.Completions).Models.AppendList(nil, nil, false)))
}

// Agents that choose fields by what a model takes, or sizes by its list, saw names alone.
func TestModelListsShowWhatIsKnown(t *testing.T) {
	known := []modelcard.Card{
		{ID: "a", Shutdown: "2027-01-31", Abilities: modelcard.Abilities{
			Media: []string{"image", "pdf"}, Thinking: []string{"adaptive"}, Efforts: []string{"low", "max"}, Schemas: new(true),
		}},
		{ID: "b", Abilities: modelcard.Abilities{Media: []string{}, Thinking: []string{}, Efforts: []string{}}},
	}
	messages := formats.Of(translate.Messages).Models
	assert.JSONEq(t, `{"type":"model","id":"a","display_name":"a","created_at":"1970-01-01T00:00:00Z","retires_at":"2027-01-31T00:00:00Z","capabilities":{
		"image_input":{"supported":true},"pdf_input":{"supported":true},"structured_outputs":{"supported":true},
		"thinking":{"supported":true,"types":{"adaptive":{"supported":true},"enabled":{"supported":false}}},
		"effort":{"supported":true,"low":{"supported":true},"medium":{"supported":false},"high":{"supported":false},"xhigh":{"supported":false},"max":{"supported":true}}}}`,
		string(messages.Append(nil, known[0])))
	assert.JSONEq(t, `{"type":"model","id":"b","display_name":"b","created_at":"1970-01-01T00:00:00Z","capabilities":{
		"image_input":{"supported":false},"pdf_input":{"supported":false},
		"thinking":{"supported":false,"types":{"adaptive":{"supported":false},"enabled":{"supported":false}}},
		"effort":{"supported":false,"low":{"supported":false},"medium":{"supported":false},"high":{"supported":false},"xhigh":{"supported":false},"max":{"supported":false}}}}`,
		string(messages.Append(nil, known[1])))
	assert.JSONEq(t, `{"object":"list","data":[
		{"id":"a","object":"model","created":0,"owned_by":"gateway","shutdown_date":"2027-01-31","architecture":{"input_modalities":["text","image","file"]}},
		{"id":"b","object":"model","created":0,"owned_by":"gateway","architecture":{"input_modalities":["text"]}}]}`,
		string(formats.Of(translate.Chat).Models.AppendList(nil, known, false)))
	assert.Contains(t, string(formats.Of(translate.Gemini).Models.AppendList(nil, known, false)), `"displayName":"a","thinking":true,`)
	assert.Contains(t, string(formats.Of(translate.Gemini).Models.AppendList(nil, known, false)), `"displayName":"b","thinking":false,`)
}

func TestModelListsOfServicesAreRead(t *testing.T) {
	for _, test := range []struct {
		service, body string
		want          modelcard.Card
	}{
		{
			"Anthropic",
			`{"data":[{"type":"model","id":"claude-x","display_name":"Claude X","created_at":"2026-02-04T00:00:00Z",
			"max_input_tokens":200000,"max_tokens":64000,"capabilities":{"batch":{"supported":true}}}],"has_more":false,"first_id":"claude-x","last_id":"claude-x"}`,
			modelcard.Card{ID: "claude-x", DisplayName: "Claude X", Created: 1770163200, ContextTokens: 200000, OutputTokens: 64000},
		}, {
			"OpenAI",
			`{"object":"list","data":[{"id":"gpt-x","object":"model","created":1790000000,"owned_by":"system","shutdown_date":"2026-12-11"}]}`,
			modelcard.Card{ID: "gpt-x", Created: 1790000000, OwnedBy: "system", Shutdown: "2026-12-11"},
		}, {
			"OpenAI, without an announced end",
			`{"object":"list","data":[{"id":"gpt-x","object":"model","created":1790000000,"owned_by":"system","shutdown_date":null}]}`,
			modelcard.Card{ID: "gpt-x", Created: 1790000000, OwnedBy: "system"},
		}, {
			"a gateway like this one, for clients of messages",
			`{"data":[{"type":"model","id":"m","retires_at":"2027-01-31T00:00:00Z","shutdown_date":"soon"}],"has_more":false}`,
			modelcard.Card{ID: "m", Shutdown: "2027-01-31"},
		}, {
			"vLLM",
			`{"object":"list","data":[{"id":"qwen","object":"model","created":1790000000,"owned_by":"vllm","root":"/models/qwen","parent":null,"max_model_len":32768,"permission":[{"id":"modelperm-1"}]}]}`,
			modelcard.Card{ID: "qwen", Created: 1790000000, OwnedBy: "vllm", ContextTokens: 32768},
		}, {
			"another gateway, whose context was unknown, and whose longest answer of 0 is not stated",
			`{"data":[{"id":"m","context_window_tokens":1048576,"top_provider":{"max_completion_tokens":0}}]}`,
			modelcard.Card{ID: "m", ContextTokens: 1048576},
		}, {
			"llama.cpp, which gives the context that it was started with",
			`{"models":[{"name":"other","model":"other"}],"object":"list","data":[{"id":"m.gguf","object":"model","created":1790000000,"owned_by":"llamacpp","meta":{"vocab_type":2,"n_ctx":8192,"n_ctx_train":131072}}]}`,
			modelcard.Card{ID: "m.gguf", Created: 1790000000, OwnedBy: "llamacpp", ContextTokens: 8192},
		}, {
			"llama.cpp, older",
			`{"object":"list","data":[{"id":"m.gguf","object":"model","created":1790000000,"owned_by":"llamacpp","meta":{"n_ctx_train":131072}}]}`,
			modelcard.Card{ID: "m.gguf", Created: 1790000000, OwnedBy: "llamacpp", ContextTokens: 131072},
		}, {
			"Ollama",
			`{"object":"list","data":[{"id":"tiny:latest","object":"model","created":1790000000,"owned_by":"library"}]}`,
			modelcard.Card{ID: "tiny:latest", Created: 1790000000, OwnedBy: "library"},
		}, {
			"Groq",
			`{"object":"list","data":[{"id":"llama","object":"model","created":1790000000,"owned_by":"Meta","active":true,"context_window":131072,"public_apps":null,"max_completion_tokens":32768}]}`,
			modelcard.Card{ID: "llama", Created: 1790000000, OwnedBy: "Meta", ContextTokens: 131072, OutputTokens: 32768},
		}, {
			"Mistral, where the name is the id",
			`{"object":"list","data":[{"id":"large","object":"model","created":1790000000,"owned_by":"mistralai","name":"large","max_context_length":131072,"aliases":["l"],"capabilities":{"completion_chat":true}}]}`,
			modelcard.Card{ID: "large", Created: 1790000000, OwnedBy: "mistralai", ContextTokens: 131072},
		}, {
			"OpenRouter",
			`{"data":[{"id":"v/m","name":"Vendor: M","created":1790000000,"context_length":400000,"top_provider":{"context_length":400000,"max_completion_tokens":128000,"is_moderated":true},"pricing":{"prompt":"0"}}]}`,
			modelcard.Card{ID: "v/m", DisplayName: "Vendor: M", Created: 1790000000, ContextTokens: 400000, OutputTokens: 128000},
		}, {
			"OpenRouter, whose preferred service has a shorter context: agents asked for more than it takes",
			`{"data":[{"id":"qwen/qwen3-coder:free","context_length":1048576,"top_provider":{"context_length":262000,"max_completion_tokens":262000}}]}`,
			modelcard.Card{ID: "qwen/qwen3-coder:free", ContextTokens: 262000, OutputTokens: 262000},
		}, {
			"Together, a bare array",
			`[{"id":"v/m","object":"model","created":1790000000,"type":"chat","display_name":"M","organization":"v","context_length":4096}]`,
			modelcard.Card{ID: "v/m", DisplayName: "M", Created: 1790000000, ContextTokens: 4096},
		}, {
			"DeepSeek",
			`{"object":"list","data":[{"id":"deepseek-chat","object":"model","owned_by":"deepseek"}]}`,
			modelcard.Card{ID: "deepseek-chat", OwnedBy: "deepseek"},
		},
	} {
		t.Run(test.service, func(t *testing.T) {
			models, after, err := modelcard.Read([]byte(test.body))
			require.NoError(t, err)
			assert.Equal(t, []modelcard.Card{test.want}, models)
			assert.Empty(t, after)
		})
	}
}

// Of a model whose members are not of the types that are documented, the others
// are known all the same.
func TestWhatAModelListGetsWrongIsLeftOut(t *testing.T) {
	long := strings.Repeat("x", 257)
	models, after, err := modelcard.Read([]byte(`{"has_more":"no","last_id":7,"data":[
		"m", null, 1, {}, {"id":7}, {"id":""}, {"id":"` + long + `"},
		{"id":"a","display_name":null,"created":"yesterday","owned_by":{},"context_length":"4k","max_tokens":-1,"meta":[],"top_provider":null},
		{"id":"b","display_name":"` + long + `","created":1e300,"created_at":"1600-01-01T00:00:00Z","context_length":0,"max_tokens":1.5},
		{"id":"c","created":253402300800}
	]}`))
	require.NoError(t, err)
	assert.Equal(t, []modelcard.Card{{ID: "a"}, {ID: "b"}, {ID: "c"}}, models)
	assert.Empty(t, after)
}

func TestAPageOfModelsNamesTheNextOne(t *testing.T) {
	_, after, err := modelcard.Read([]byte(`{"data":[{"id":"a"}],"has_more":true,"last_id":"a"}`))
	require.NoError(t, err)
	assert.Equal(t, "a", after)
	_, after, err = modelcard.Read([]byte(`{"data":[{"id":"a"}],"has_more":true}`))
	require.NoError(t, err)
	assert.Empty(t, after, "a page without an id to go on from is the last")
}

func TestWhatIsNoModelListIsAnError(t *testing.T) {
	for _, body := range []string{`{}`, `{"data":{}}`, `{"data":null}`, `{"error":{"message":"no"}}`, `"models"`, `null`, `7`} {
		_, _, err := modelcard.Read([]byte(body))
		assert.ErrorIs(t, err, modelcard.ErrNoList, body)
	}
	for _, body := range []string{``, `{"data":[`, `{"data":[]}x`, `<html>`, `{"data":[{"id":"a","id":"b"}]}`} {
		_, _, err := modelcard.Read([]byte(body))
		assert.Error(t, err, body)
	}
}

func TestListsOfGoogleAreRead(t *testing.T) {
	models, after, err := modelcard.Read([]byte(`{"models":[
		{"name":"models/gemini-3.5-flash","version":"001","displayName":"Gemini 3.5 Flash","inputTokenLimit":1048576,"outputTokenLimit":65536,
			"supportedGenerationMethods":["generateContent","countTokens"],"temperature":1},
		{"name":"models/gemini-embedding-2","supportedGenerationMethods":["embedContent",1]},
		{"name":"not/a/resource"}],"nextPageToken":"t=2"}`))
	require.NoError(t, err)
	assert.Equal(t, []modelcard.Card{{ID: "gemini-3.5-flash", DisplayName: "Gemini 3.5 Flash", ContextTokens: 1048576, OutputTokens: 65536}}, models)
	assert.Equal(t, "t=2", after, "the token of the next page")
	_, after, err = modelcard.Read([]byte(`{"models":[]}`))
	require.NoError(t, err)
	assert.Empty(t, after)
}

// Every list that can be read can be written in both shapes, and read again as
// the same models.
func FuzzModelListsComeBackAsTheyWere(f *testing.F) {
	f.Add([]byte(`{"data":[{"id":"a","display_name":"A","created":1790000000,"context_length":1,"max_tokens":2}]}`))
	f.Add([]byte(`[{"id":"a\u0000\ud800","created_at":"9999-12-31T23:59:59Z","meta":{"n_ctx":9007199254740993}}]`))
	f.Add([]byte(`{"data":[{"id":"a","name":"<a>","top_provider":{"max_completion_tokens":3}},{}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		models, _, err := modelcard.Read(body)
		if err != nil {
			return
		}
		for _, format := range []translate.Format{translate.Messages, translate.Chat} {
			reread, _, err := modelcard.Read(formats.Of(format).Models.AppendList(nil, models, false))
			require.NoError(t, err)
			require.Len(t, reread, len(models))
			for i, m := range models {
				reread[i].OwnedBy = m.OwnedBy // which the messages shape has no place for
				assert.Equal(t, m, reread[i])
			}
		}
	})
}
