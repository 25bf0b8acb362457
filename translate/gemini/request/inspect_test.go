package request_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/gemini/request"
	messages "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/request"
)

const oneContent = `"contents":[{"parts":[{"text":"hi"}]}]`

// hostile are requests, and the fields and faults that are reported.
var hostile = []struct{ body, at, what string }{
	{`{}`, "contents", "required"},
	{`{"contents":[]}`, "contents", "must hold at least one message"},
	{`{"contents":{}}`, "contents", "must be an array, got object"},
	{`{"contents":[1]}`, "contents[0]", "must be an object"},
	{`{"contents":[{"role":"narrator","parts":[]}]}`, "contents[0].role", "must be 'user' or 'model', got 'narrator'"},
	{`{"contents":[{"parts":{}}]}`, "contents[0].parts", "must be an array of objects"},
	{`{"contents":[{"parts":[{"text":1}]}]}`, "contents[0].parts[0].text", "must be a string"},
	{`{"contents":[{"parts":[{"text":"a","inlineData":{"mimeType":"image/png","data":""}}]}]}`, "contents[0].parts[0]", "must have only one of text, a call, a response and data"},
	{`{"contents":[{"parts":[{"inlineData":{"data":""}}]}]}`, "contents[0].parts[0].inlineData.mimeType", "required"},
	{`{"contents":[{"parts":[{"inline_data":{"mime_type":"a","mimeType":"a","data":""}}]}]}`, "contents[0].parts[0].inlineData.mimeType", "must be sent in one spelling only"},
	{`{"contents":[{"parts":[{"fileData":{"mimeType":"image/png"}}]}]}`, "contents[0].parts[0].fileData.fileUri", "required"},
	{`{"contents":[{"parts":[{"functionCall":{"args":{}}}]}]}`, "contents[0].parts[0].functionCall.name", "required"},
	{`{"contents":[{"parts":[{"functionCall":{"name":"f","args":[]}}]}]}`, "contents[0].parts[0].functionCall.args", "must be an object, got array"},
	{`{"contents":[{"parts":[{"functionResponse":{"name":"f","response":"x"}}]}]}`, "contents[0].parts[0].functionResponse.response", "must be an object, got string"},
	{`{"contents":[{"parts":[{"text":"a","thought":"yes"}]}]}`, "contents[0].parts[0].thought", "must be a boolean, got string"},
	{`{"contents":[{"parts":[{"text":"a","thoughtSignature":1}]}]}`, "contents[0].parts[0].thoughtSignature", "must be a string, got number"},
	{`{` + oneContent + `,"generationConfig":{"temperature":2.5}}`, "generationConfig.temperature", "must be between 0 and 2, got 2.5"},
	{`{` + oneContent + `,"generationConfig":{"maxOutputTokens":0}}`, "generationConfig.maxOutputTokens", "must be an integer of at least 1, got 0"},
	{`{` + oneContent + `,"generationConfig":{"max_output_tokens":5,"maxOutputTokens":9}}`, "generationConfig.maxOutputTokens", "must be sent in one spelling only"},
	{`{` + oneContent + `,"generationConfig":{"candidateCount":0}}`, "generationConfig.candidateCount", "must be an integer of at least 1, got 0"},
	{`{` + oneContent + `,"generationConfig":{"stopSequences":"x"}}`, "generationConfig.stopSequences", "must be an array of strings"},
	{`{` + oneContent + `,"generationConfig":{"responseSchema":{},"responseJsonSchema":{}}}`, "generationConfig.responseJsonSchema", "must not be sent together with responseSchema"},
	{`{` + oneContent + `,"generation_config":{},"generationConfig":{}}`, "generationConfig", "must be sent in one spelling only"},
	{`{` + oneContent + `,"GENERATIONCONFIG":{}}`, "generationConfig", "must be written with these capital letters"},
	{`{` + oneContent + `,"tools":{}}`, "tools", "must be an array of objects"},
	{`{` + oneContent + `,"tools":[{"functionDeclarations":[{}]}]}`, "tools[0].functionDeclarations[0].name", "required"},
	{`{` + oneContent + `,"tools":[{"functionDeclarations":[{"name":"f","parameters":{},"parametersJsonSchema":{}}]}]}`, "tools[0].functionDeclarations[0].parametersJsonSchema", "must not be sent together with parameters"},
	{`{` + oneContent + `,"toolConfig":{"functionCallingConfig":{"mode":1}}}`, "toolConfig.functionCallingConfig.mode", "must be a string"},
	{`{` + oneContent + `,"safetySettings":[{"threshold":1}]}`, "safetySettings[0].threshold", "must be a string"},
	{`{` + oneContent + `,"model":""}`, "model", "must be a non-empty string"},
}

