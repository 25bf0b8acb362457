package passthrough

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

func TestTheTableIsInTheOrderOfTheOperations(t *testing.T) {
	for i := range endpoints {
		e := &endpoints[i]
		assert.Equal(t, translate.Embed+translate.Operation(i), e.operation)
		assert.Same(t, e, endpointOf(e.operation))
		assert.True(t, e.json != nil || e.form != "", e.path)
		assert.NotContains(t, e.operation.String(), "/")
	}
	assert.Len(t, Endpoints(), len(endpoints))
}

// renamed returns a body whose model is renamed.
func renamed(t *testing.T, op translate.Operation, body, model string) string {
	t.Helper()
	view, refused := Inspect([]byte(body), op)
	require.Nil(t, refused)
	return string(edit.Apply(nil, []byte(body), []edit.Edit{Rename([]byte(body), &view, model)}))
}

func TestRenamingChangesOnlyTheModel(t *testing.T) {
	assert.Equal(t, `{"input":"m" , "model" : "a\"b"}`, renamed(t, translate.Embed, `{"input":"m" , "model" : "m"}`, `a"b`))
	assert.Equal(t, ` {"model":"n", "input":[] }`, renamed(t, translate.Moderate, ` { "input":[] }`, "n"))
	const before, after = "--b\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\np\r\n--b\r\nContent-Disposition: form-data; name=model\r\n\r\n", "\r\n--b--"
	assert.Equal(t, before+"n"+after, renamed(t, translate.EditImages, before+"m"+after, "n"))
}

func TestVectorsAreFittedOnlyIfTheClientAskedForIt(t *testing.T) {
	for _, request := range []string{`{}`, `{"encoding_format":"float"}`, `{"encoding_format":null}`, `{"encoding_format":["base64"]}`} {
		assert.Empty(t, FitVectors([]byte(request), []byte(`{"data":[{"embedding":[1]}]}`)), request)
	}
	for answer, want := range map[string]string{
		`{"data":[{"embedding":[]}]}`:                 `{"data":[{"embedding":""}]}`,
		`{"data":[{"embedding":[1,2]}]}`:              `{"data":[{"embedding":"AACAPwAAAEA="}]}`,
		`{"data":[{"embedding":[1,null,"x",2]}]}`:     `{"data":[{"embedding":[1,null,"x",2]}]}`,
		`{"data":[{"embedding":"AAAA"},{"index":1}]}`: `{"data":[{"embedding":"AAAA"},{"index":1}]}`,
		`{"data":{"embedding":[1]}}`:                  `{"data":{"embedding":[1]}}`,
		`{"data":[[1],3,null]}`:                       `{"data":[[1],3,null]}`,
		`[]`:                                          `[]`,
	} {
		got := edit.Apply(nil, []byte(answer), FitVectors([]byte(`{"encoding_format":"base64"}`), []byte(answer)))
		assert.Equal(t, want, string(got), answer)
	}
}

func TestAnErrorInsideAnAnswerIsAFault(t *testing.T) {
	_, f := InspectAnswer([]byte(`{"error":{"message":"no","type":"server_error"}}`), translate.Embed)
	assert.NotNil(t, f)
	_, f = InspectAnswer([]byte(`{"error":null,"data":[]}`), translate.Embed)
	assert.Nil(t, f)
	_, f = InspectAnswer([]byte(`<html>`), translate.Embed)
	assert.NotNil(t, f)
}

// Images, sound and speech cost what their tokens cost, and those models have none.
// The number of images has other names at some services: four were made, and one was reserved.
func TestTheNumberOfImagesHasManyNames(t *testing.T) {
	for member, want := range map[string]int64{`"n":3`: 3, `"batch_size":4`: 4, `"num_images":2`: 2, `"n":1,"batch_size":4`: 4, `"batch_size":4,"n":6`: 6, `"batch_size":"many"`: 1, `"batch_size":-4`: 1, `"x":4`: 1} {
		view, refused := Inspect([]byte(`{"model":"m","prompt":"p",`+member+`}`), translate.GenerateImages)
		require.Nil(t, refused, member)
		assert.Equal(t, want, view.Costs.Units.Images, member)
	}
}

