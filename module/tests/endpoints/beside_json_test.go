package endpoints_test

import (
	"encoding/base64"
	"encoding/binary"
	"io"
	"math"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

const (
	embeddings = "/v1/embeddings"
	vectors    = `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5,-1.25e0]},{"embedding":[1],"index":1}],"model":"big-1","usage":{"prompt_tokens":7,"total_tokens":7}}`
	encoded    = `{"object":"list","data":[{"object":"embedding","index":0,"embedding":"AAAAPwAAoL8="}],"model":"big-1","usage":{"prompt_tokens":7,"total_tokens":7}}`
)

// The SDKs ask for base64 without being told to, and decode the answer without looking at it:
// of an array of numbers they made a vector of zeros.
func TestK075VectorsHaveTheEncodingThatTheClientAskedFor(t *testing.T) {
	s := newServer(t, answering("application/json", encoded))
	c := start(t, s)
	answer := c.Ask(embeddings, `{ "model" : "small", "input" : ["a", "b"], "encoding_format" : "base64", "unknown": 1e400 }`)
	assert.Equal(t, http.StatusOK, answer.Status, answer.Body)
	assert.Equal(t, encoded, answer.Body)
	assert.Equal(t, request{"/v1/embeddings", "application/json", `{ "model" : "big-1", "input" : ["a", "b"], "encoding_format" : "base64", "unknown": 1e400 }`}, s.last())
	assert.Equal(t, "small", answer.Header.Get("X-Gateway-Model"))

	s.answer = answering("application/json", vectors)
	fitted := c.Ask(embeddings, `{"model":"small","input":"a","encoding_format":"base64"}`)
	vector := func(numbers ...float32) string {
		var b []byte
		for _, n := range numbers {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(n))
		}
		return base64.StdEncoding.EncodeToString(b)
	}
	assert.Equal(t, `{"object":"list","data":[{"object":"embedding","index":0,"embedding":"`+vector(0.5, -1.25)+`"},{"embedding":"`+vector(1)+`","index":1}],"model":"big-1","usage":{"prompt_tokens":7,"total_tokens":7}}`, fitted.Body)

	plain := c.Ask(embeddings, `{"model":"small","input":"a"}`)
	assert.Equal(t, vectors, plain.Body, "a client that did not ask for base64 gets the provider's bytes")
}

// Some services refuse encoding_format, or one of its values, so that SDKs, which send it with each request, got
// no vectors from them.
func TestAServiceWithoutEncodingFormatAnswersClientsOfBoth(t *testing.T) {
	s := newServer(t, answering("application/json", vectors))
	c := start(t, s, "model small {\nto up/big-1\nencoding_format off\n}")
	for asked, sent := range map[string]string{
		`{"encoding_format":"base64","model":"small","input":"a"}`:              `{"model":"big-1","input":"a"}`,
		`{"model":"small","input":"a","encoding_format":"float"}`:               `{"model":"big-1","input":"a"}`,
		`{"model":"small","input":["a"],"encoding_format":null,"dimensions":8}`: `{"model":"big-1","input":["a"],"dimensions":8}`,
		`{"model":"small","input":"a"}`:                                         `{"model":"big-1","input":"a"}`,
	} {
		answer := c.Ask(embeddings, asked)
		require.Equal(t, http.StatusOK, answer.Status, answer.Body)
		assert.Equal(t, sent, s.last().body)
		assert.Equal(t, strings.Contains(asked, "base64"), strings.Contains(answer.Body, `"embedding":"AAAAPwAAoL8="`), answer.Body)
		assert.Empty(t, answer.Header.Get("X-Gateway-Dropped"), "nothing is lost")
	}
}

func TestK076TokensAsInputPass(t *testing.T) {
	s := newServer(t, answering("application/json", encoded))
	c := start(t, s)
	assert.Equal(t, http.StatusOK, c.Ask(embeddings, `{"model":"small","input":[[1,2],[3]]}`).Status)
	assert.Equal(t, `{"model":"big-1","input":[[1,2],[3]]}`, s.last().body)
}