func TestHostileRequestsAreRefused(t *testing.T) {
	for _, h := range hostile {
		_, fault := request.Inspect([]byte(h.body), translate.Generate)
		require.NotNil(t, fault, h.body)
		assert.Equal(t, h.at, fault.Param, h.body)
		assert.Equal(t, h.at+": "+h.what, fault.Message, h.body)
	}
}

func TestTheViewOfARequest(t *testing.T) {
	view, fault := request.Inspect([]byte(`{"contents":[{"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}},{"fileData":{"mimeType":"application/pdf","fileUri":"https://h"}}]}],`+
		`"generationConfig":{"maxOutputTokens":7,"candidateCount":2},"tools":[{"googleSearch":{}}],"serviceTier":"flex","cachedContent":"c"}`), translate.Generate)
	require.Nil(t, fault)
	assert.Equal(t, int64(7), view.MaxTokens)
	assert.Equal(t, int64(2), view.Answers)
	assert.Positive(t, view.Costs.Searches)
	assert.Greater(t, view.Costs.Files.Tokens, int64(4000), "an image and a document")
	assert.Equal(t, "cachedContent", view.Beyond.State)
	assert.Empty(t, view.Model)
}

// Stores of files, and files in contents to embed, were not looked for: a client could name those of others.
func TestTheViewHasTheObjectsOfARequest(t *testing.T) {
	for body, tt := range map[string]struct {
		op   translate.Operation
		want []string
	}{
		`{` + oneContent + `,"tools":[{"fileSearch":{"fileSearchStoreNames":["fileSearchStores/s"]}}]}`:                           {translate.Generate, []string{`vs_ "fileSearchStores/s"`}},
		`{` + oneContent + `,"tools":[{"file_search":{"file_search_store_names":["fileSearchStores/s"]}}]}`:                       {translate.Generate, []string{`vs_ "fileSearchStores/s"`}},
		`{` + oneContent + `,"tools":[{"retrieval":{"vertexRagStore":{"ragResources":[{"ragCorpus":"c"}],"similarityTopK":3}}}]}`: {translate.Generate, []string{`vs_ "c"`}},
		`{` + oneContent + `,"tools":[{"fileSearch":{}},{"googleSearch":{"x":"y"}}]}`:                                             {translate.Generate, nil},
		`{"generateContentRequest":{` + oneContent + `,"tools":[{"fileSearch":{"fileSearchStoreNames":["s"]}}]}}`:                 {translate.CountTokens, []string{`vs_ "s"`}},
		`{"content":{"parts":[{"fileData":{"fileUri":"files/f"}},{"file_data":{"file_uri":"files/g"}},{"fileData":{"fileUri":"https://h/x"}}]}}`: {
			translate.Embed, []string{`files/ "files/f"`, `files/ "files/g"`},
		},
		`{"requests":[{"content":{"parts":[{"text":"fileUri"}]}},{"content":{"parts":[{"fileData":{"fileUri":"files/f"}}]}}]}`: {translate.EmbedMany, []string{`files/ "files/f"`}},
	} {
		view, fault := request.Inspect([]byte(body), tt.op)
		require.Nil(t, fault, body)
		var named []string
		for _, id := range view.Beyond.ObjectIDs() {
			named = append(named, id.Kind+" "+body[id.Span.Start:id.Span.End])
		}
		assert.Equal(t, tt.want, named, body)
	}
	view, _ := request.Inspect([]byte(`{`+oneContent+`,"tools":[{"fileSearch":{"x":"s"}}],"cachedContent":"c"}`), translate.Generate)
	assert.Len(t, view.Beyond.ObjectIDs(), 1, "beside what is cached")
	assert.Equal(t, "cachedContent", view.Beyond.References.Unowned)
}