func TestUnitsOfRequestsAreThoseThatTheServiceMayCharge(t *testing.T) {
	const head = "--b\r\nContent-Disposition: form-data; name="
	for _, tt := range []struct {
		op   translate.Operation
		body string
		want token.Units
	}{
		{translate.GenerateImages, `{"model":"m","prompt":"a"}`, token.Units{Images: 1}},
		{translate.GenerateImages, `{"model":"m","prompt":"a","n":3}`, token.Units{Images: 3}},
		{translate.GenerateImages, `{"model":"m","prompt":"a","n":null}`, token.Units{Images: 1}},
		{translate.EditImages, head + "model\r\n\r\nm\r\n" + head + "prompt\r\n\r\np\r\n" + head + "n\r\n\r\n4\r\n--b--", token.Units{Images: 4}},
		{translate.Transcribe, head + "model\r\n\r\nm\r\n" + head + "file; filename=f\r\n\r\n" + strings.Repeat("x", 2*bytesPerSecond) + "\r\n--b--", token.Units{Seconds: 3}},
		{translate.Speak, `{"model":"m","input":"h\u00e9llo 😀\n"}`, token.Units{Characters: 8}},
		{translate.Embed, `{"model":"m","input":"a","n":3}`, token.Units{}},
	} {
		view, refused := Inspect([]byte(tt.body), tt.op)
		require.Nil(t, refused, tt.body)
		assert.Equal(t, tt.want, view.Costs.Units, tt.body)
	}
}

// A number that cannot be read may be read by the provider.
func TestUnitsThatCannotBeReadAreRefused(t *testing.T) {
	const head = "--b\r\nContent-Disposition: form-data; name="
	for body, op := range map[string]translate.Operation{
		`{"model":"m","prompt":"a","n":"3"}`: translate.GenerateImages,
		`{"model":"m","prompt":"a","n":0}`:   translate.GenerateImages,
		`{"model":"m","prompt":"a","N":3}`:   translate.GenerateImages,
		head + "model\r\n\r\nm\r\n" + head + "prompt\r\n\r\np\r\n" + head + "n\r\n\r\n3.0\r\n--b--":                         translate.EditImages,
		head + "n\r\n\r\n1\r\n" + head + "model\r\n\r\nm\r\n" + head + "prompt\r\n\r\np\r\n" + head + "n\r\n\r\n9\r\n--b--": translate.EditImages,
		`{"model":"m","input":["a"]}`: translate.Speak,
	} {
		_, refused := Inspect([]byte(body), op)
		assert.NotNil(t, refused, body)
	}
}

func TestUnitsOfAnswersAreCounted(t *testing.T) {
	for _, tt := range []struct {
		op     translate.Operation
		answer string
		want   token.Units
	}{
		{translate.GenerateImages, `{"data":[{"url":"a"},{"url":"b"}]}`, token.Units{Images: 2, Counted: true}},
		{translate.EditImages, `{"data":[]}`, token.Units{Counted: true}},
		{translate.GenerateImages, `{"data":{}}`, token.Units{}},
		{translate.GenerateImages, `{"images":[{"url":"a"},{"url":"b"}],"timings":{}}`, token.Units{Images: 2, Counted: true}},
		{translate.GenerateImages, `{"data":[{"url":"a"}],"images":[{"url":"a"}]}`, token.Units{Images: 1, Counted: true}},
		{translate.GenerateImages, `{"data":[` + strings.Repeat("0,", token.MaxImages) + `0]}`, token.Units{}},
		{translate.Embed, `{"data":[{"embedding":[1]}]}`, token.Units{}},
		{translate.Transcribe, `{"text":"a","usage":{"type":"duration","seconds":12}}`, token.Units{Seconds: 12}},
		{translate.Transcribe, `{"text":"a","duration":8.47}`, token.Units{Seconds: 9}},
		{translate.Transcribe, `{"text":"a","usage":{"seconds":1e99}}`, token.Units{}},
		// The words of Mistral, of older answers of OpenAI, and of other servers were estimated.
		{translate.Transcribe, `{"text":"a","usage":{"prompt_audio_seconds":203,"prompt_tokens":4,"total_tokens":4}}`, token.Units{Seconds: 203}},
		{translate.Transcribe, `{"text":"a","duration":"8.470000267028809"}`, token.Units{Seconds: 9}},
		{translate.Transcribe, `{"text":"a","usage":{"duration":"12"}}`, token.Units{Seconds: 12}},
		// Tokens of sound and of images had the price of texts.
		{translate.Transcribe, `{"text":"a","usage":{"type":"tokens","input_tokens":14,"input_token_details":{"text_tokens":1,"audio_tokens":13},"output_tokens":5}}`, token.Units{AudioTokens: token.MediaTokens{Input: 13}}},
		{translate.Embed, `{"data":[],"usage":{"prompt_tokens":900,"prompt_tokens_details":{"image_tokens":800,"audio_tokens":50}}}`, token.Units{ImageTokens: token.MediaTokens{Input: 800}, AudioTokens: token.MediaTokens{Input: 50}}},
		{translate.TranslateAudio, `{"text":"a","usage":{"seconds":-3}}`, token.Units{}},
	} {
		answer, f := InspectAnswer([]byte(tt.answer), tt.op)
		require.Nil(t, f, tt.answer)
		assert.Equal(t, tt.want, answer.Usage.Units, tt.answer)
	}
}