func TestK077ARequestWithoutAModelHasThatOfTheService(t *testing.T) {
	s := newServer(t, answering("application/json", `{"id":"modr-1","results":[]}`))
	c := start(t, s, "model omni-moderation-latest {\nto up/mod-2\n}")
	assert.Equal(t, http.StatusOK, c.Ask("/v1/moderations", `{"input":"a"}`).Status)
	assert.Equal(t, request{"/v1/moderations", "application/json", `{"model":"mod-2","input":"a"}`}, s.last())
}

func TestK087DecisionsAreChargedForTheTokensThatTheProviderReports(t *testing.T) {
	const answer = `{"id":"dec_1","model":"big-1","answers":[{"type":"predicate","name":"q","probability":0.75}],"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4},"output_tokens":2,"total_tokens":11}}`
	s := newServer(t, answering("application/json", answer))
	c := start(t, s)
	reply := c.Ask("/v1/decisions", `{"model":"small","input":"a","questions":[{"type":"predicate","name":"q"}]}`)
	assert.Equal(t, answer, reply.Body)
	assert.Equal(t, request{"/v1/decisions", "application/json", `{"model":"big-1","input":"a","questions":[{"type":"predicate","name":"q"}]}`}, s.last())
	record := recordOf(t, c, reply.ID())
	assert.Equal(t, "decision", record.Operation)
	assert.Equal(t, []int64{5, 2}, []int64{record.Calls[0].Input, record.Calls[0].Output})
}

// A request for an image without a model once had the name of one that its service had removed.
func TestARequestBesideTextNeedsAModelWithoutADefault(t *testing.T) {
	s := newServer(t, nil)
	c := start(t, s, "model dall-e-2 {\nto up/painter\n}")
	edit, contentType := form(t, "prompt=a")
	for _, r := range []struct{ path, body, contentType string }{
		{"/v1/images/generations", `{"prompt":"a"}`, "application/json"}, {"/v1/images/edits", `{"prompt":"a","images":[]}`, "application/json"},
		{"/v1/images/edits", edit, contentType}, {"/v1/embeddings", `{"input":"a"}`, "application/json"},
		{"/v1/rerank", `{"query":"a","documents":["b"]}`, "application/json"}, {"/v1/audio/speech", `{"input":"a","voice":"v"}`, "application/json"},
	} {
		answer := c.Ask(r.path, r.body, "Content-Type", r.contentType)
		assert.Equal(t, http.StatusBadRequest, answer.Status, r.path)
		assert.Contains(t, answer.Body, `"message":"model: required"`, r.path)
	}
	assert.Empty(t, s.received)
}

func TestK086UsageOfRerankIsReadInItsShapes(t *testing.T) {
	s := newServer(t, nil)
	c := start(t, s)
	for answer, want := range map[string]int64{
		`{"results":[],"usage":{"total_tokens":9}}`:                   9,
		`{"results":[],"usage":{"prompt_tokens":8,"total_tokens":9}}`: 8,
		`{"results":[],"meta":{"billed_units":{"search_units":1}}}`:   0,
		`{"results":[{"index":0,"relevance_score":0.5}],"model":"x"}`: 0,
	} {
		s.answer = answering("application/json", answer)
		reply := c.Ask("/v1/rerank", `{"model":"small","query":"q","documents":["a"]}`)
		assert.Equal(t, answer, reply.Body)
		record := recordOf(t, c, reply.ID())
		assert.Equal(t, "rerank", record.Operation)
		if want > 0 {
			assert.Equal(t, want, record.Calls[0].Input, answer)
		}
	}
	assert.Equal(t, "/v1/rerank", s.last().path)
}