// Fields of a request in a request to count tokens are checked as others are.
func TestARequestToCountMayContainTheWholeRequest(t *testing.T) {
	body := `{"generateContentRequest":{"model":"models/m",` + oneContent + `,"tools":[{"functionDeclarations":[{"name":"f"}]}]}}`
	view, fault := request.Inspect([]byte(body), translate.CountTokens)
	require.Nil(t, fault)
	assert.Equal(t, "models/m", view.Model)
	assert.Equal(t, `"models/m"`, body[view.ModelSpan.Start:view.ModelSpan.End])
	_, fault = request.Inspect([]byte(body), translate.Generate)
	require.NotNil(t, fault)
	assert.Equal(t, "contents", fault.Param)
	_, fault = request.Inspect([]byte(strings.Replace(body, `"hi"`, "1", 1)), translate.CountTokens)
	require.NotNil(t, fault)
	assert.Equal(t, "generateContentRequest.contents[0].parts[0].text", fault.Param)
}

// FuzzReader ensures that whatever passes the strict pass is read without an error, and that a
// listener gets no less than a writer.
func FuzzReader(f *testing.F) {
	for _, h := range hostile {
		f.Add([]byte(h.body))
	}
	f.Add([]byte(`{` + oneContent + `,"system_instruction":{"parts":[{"text":"s"}]},"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT","nullable":true,"propertyOrdering":["a"],"properties":{"a":{"minItems":"2"}}}}]}]}`))
	f.Add([]byte(`{"contents":[{"parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"t","thought":true},{"functionCall":{"name":"f"},"thoughtSignature":"Z3d0aDE6"}]},{"parts":[{"functionResponse":{"name":"f","response":{"error":"x"}}}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, fault := request.Inspect(body, translate.Generate); fault != nil {
			require.NotEmpty(t, fault.Message)
			return
		}
		size := core.Measure(body, &request.Source)
		require.GreaterOrEqual(t, size.Bytes, int64(0))
		out, _, fault := core.Render(nil, body, &core.RequestInfo{Model: "m", Upstream: "gemini-3-pro"}, &request.Source, &request.Target)
		if fault == nil {
			_, fault = request.Inspect(out, translate.Generate)
			require.Nil(t, fault, "%s", out)
		}
	})
}

// Clients write the role behind the parts, and parts without a member contain nothing to lose.
func TestTheRoleOfAContentMayBeBehindItsParts(t *testing.T) {
	read := func(content string) string {
		body := `{"contents":[{"role":"user","parts":[{"text":"a"}]},` + content + `,{"role":"user","parts":[{"text":"c"}]}]}`
		out, _, refused := core.Render(nil, []byte(body), &core.RequestInfo{Model: "m", Upstream: "m"}, &request.Source, &messages.Target)
		require.Nil(t, refused)
		return string(out)
	}
	const parts = `"parts":[{ },{"text":"b"},{"functionCall":{"name":"f","args":{}}}]`
	assert.Contains(t, read(`{"role":"model",`+parts+`}`), `"role":"assistant"`)
	assert.Equal(t, read(`{"role":"model",`+parts+`}`), read(`{`+parts+`,"role":"model"}`))
}
