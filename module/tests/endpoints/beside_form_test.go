package endpoints_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const transcriptions = "/v1/audio/transcriptions"

func TestK078AFormIsRoutedByAModelBehindAFileOfTwentyMegabytes(t *testing.T) {
	s := newServer(t, answering("application/json", `{"text":"hello"}`))
	c := start(t, s)
	sound := strings.Repeat("RIFF\r\n--\x00", 2<<20)
	body, contentType := form(t, "file@talk.wav="+sound, "model=small")
	answer := c.Ask(transcriptions, body, "Content-Type", contentType)
	assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
	assert.Equal(t, `{"text":"hello"}`, answer.Body)
	want, _ := form(t, "file@talk.wav="+sound, "model=big-1")
	assert.True(t, want == s.last().body, "nothing but the name of the model is changed")
	assert.Equal(t, contentType, s.last().contentType)

	tooLarge, _ := form(t, "file@talk.wav="+strings.Repeat("x", 33<<20), "model=small")
	assert.Equal(t, http.StatusRequestEntityTooLarge, c.Ask(transcriptions, tooLarge, "Content-Type", contentType).Status)
}

func TestK079OnlyTheModelOfAFormIsChanged(t *testing.T) {
	s := newServer(t, answering("application/json", `{"data":[]}`))
	c := start(t, s)
	body := "--b\r\nContent-Disposition: form-data; name=\"image[]\"; filename=\"ä.png\"\r\nX-Odd:  1\r\n\r\n\x89PNG\r\n--c\r\n" +
		"\r\n--b\r\ncontent-disposition: form-data; name=model\r\n\r\nsmall" +
		"\r\n--b\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\nsmall\r\n--b--\r\n"
	const contentType = "multipart/form-data; boundary=b"
	answer := c.Ask("/v1/images/edits", body, "Content-Type", contentType)
	assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
	assert.Equal(t, request{"/v1/images/edits", contentType, strings.Replace(body, "\r\n\r\nsmall\r\n--b\r\nContent", "\r\n\r\nbig-1\r\n--b\r\nContent", 1)}, s.last())

	asJSON := c.Ask("/v1/images/edits", `{"model":"small","prompt":"a","images":[{"image_url":"https://example.com/a.png"}]}`)
	assert.Equal(t, http.StatusOK, asJSON.Status)
	assert.Contains(t, s.last().body, `"model":"big-1"`)
}

func TestK080AFormWithTwoModelsIsRefused(t *testing.T) {
	s := newServer(t, nil)
	c := start(t, s)
	const contentType = "multipart/form-data; boundary=b"
	part := func(head, content string) string { return "--b\r\n" + head + "\r\n\r\n" + content + "\r\n" }
	model, file := part(`Content-Disposition: form-data; name="model"`, "small"), part(`Content-Disposition: form-data; name="file"; filename="f"`, "x")
	for body, want := range map[string]string{
		model + model + file + "--b--":  "model: must be sent once",
		file + "--b--":                  "model: required",
		model + "--b--":                 "file: required",
		model + file:                    "a part has no end",
		model + file + "--b--x":         "something behind its end",
		model + "--b\r\n\r\nx\r\n--b--": "a part has no head",
		model + "--b x\r\n":             "not followed by a line break",
		"--c\r\n" + file + "--c--":      "multipart/form-data, with the boundary of the body",
		`{"model":"small","file":"x"}`:  "multipart/form-data, with the boundary of the body",
		part(`Content-Disposition: form-data; name="model"; filename="m"`, "small") + file + "--b--":    "model: must be sent once",
		part(`Content-Disposition: form-data; name="model"`, strings.Repeat("m", 300)) + file + "--b--": "model: must be sent once",
		part(`Content-Disposition: form-data; name="model"`, "a\x01b") + file + "--b--":                 "no control characters",
		strings.Repeat(part(`Content-Disposition: form-data; name="x"`, ""), 300) + "--b--":             "more than 256 parts",
	} {
		answer := c.Ask(transcriptions, body, "Content-Type", contentType)
		assert.Contains(t, []int{http.StatusBadRequest, http.StatusUnsupportedMediaType}, answer.Status, want)
		assert.Contains(t, answer.Body, want, "%.80q", body)
	}
	for _, contentType := range []string{"application/json", "text/plain", "multipart/mixed; boundary=b"} {
		assert.Equal(t, http.StatusUnsupportedMediaType, c.Ask(transcriptions, model+file+"--b--", "Content-Type", contentType).Status, contentType)
	}
	assert.Empty(t, s.received)
}