// Speech is passed on as it arrives, and its type with it.
func TestK084SpeechIsPassedOnUnchanged(t *testing.T) {
	released := make(chan struct{})
	sound := "ID3\x00\xff\xfb" + string(make([]byte, 100_000))
	s := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "audio/mpeg")
		_, _ = io.WriteString(w, sound[:50_000])
		_ = http.NewResponseController(w).Flush()
		<-released
		_, _ = io.WriteString(w, sound[50_000:])
	})
	c := start(t, s)
	response, err := c.Send(site.Waiting(t), "/v1/audio/speech", `{"model":"small","input":"hello","voice":"alloy"}`)
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, "audio/mpeg", response.Header.Get("Content-Type"))
	begin := make([]byte, 50_000)
	_, err = io.ReadFull(response.Body, begin) // before the provider has sent the rest
	require.NoError(t, err)
	close(released)
	rest, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Equal(t, sound, string(begin)+string(rest))
	assert.Equal(t, "answered", c.Record(response.Header.Get("X-Request-Id"))["outcome"])
}

// A client took the half of a file for the whole: the body had ended without an error.
func TestSpeechThatBreaksOffIsAnErrorOfTheConnection(t *testing.T) {
	s := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "audio/mpeg")
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	c := start(t, s)
	response, err := c.Send(site.Waiting(t), "/v1/audio/speech", `{"model":"small","input":"hello"}`)
	require.NoError(t, err)
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	assert.Error(t, err)
	assert.Equal(t, "half", string(got))
	assert.Equal(t, "cut", c.Record(response.Header.Get("X-Request-Id"))["outcome"])
}

func TestK085StreamsOfImagesArePassedOnEventByEvent(t *testing.T) {
	released := make(chan struct{})
	picture := base64.StdEncoding.EncodeToString(make([]byte, 1<<20))
	first := "event: image_generation.partial_image\ndata: {\"type\":\"image_generation.partial_image\",\"b64_json\":\"" + picture + "\"}\n\n"
	last := "event: image_generation.completed\ndata: {\"type\":\"image_generation.completed\",\"b64_json\":\"" + picture + "\",\"usage\":{\"input_tokens\":5,\"output_tokens\":700,\"total_tokens\":705}}\n\n"
	s := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, first)
		_ = http.NewResponseController(w).Flush()
		<-released
		_, _ = io.WriteString(w, last)
	})
	c := start(t, s)
	stream := c.Open("/v1/images/generations", `{"model":"small","prompt":"a","stream":true}`)
	assert.True(t, first == stream.Next()+"\n", "the first event")
	close(released)
	rest := stream.Rest()
	assert.True(t, first+last == rest.Body, "the last event")
	record := recordOf(t, c, rest.ID())
	assert.EqualValues(t, 700, record.Calls[0].Output)
	assert.Equal(t, "answered", record.Outcome)
}

// whisper-1 ignores that a stream was asked for.
func TestAJSONAnswerToARequestForAStreamIsPassedOn(t *testing.T) {
	s := newServer(t, answering("application/json", `{"created":1,"data":[]}`))
	answer := start(t, s).Ask("/v1/images/generations", `{"model":"small","prompt":"a","stream":true}`)
	assert.Equal(t, `{"created":1,"data":[]}`, answer.Body)
	assert.Equal(t, "application/json", answer.Header.Get("Content-Type"))
}

// The page of a proxy was an answer of an embedding, and a browser would have shown it as one of
// the gateway's.
func TestAnAnswerOfAnotherKindIsAFailure(t *testing.T) {
	s := newServer(t, answering("text/html", "<html>sign in</html>"))
	c := start(t, s)
	for path, body := range map[string]string{
		embeddings: `{"model":"small","input":"a"}`, "/v1/audio/speech": `{"model":"small","input":"a"}`, "/v1/images/generations": `{"model":"small","prompt":"a"}`,
	} {
		answer := c.Ask(path, body)
		assert.Equal(t, http.StatusBadGateway, answer.Status, path)
		assert.NotContains(t, answer.Body, "sign in")
		assert.Equal(t, "application/json", answer.Header.Get("Content-Type"))
	}
}

