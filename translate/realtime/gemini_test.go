package realtime

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// A reader of one notation alone lets a client resume the session of another with the other one.
func TestMessagesOfClientsOfGemini(t *testing.T) {
	for text, want := range map[string]Request{
		`{"realtimeInput":{"audio":{"mimeType":"audio/pcm","data":"AAAA"}}}`:                                   {Type: "realtimeinput", Audio: 6},
		`{"realtime_input":{"video":{"data":"AAAA"}}}`:                                                         {Type: "realtimeinput", Audio: 6, Tokens: 258},
		`{"realtimeInput":{"mediaChunks":[{"mimeType":"image/jpeg","data":"AA"},{"mimeType":"a","data":""}]}}`: {Type: "realtimeinput", Audio: 6, Tokens: 258},
		`{"realtime_input":{"media_chunks":[{"mime_type":"image/png","data":"AA"}]}}`:                          {Type: "realtimeinput", Audio: 4, Tokens: 258},
		`{"clientContent":{"setup":{"model":"no session"}}}`:                                                   {Type: "clientcontent"},
	} {
		got, err := Gemini.Read([]byte(text))
		assert.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{`{"setup":{"model":"m","sessionResumption":{"handle":"h"}}}`, `{"setup":{"session_resumption":{"handle":"h"},"model":"m"}}`, "\n{ \"Setup\":{\"mod\\u0065l\":\"m\",\"session_Resumption\":{\"handle\":\"h\"}}}"} {
		got, err := Gemini.Read([]byte(text))
		assert.NoError(t, err, text)
		assert.True(t, got.First)
		assert.Equal(t, `"m" "h"`, text[got.Model.Start:got.Model.End]+" "+text[got.Handle.Start:got.Handle.End])
	}
	for _, text := range []string{``, `[]`, `{}`, `{"setup":{"model":"a","model":"b"}}`, `{"setup":{},"setup":{}}`, `{"setup":{"sessionResumption":{},"session_resumption":{}}}`, `{"setup":{}} {}`} {
		_, err := Gemini.Read([]byte(text))
		assert.Error(t, err, text)
	}
}

// Requests over HTTP that refer to objects of the account are refused; messages with the same members were not.
func TestMessagesOfClientsOfGeminiReferToObjects(t *testing.T) {
	for text, want := range map[string]string{
		`{"setup":{"cachedContent":"cachedContents/c"}}`:                                                                        "cachedContent",
		`{"setup":{"cached_content":"cachedContents/c"}}`:                                                                       "cachedContent",
		`{"setup":{"tools":[{"fileSearch":{"fileSearchStoreNames":["s"]}}]}}`:                                                   "fileSearch",
		`{"setup":{"tools":[{"retrieval":{}}]}}`:                                                                                "retrieval",
		`{"clientContent":{"turns":[{"parts":[{"fileData":{"fileUri":"https://www.example.com/a.png"}}]}]}}`:                    "",
		`{"toolResponse":{"functionResponses":[{"response":{"fileUri":"files/f"}}]}}`:                                           "",
		`{"setup":{"cachedContent":null,"tools":[{"functionDeclarations":[{"parameters":{"properties":{"fileSearch":{}}}}]}]}}`: "",
	} {
		got, err := Gemini.Read([]byte(text))
		assert.NoError(t, err, text)
		assert.Equal(t, want, got.Unowned, text)
		assert.Empty(t, got.Files, text)
	}
	for text, want := range map[string][]string{
		`{"setup":{"systemInstruction":{"parts":[{"file_data":{"file_uri":"files/f"}},{"fileData":{"fileUri":"files/g"}}]}}}`:           {`"files/f"`, `"files/g"`},
		`{"clientContent":{"turns":[{"parts":[{"fileData":{"fileUri":"https://generativelanguage.googleapis.com/v1beta/files/f"}}]}]}}`: {`"https://generativelanguage.googleapis.com/v1beta/files/f"`},
		`{"toolResponse":{"functionResponses":[{"parts":[{"fileData":{"file\u0055ri":"file\u0073/f"}}]}]}}`:                             {`"file\u0073/f"`},
		`{"realtimeInput":{"text":"a","other":{"fileUri":"files/f"}}}`:                                                                  {`"files/f"`},
		`{"realtimeInput":{"other":{"fileUri":["files/f"]}}}`:                                                                           nil,
	} {
		got, err := Gemini.Read([]byte(text))
		assert.NoError(t, err, text)
		var files []string
		for _, slot := range got.Files {
			files = append(files, text[slot.Start:slot.End])
		}
		assert.Equal(t, want, files, text)
	}
}

func TestMessagesOfGemini(t *testing.T) {
	for text, want := range map[string]Event{
		`{"setupComplete":{}}`: {},
		`{"serverContent":{"inputTranscription":{"text":"hello"}}}`:                                            {},
		`{"serverContent":{"modelTurn":{"parts":[]}}}`:                                                         {Kind: Created, Tokens: 1},
		"\n{\"serverContent\":{\"outputTranscription\":{\"text\":\"\"}}}":                                      {Kind: Created, Tokens: 1},
		`{"toolCall":{"functionCalls":[]}}`:                                                                    {Kind: Created, Tokens: 5},
		`{"serverContent":{"turnComplete":true}}`:                                                              {},
		`{"serverContent":{"groundingMetadata":{"webSearchQueries":["a","b",""],"imageSearchQueries":["c"]}}}`: {Searches: 3},
		`{"usageMetadata":{"promptTokenCount":20,"responseTokenCount":10,"thoughtsTokenCount":4,"totalTokenCount":34,
			"promptTokensDetails":[{"modality":"TEXT","tokenCount":5},{"modality":"AUDIO","tokenCount":12},{"modality":"VIDEO","tokenCount":3}],
			"responseTokensDetails":[{"modality":"AUDIO","tokenCount":9}]},"toolCall":{}}`: {
			Kind: Done, Usage: token.Usage{
				Known: true, Counts: token.Counts{Fresh: 20, Answer: 10, Reasoning: 4},
				Units: token.Units{ImageTokens: token.MediaTokens{Input: 3}, AudioTokens: token.MediaTokens{Input: 12, Output: 9}},
			},
		},
	} {
		assert.Equal(t, want, Gemini.ReadEvent([]byte(text)), text)
	}
	const update = ` {"sessionResumptionUpdate":{"resumable":true,"newHandle":"h"}}`
	slot := Gemini.ReadEvent([]byte(update)).Handle
	assert.Equal(t, `"h"`, update[slot.Start:slot.End])
	assert.Zero(t, Gemini.ReadEvent([]byte(`{"sessionResumptionUpdate":{"resumable":false,"newHandle":""}}`)))
}
