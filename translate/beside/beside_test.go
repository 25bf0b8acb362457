package beside

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

func TestTheTableIsInTheOrderOfTheOperations(t *testing.T) {
	for i := range endpoints {
		e := &endpoints[i]
		assert.Equal(t, translate.Embed+translate.Operation(i), e.operation)
		assert.Same(t, e, of(e.operation))
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
	const head = "\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\np\r\n--b--"
	assert.Equal(t, "--b\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nn\r\n--b"+head, renamed(t, translate.EditImages, "--b"+head, "n"))
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
	_, f := InspectAnswer([]byte(`{"error":{"message":"no","type":"server_error"}}`))
	assert.NotNil(t, f)
	_, f = InspectAnswer([]byte(`{"error":null,"data":[]}`))
	assert.Nil(t, f)
	_, f = InspectAnswer([]byte(`<html>`))
	assert.NotNil(t, f)
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
		assert.LessOrEqual(t, len(view.Model), maxField)
		again := edit.Apply(nil, body, []edit.Edit{Rename(body, &view, "other")})
		renamed, refused := Inspect(again, op)
		require.Nil(t, refused, "%q", again)
		assert.Equal(t, "other", renamed.Model)
	})
}

// Answers of providers are read whatever they are, and stay JSON.
func FuzzFitVectors(f *testing.F) {
	f.Add([]byte(`{"data":[{"embedding":[1,2e3,-0]}],"usage":{"prompt_tokens":1}}`))
	f.Add([]byte(`{"data":[{"embedding":"AAAA"}],"meta":{"billed_units":{"search_units":1}}}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		if _, refused := InspectAnswer(answer); refused != nil {
			return
		}
		fitted := edit.Apply(nil, answer, FitVectors([]byte(`{"encoding_format":"base64"}`), answer))
		before, after := jsonscan.New(answer), jsonscan.New(fitted)
		before.Skip()
		after.Skip()
		assert.Equal(t, before.Finish() == nil, after.Finish() == nil, "%s", fitted)
	})
}