// A client could make a model rest for all others, by asking for what it was not made for.
func TestAFailureBesideTextLetsNoModelRest(t *testing.T) {
	s := newServer(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotImplemented) })
	c := start(t, s)
	for range 20 {
		assert.NotEqual(t, http.StatusOK, c.Ask(embeddings, `{"model":"small","input":"a"}`).Status)
	}
	targets := c.Call(http.MethodGet, c.AdminURL("/api/v1/targets"), "")
	assert.Contains(t, targets.Body, "big-1")
	assert.NotContains(t, targets.Body, "resting")
	assert.NotContains(t, targets.Body, "failing")
}

// Some models ignore that a stream was asked for. The error event became part of the sound, whose
// end looked clean.
func TestSoundInPlaceOfAStreamIsNotMixedWithEvents(t *testing.T) {
	silent := make(chan struct{})
	s := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "audio/mpeg")
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		<-silent
		panic(http.ErrAbortHandler)
	})
	c := start(t, s)
	response, err := c.Send(site.Waiting(t), "/v1/audio/speech", `{"model":"small","input":"hello","stream_format":"sse"}`)
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, "audio/mpeg", response.Header.Get("Content-Type"))
	_, err = io.ReadFull(response.Body, make([]byte, 4))
	require.NoError(t, err)
	close(silent)
	rest, err := io.ReadAll(response.Body)
	assert.Error(t, err)
	assert.Empty(t, string(rest))
}

func TestRequestsBesideTextAreChecked(t *testing.T) {
	s := newServer(t, answering("application/json", encoded))
	c := start(t, s)
	for _, tt := range []struct {
		path, body string
		status     int
		message    string
	}{
		{embeddings, `{"input":"a"}`, 400, "model: required"},
		{embeddings, `{"model":"small"}`, 400, "input: required"},
		{embeddings, `{"model":"small","model":"big","input":"a"}`, 400, "model"},
		{embeddings, `[]`, 400, "must be a JSON object"},
		{"/v1/rerank", `{"model":"small","query":"q"}`, 400, "documents: required"},
		{"/v1/decisions", `{"model":"small","input":"a"}`, 400, "questions: required"},
		{"/v1/images/variations", `{}`, 404, "does not serve"},
	} {
		answer := c.Ask(tt.path, tt.body)
		assert.Equal(t, tt.status, answer.Status, tt.body)
		assert.Contains(t, answer.Body, tt.message)
	}
	assert.Empty(t, s.received)
}

// A provider without the endpoint is not asked, and the client does not read that its model is not
// known: embeddings of the same model may work, and texts do.
func TestAModelWithoutTheEndpointIsNotFound(t *testing.T) {
	const anthropic = "provider anthropic {env.CLIENT_KEY} {\nbase_url http://127.0.0.1:9\n}"
	const bedrock = "provider bedrock {env.CLIENT_KEY} {\nregion us-east-1\n}"
	for _, tt := range []struct{ provider, path, body, model string }{
		{anthropic, embeddings, `{"model":"claude-x","input":"a"}`, "claude-x"},
		{site.DemoProvider, "/v1/images/generations", `{"model":"demo","prompt":"a"}`, "demo"},
		{site.DemoProvider, "/v1/moderations", `{"input":"a"}`, "omni-moderation-latest"},
		{site.DemoProvider, "/v1/rerank", `{"model":"demo","query":"a","documents":["b"]}`, "demo"},
		{site.DemoProvider, "/v1/audio/speech", `{"model":"demo","input":"a","voice":"b"}`, "demo"},
		{bedrock, "/v1/moderations", `{"model":"x","input":"a"}`, "x"},
	} {
		t.Run(tt.provider[:len("provider demo")]+tt.path, func(t *testing.T) {
			answer := site.Start(t, tt.provider).Ask(tt.path, tt.body)
			assert.Equal(t, http.StatusNotFound, answer.Status)
			assert.JSONEq(t, `{"error":{"message":"model: '`+tt.model+`' is not available at `+tt.path+`","type":"invalid_request_error","param":"model","code":"model_not_found"}}`, answer.Body)
		})
	}
}

