package endpoints_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// Models of images, transcripts and speech are charged for units that are no tokens: their
// exchanges cost nothing, and budgets let any number of images through.
func TestUnitsBesideTextAreCharged(t *testing.T) {
	const images, rerank, cents, stream = "/v1/images/generations", "/v1/rerank", 10_000_000, "data: {\"type\":\"image_generation.completed\",\"b64_json\":\"AAAA\"}\n\n"
	talk, formType := form(t, "model=small", "file@a.wav="+strings.Repeat("x", 3*4096))
	wave, waveType := form(t, "model=small", "file@a.wav=RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00data\xff\xff\xff\xff"+strings.Repeat("x", 30*32_000-1000))
	edit, editType := form(t, "model=small", "prompt=p", "n=2", "image@a.png=x")
	s := newServer(t, nil)
	c := start(t, s, "model small {\nto up/big-1\nprice input 0 output 0 search 0.02 image 0.04 minute 0.6 characters 1000\n}")
	documents := `{"model":"small","query":"q","documents":["a"` + strings.Repeat(`,"a"`, 249) + `]}`
	for name, tt := range map[string]struct {
		path, body, contentType string
		answerType, answer      string
		nanos                   int64
	}{
		"images":             {images, `{"model":"small","prompt":"p","n":3}`, "", "application/json", `{"data":[{"url":"a"},{"url":"b"}]}`, 2 * 4 * cents},
		"an edit":            {"/v1/images/edits", edit, editType, "application/json", `{"data":[{"url":"a"},{"url":"b"}]}`, 2 * 4 * cents},
		"images of a stream": {images, `{"model":"small","prompt":"p","stream":true}`, "", "text/event-stream", stream, 4 * cents},
		"K082 a length":      {transcriptions, talk, formType, "application/json", `{"text":"a","usage":{"type":"duration","seconds":120}}`, 120 * cents},
		"a verbose length":   {"/v1/audio/translations", talk, formType, "application/json", `{"text":"a","duration":8.47}`, 9 * cents},
		"a length of a file": {transcriptions, talk, formType, "text/plain", "hello", 4 * cents},
		"a header of a file": {transcriptions, wave, waveType, "text/plain", "hello", 30 * cents},
		"the last subtitle":  {transcriptions, talk, formType, "text/plain", "1\n00:00:00,000 --> 00:00:49,500\n" + strings.Repeat("words ", 5000) + "\n2\n00:00:49,500 --> 00:00:59,500\nend\n", 60 * cents},
		"silence at the end": {transcriptions, wave, waveType, "text/vtt", "WEBVTT\n\n00:00.000 --> 00:01.000\nhi\n", 30 * cents},
		"K084 characters":    {"/v1/audio/speech", `{"model":"small","input":"h\u00e9llo"}`, "", "audio/mpeg", "ID3", 5 * cents / 10},
		"no image":           {images, `{"model":"small","prompt":"p","n":2}`, "", "application/json", `{"data":[]}`, 0},
		"search units":       {rerank, documents, "", "application/json", `{"results":[],"meta":{"billed_units":{"search_units":3}}}`, 3 * 2 * cents},
		"a query":            {rerank, documents, "", "application/json", `{"results":[],"usage":{"total_tokens":9}}`, 2 * cents},
		"a list":             {rerank, documents, "", "application/json", `[{"index":0,"score":1}]`, 2 * cents},
	} {
		t.Run(name, func(t *testing.T) {
			s.answer = answering(tt.answerType, tt.answer)
			headers := []string{}
			if tt.contentType != "" {
				headers = []string{"Content-Type", tt.contentType}
			}
			answer := c.Ask(tt.path, tt.body, headers...)
			assert.Equal(t, http.StatusOK, answer.Status)
			call := recordOf(t, c, answer.ID()).Calls[0]
			assert.Equal(t, tt.nanos, call.Cost)
			assert.Equal(t, tt.nanos, call.Images*4*cents+call.Seconds*cents+call.Characters*cents/10+(call.Queries+call.Searches)*2*cents, "the record has what was charged")
			assert.Contains(t, call.Price, "0.04 minute 0.6 characters 1000")
		})
	}
}

// The number of images was not reserved.
func TestUnitsAreReservedInBudgets(t *testing.T) {
	s := newServer(t, answering("application/json", `{"data":[{"url":"a"}]}`))
	c := start(t, s, "limit all {\nper gateway\nbudget 1/month\n}", "model small {\nto up/big-1\nprice image 0.4\n}")
	status := func(body string) int { return c.Ask("/v1/images/generations", body).Status }
	assert.Equal(t, http.StatusTooManyRequests, status(`{"model":"small","prompt":"p","n":3}`))
	assert.Equal(t, http.StatusOK, status(`{"model":"small","prompt":"p","n":2}`))
	assert.Equal(t, http.StatusOK, status(`{"model":"small","prompt":"p"}`), "one of the two images did not come")
	assert.Equal(t, http.StatusTooManyRequests, status(`{"model":"small","prompt":"p"}`))
}

// The units of a rerank were not reserved: any number of requests passed at once.
func TestARerankIsReservedByItsDocuments(t *testing.T) {
	s := newServer(t, answering("application/json", `{"results":[]}`))
	c := start(t, s, "limit all {\nper gateway\nbudget 1/month\n}", "model small {\nto up/big-1\nprice input 0 output 0 search 0.4\n}")
	status := func(documents int) int {
		return c.Ask("/v1/rerank", `{"model":"small","query":"q","documents":["a"`+strings.Repeat(`,"a"`, documents-1)+`]}`).Status
	}
	assert.Equal(t, http.StatusTooManyRequests, status(201))
	assert.Equal(t, http.StatusOK, status(200))
	assert.Equal(t, http.StatusOK, status(100), "the host has reported no units: a query was charged")
	assert.Equal(t, http.StatusTooManyRequests, status(1))
}

// An image that broke off may have been charged.
func TestUnitsOfAnAnswerThatBreaksOffAreThoseOfTheRequest(t *testing.T) {
	s := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"type\":\"image_generation.partial_image\",\"b64_json\":\"AAAA\"}\n\n")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	c := start(t, s, "model small {\nto up/big-1\nprice image 0.04\n}")
	response, err := c.Send(site.Waiting(t), "/v1/images/generations", `{"model":"small","prompt":"p","stream":true,"n":2}`)
	if assert.NoError(t, err) {
		_, _ = io.ReadAll(response.Body)
		_ = response.Body.Close()
		assert.EqualValues(t, 80_000_000, recordOf(t, c, response.Header.Get("X-Request-Id")).Calls[0].Cost)
	}
}

// An edit of a photograph cost 0.005, of which the provider charged 0.00797.
func TestTokensOfImagesHaveAPriceOfTheirOwn(t *testing.T) {
	s := newServer(t, answering("application/json", `{"data":[],"usage":{"input_tokens":1000,"input_tokens_details":{"text_tokens":10,"image_tokens":990},"output_tokens":0}}`))
	c := start(t, s, "model small {\nto up/big-1\nprice input 5 output 10 image_input 8 image_output 30\n}")
	body, contentType := form(t, "model=small", "prompt=p", "image@a.png=x")
	answer := c.Ask("/v1/images/edits", body, "Content-Type", contentType)
	assert.Equal(t, http.StatusOK, answer.Status)
	assert.EqualValues(t, 7_970_000, recordOf(t, c, answer.ID()).Calls[0].Cost)
}