// A query of a rerank cost nothing where the host reported no units, and those that hosts report
// have many names.
func TestARerankIsReadAsItsHostReportsIt(t *testing.T) {
	for host, tt := range map[string]struct {
		answer                   string
		tokens, searches, querys int64
	}{
		"Cohere, version 1":        {`{"id":"a","results":[],"meta":{"api_version":{"version":"1"},"billed_units":{"search_units":3}}}`, 0, 3, 0},
		"Cohere, version 2":        {`{"results":[],"meta":{"billed_units":{"search_units":1.0},"tokens":{"input_tokens":9}}}`, 9, 1, 0},
		"Cohere, by tokens":        {`{"results":[],"meta":{"billed_units":{"input_tokens":7}}}`, 7, 0, 1},
		"Jina":                     {`{"model":"j","usage":{"total_tokens":815},"results":[]}`, 815, 0, 1},
		"Voyage":                   {`{"object":"list","data":[],"usage":{"total_tokens":26}}`, 26, 0, 1},
		"SiliconFlow":              {`{"results":[],"meta":{"billed_units":{"input_tokens":29,"output_tokens":0,"search_units":0,"classifications":0},"tokens":{"input_tokens":31,"output_tokens":0}}}`, 29, 0, 1},
		"SiliconFlow, tokens only": {`{"results":[],"meta":{"tokens":{"input_tokens":31}}}`, 31, 0, 1},
		"vLLM":                     {`{"results":[],"usage":{"total_tokens":56}}`, 56, 0, 1},
		"vLLM, newer":              {`{"results":[],"usage":{"prompt_tokens":55,"total_tokens":56}}`, 55, 0, 1},
		"Pinecone":                 {`{"data":[],"usage":{"rerank_units":2}}`, 0, 2, 0},
		"TEI":                      {` [{"index":0,"score":0.9}]`, 0, 0, 1},
		"TEI, nothing":             {`[]`, 0, 0, 1},
		"Bedrock":                  {`{"results":[{"index":0,"relevanceScore":0.9}]}`, 0, 0, 1},
		"strings":                  {`{"usage":{"total_tokens":"56"},"meta":{"billed_units":{"search_units":"1"}}}`, 0, 0, 1},
		"nulls":                    {`{"usage":null,"meta":{"billed_units":null,"tokens":{"input_tokens":null}}}`, 0, 0, 1},
		"negative":                 {`{"meta":{"billed_units":{"search_units":-4}}}`, 0, 0, 1},
		"zero":                     {`{"usage":{"total_tokens":0},"meta":{"billed_units":{"search_units":0}}}`, 0, 0, 1},
	} {
		answer, f := InspectAnswer([]byte(tt.answer), translate.Rerank)
		require.Nil(t, f, host)
		assert.Equal(t, tt.tokens, answer.Usage.Input(), host)
		assert.Equal(t, tt.searches, answer.Usage.Searches, host)
		assert.Equal(t, token.Units{Queries: tt.querys}, answer.Usage.Units, host)
	}
	for _, broken := range []string{`[`, `[{]`, `[] []`, `3`} {
		_, f := InspectAnswer([]byte(broken), translate.Rerank)
		assert.NotNil(t, f, broken)
	}
	_, f := InspectAnswer([]byte(`[]`), translate.Embed)
	assert.NotNil(t, f)
	for documents, want := range map[string]int64{`[]`: 1, `["a"]`: 1, `"a"`: 1, `[` + strings.Repeat(`{"text":"a"},`, 99) + `"b"]`: 1, `[` + strings.Repeat(`"a",`, 200) + `[]]`: 3,
		`["` + strings.Repeat("a", 1_000_000) + `"]`: 6, `"` + strings.Repeat("a", 1_000_000) + `"`: 6, `[` + strings.Repeat(`{"text":"`+strings.Repeat("é", 2000)+`"},`, 99) + `"b"]`: 3} {
		view, refused := Inspect([]byte(`{"model":"m","query":"q","documents":`+documents+`}`), translate.Rerank)
		require.Nil(t, refused, documents)
		assert.Equal(t, want, view.Costs.Units.Queries, documents)
	}
}