// A client hid a second model, further images or a text behind a head that ended with bare line
// feeds, in a file, or under another spelling of a name: servers read them, and the gateway did not.
func TestAFormThatServersReadInTwoWaysIsRefused(t *testing.T) {
	s := newServer(t, answering("application/json", `{"data":[]}`))
	c := start(t, s, "guard cards regex {\nblock card\n}")
	part := func(head, content string) string { return "--b\r\n" + head + content + "\r\n" }
	named := func(name string) string { return `Content-Disposition: form-data; name="` + name + `"` }
	for path, needed := range map[string]string{transcriptions: `file"; filename="f`, "/v1/audio/translations": `file"; filename="f`, "/v1/images/edits": "prompt"} {
		valid := part(named("model"), "\r\n\r\nsmall") + part(named(needed), "\r\n\r\nx") + "--b--\r\n"
		for hidden, want := range map[string]string{
			part(named("model"), "\n\nother"):                                                         "the head of a part",
			part(named("n"), "\r\n\n10"):                                                              "the head of a part",
			part(named("prompt"), "\r\rpay 4111 1111 1111 1111"):                                      "the head of a part",
			part(named(`x"; filename="f`), "\r\n\r\n1\n--b\n"+named("model")+"\n\nother"):             "not behind CR LF",
			part(named(`x"; filename="f`), "\r\n\r\n--b\r\n"+named("model")+"\r\n\r\nother"):          "not behind CR LF",
			part(named(`x"; filename="`), "\r\n\r\npay 4111 1111 1111 1111"):                          "empty filename",
			part(named("x")+"\r\n ;y", "\r\n\r\n1"):                                                   "no header",
			part(named("x")+"\r\nX: --b", "\r\n\r\n1"):                                                "contains the delimiter",
			part(named("Model"), "\r\n\r\nother"):                                                     "model: must be written in lower case",
			part(named("model[]"), "\r\n\r\nother"):                                                   "model: must be written in lower case",
			part(named("y")+"\r\nContent-Transfer-Encoding: base64", "\r\n\r\nNDExMQ=="):              "a part is encoded",
			part(named("y"), "\r\n\r\npay 4111 1111 1111 1111"):                                       "guard 'cards', rule 'card'",
			part(named(`y"; filename="4111111111111111.wav`), "\r\n\r\n1"):                            "guard 'cards', rule 'card'",
			part(named(`y"; filename="a"; filename*="UTF-8''4111%201111%201111%201111`), "\r\n\r\n1"): "guard 'cards', rule 'card'",
			part(named("4111111111111111"), "\r\n\r\n1"):                                              "guard 'cards', rule 'card'",
			part(named("y")+"\r\nX-Paid: 4111-1111-1111-1111", "\r\n\r\n1"):                           "guard 'cards', rule 'card'",
		} {
			answer := c.Ask(path, hidden+valid, "Content-Type", "multipart/form-data; boundary=b")
			assert.Equal(t, http.StatusBadRequest, answer.Status, "%s: %q", path, hidden)
			assert.Contains(t, answer.Body, want, "%s: %q", path, hidden)
		}
		assert.Equal(t, http.StatusOK, c.Ask(path, valid, "Content-Type", `Multipart/Form-Data; charset=utf-8; Boundary="b"`).Status)
		assert.Equal(t, "multipart/form-data; boundary=b", s.last().contentType)
	}
	assert.Len(t, s.received, 3)
}