func TestAFailedProviderIsFollowedByAnother(t *testing.T) {
	away := newServer(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	s := newServer(t, answering("application/json", encoded))
	c := start(t, s, "provider away openai_compatible {env.UPSTREAM_KEY} {\nbase_url "+away.URL+"/v1\nmodels off\n}\nmodel both {\nto away/x\nto up/y\n}")
	assert.Equal(t, http.StatusOK, c.Ask(embeddings, `{"model":"both","input":"a"}`).Status)
	assert.Equal(t, `{"model":"y","input":"a"}`, s.last().body)

	s.answer = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":{"message":"no such model","type":"invalid_request_error","param":null,"code":"model_not_found"}}`)
	}
	missing := c.Ask(embeddings, `{"model":"small","input":"a"}`)
	assert.Equal(t, http.StatusNotFound, missing.Status)
	assert.Contains(t, missing.Body, "no such model")
}

// Tokens of embeddings count for limits and costs as those of texts do.
func TestEmbeddingsCountForLimitsAndCosts(t *testing.T) {
	s := newServer(t, answering("application/json", encoded))
	t.Setenv("UPSTREAM_KEY", upstreamKey)
	c := site.StartCaddyfile(t, `http://127.0.0.1:PORT(site) {
		ai_gateway {
			limit few {
				tokens 1000/1d
				budget 1/day
			}
			key client {env.CLIENT_KEY} {
				limit few
			}
			provider up openai_compatible {env.UPSTREAM_KEY} {
				base_url `+s.URL+`/v1
				price big-* input 1000000 output 0
			}
		}
	}`)
	answer := c.Ask(embeddings, `{"model":"big-1","input":"a"}`)
	require.Equal(t, http.StatusTooManyRequests, answer.Status, "one unit of money for each token is more than the budget")
	assert.Contains(t, answer.Body, "budget")
}

// A form without a reported usage was free for a key with a budget, and speech cost its
// characters alone.
func TestUnknownUsageBesideTextIsNotFree(t *testing.T) {
	s := newServer(t, nil)
	t.Setenv("UPSTREAM_KEY", upstreamKey)
	c := site.StartCaddyfile(t, `http://127.0.0.1:PORT(site) {
		ai_gateway {
			store sqlite `+filepath.Join(t.TempDir(), "gateway.db")+`
			limit few {
				budget 100/day
			}
			key client {env.CLIENT_KEY} {
				limit few
			}
			provider up openai_compatible {env.UPSTREAM_KEY} {
				base_url `+s.URL+`/v1
				price big-* input 100 output 100
			}
		}
	}`)
	talk, contentType := form(t, "model=big-1", "response_format=srt", "file@a.wav="+strings.Repeat("x", 256_000))
	for _, tt := range []struct {
		path, body, contentType, answerType, answer string
		input, output                               int64
	}{
		{transcriptions, talk, contentType, "text/plain", strings.Repeat("hello ", 40), 1000, 40},
		{transcriptions, talk, contentType, "application/json", `{"text":"` + strings.Repeat("hello ", 40) + `"}`, 1000, 40},
		{"/v1/audio/speech", `{"model":"big-1","input":"hello"}`, "application/json", "audio/mpeg", strings.Repeat("x", 10_000), 8, 49},
	} {
		s.answer = answering(tt.answerType, tt.answer)
		answer := c.Ask(tt.path, tt.body, "Content-Type", tt.contentType)
		require.Equal(t, http.StatusOK, answer.Status, answer.Body)
		call := recordOf(t, c, answer.ID()).Calls[0]
		assert.Equal(t, "estimated", call.Source, tt.path)
		assert.GreaterOrEqual(t, call.Input, tt.input, tt.path)
		assert.GreaterOrEqual(t, call.Output, tt.output, tt.path)
		assert.Less(t, call.Input+call.Output, 2*(tt.input+tt.output), tt.path)
	}
}