// The usage of the last image of a stream took the place of the others'.
func TestUsageOfTheImagesOfAStreamAddsUp(t *testing.T) {
	o := NewObserver()
	for range 3 {
		o.Observe(sse.Event{Data: []byte(`{"type":"image_generation.partial_image","b64_json":"AAAA"}`)})
		o.Observe(sse.Event{Data: []byte(`{"type":"image_generation.completed","b64_json":"AAAA","usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":100,"total_tokens":110}}`)})
	}
	assert.Equal(t, token.Counts{Fresh: 18, CacheRead: 12, Answer: 300}, o.Usage().Counts)
	assert.EqualValues(t, 3, o.Usage().Units.Images)
}

func TestImagesOfAStreamAreCounted(t *testing.T) {
	o := NewObserver()
	for _, event := range []string{"image_generation.partial_image", "image_generation.completed", "image_edit.completed"} {
		o.Observe(sse.Event{Data: []byte(`{"type":"` + event + `","b64_json":"AAAA"}`)})
	}
	assert.Equal(t, token.Units{Images: 2}, o.Usage().Units)
}

func TestTheErrorOfAStreamIsSeen(t *testing.T) {
	o := NewObserver()
	assert.Equal(t, signal.Content, o.Observe(sse.Event{Data: []byte(`{"type":"transcript.text.delta","delta":"a"}`)}))
	assert.Equal(t, signal.Failed, o.Observe(sse.Event{Data: []byte(`{"error":{"message":"no","type":"server_error"}}`)}))
	assert.NotNil(t, o.Fault())
	assert.Equal(t, signal.Failed, NewObserver().Observe(sse.Event{Data: []byte(`no JSON`)}))
}

// What passes can be renamed, and what is renamed passes and has the other name.
func FuzzInspect(f *testing.F) {
	for _, body := range []string{
		`{"model":"m","input":"a"}`, `{"prompt":"a"}`,
		"--b\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\nx\r\n--b--\r\n",
		"--b\r\nContent-Disposition: form-data; name=prompt\r\n\r\n\r\n--b--",
	} {
		for op := translate.Embed; op <= translate.Speak; op++ {
			f.Add([]byte(body), uint8(op))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, n uint8) {
		op := translate.Embed + translate.Operation(n)%translate.Operation(len(endpoints))
		view, refused := Inspect(body, op)
		if refused != nil {
			return
		}
		assert.NotEmpty(t, view.Model)
		assert.LessOrEqual(t, len(view.Model), maxWord)
		repeated := edit.Apply(nil, body, []edit.Edit{Rename(body, &view, "other")})
		renamed, refused := Inspect(repeated, op)
		require.Nil(t, refused, "%q", repeated)
		assert.Equal(t, "other", renamed.Model)
	})
}

// Answers of providers are read whatever they are, and stay JSON.
// A number that 32 bits cannot contain became infinite: the list stays as the provider has sent it.
func TestNoVectorBecomesInfinite(t *testing.T) {
	for number, fits := range map[string]bool{"1e38": true, "-3.4028235e38": true, "1e-50": true, "0": true, "1e39": false, "-1e39": false, "1e400": false, "-1E+999": false, "3.5e38": false} {
		answer := `{"data":[{"embedding":[0.5,` + number + `]}]}`
		assert.Equal(t, fits, len(FitVectors([]byte(`{"encoding_format":"base64"}`), []byte(answer))) == 1, number)
	}
}

func FuzzFitVectors(f *testing.F) {
	f.Add([]byte(`{"data":[{"embedding":[1,2e3,-0]}],"usage":{"prompt_tokens":1}}`))
	f.Add([]byte(`{"data":[{"embedding":"AAAA"}],"meta":{"billed_units":{"search_units":1}}}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		if _, refused := InspectAnswer(answer, translate.Embed); refused != nil {
			return
		}
		fitted := edit.Apply(nil, answer, FitVectors([]byte(`{"encoding_format":"base64"}`), answer))
		before, after := jsonscan.New(answer), jsonscan.New(fitted)
		before.Skip()
		after.Skip()
		assert.Equal(t, before.Finish() == nil, after.Finish() == nil, "%s", fitted)
	})
}