func TestK081SubtitlesPassWithTheirTypeAndWithoutUsage(t *testing.T) {
	const subtitles = "1\n00:00:00,000 --> 00:00:01,000\nhello\n"
	s := newServer(t, answering("text/plain; charset=utf-8", subtitles))
	c := start(t, s)
	body, contentType := form(t, "model=small", "response_format=srt", "file@a.wav=x")
	answer := c.Ask(transcriptions, body, "Content-Type", contentType)
	assert.Equal(t, subtitles, answer.Body)
	assert.Equal(t, "text/plain; charset=utf-8", answer.Header.Get("Content-Type"))
	record := recordOf(t, c, answer.ID())
	assert.Equal(t, "transcription", record.Operation)
	assert.NotEqual(t, "reported", record.Calls[0].Source, "what nobody has reported costs something unknown")
}

func TestK082UsageOfTranscriptsIsReadIfItIsTokens(t *testing.T) {
	s := newServer(t, answering("application/json", `{"text":"a","usage":{"type":"tokens","input_tokens":14,"input_token_details":{"audio_tokens":14},"output_tokens":45,"total_tokens":59}}`))
	c := start(t, s)
	body, contentType := form(t, "model=small", "file@a.wav=x")
	record := recordOf(t, c, c.Ask(transcriptions, body, "Content-Type", contentType).ID())
	assert.EqualValues(t, 14, record.Calls[0].Input)
	assert.EqualValues(t, 45, record.Calls[0].Output)

	s.answer = answering("application/json", `{"text":"a","usage":{"type":"duration","seconds":12}}`)
	record = recordOf(t, c, c.Ask(transcriptions, body, "Content-Type", contentType).ID())
	assert.NotEqual(t, "reported", record.Calls[0].Source, "seconds are no tokens")
}

func TestK083UsageOfStreamsOfAudioIsThatOfTheirLastEvent(t *testing.T) {
	const transcript = "event: transcript.text.delta\ndata: {\"type\":\"transcript.text.delta\",\"delta\":\"he\"}\n\n" +
		"data: {\"type\":\"transcript.text.done\",\"text\":\"hello\",\"usage\":{\"input_tokens\":3,\"output_tokens\":2,\"total_tokens\":5}}\n\n"
	const speech = "data: {\"type\":\"speech.audio.delta\",\"audio\":\"AAAA\"}\n\n" +
		"data: {\"type\":\"speech.audio.done\",\"usage\":{\"input_tokens\":3,\"output_tokens\":2,\"total_tokens\":5}}\n\ndata: [DONE]\n\n"
	s := newServer(t, nil)
	c := start(t, s)
	talk, contentType := form(t, "model=small", "stream=true", "file@a.wav=x")
	for _, tt := range []struct{ path, body, contentType, stream string }{
		{transcriptions, talk, contentType, transcript},
		{"/v1/audio/speech", `{"model":"small","input":"hello","stream_format":"sse"}`, "application/json", speech},
	} {
		s.answer = answering("text/event-stream", tt.stream)
		answer := c.Ask(tt.path, tt.body, "Content-Type", tt.contentType)
		assert.Equal(t, tt.stream, answer.Body)
		record := recordOf(t, c, answer.ID())
		assert.EqualValues(t, 3, record.Calls[0].Input, tt.path)
		assert.EqualValues(t, 2, record.Calls[0].Output, tt.path)
		assert.Equal(t, "answered", record.Outcome)
	}
}

// A stream that ends before its last event is never shown as finished.
func TestAStreamBesideTextThatIsCutEndsWithAnError(t *testing.T) {
	const begun = "data: {\"type\":\"transcript.text.delta\",\"delta\":\"he\"}\n\n"
	s := newServer(t, answering("text/event-stream", begun))
	c := start(t, s)
	body, contentType := form(t, "model=small", "stream=true", "file@a.wav=x")
	answer := c.Ask(transcriptions, body, "Content-Type", contentType)
	assert.True(t, strings.HasPrefix(answer.Body, begun), answer.Body)
	assert.Contains(t, answer.Body[len(begun):], `"error":`)
	assert.Equal(t, "cut", recordOf(t, c, answer.ID()).Outcome)
}
