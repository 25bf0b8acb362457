package site

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

// The endpoints that providers answer.
const (
	MessagesPath    = "/v1/messages"
	CountPath       = "/v1/messages/count_tokens"
	ChatPath        = "/v1/chat/completions"
	CompletionsPath = "/v1/completions"
	ResponsesPath   = "/v1/responses"
	// GeminiPath has the name of a model in place of {model}.
	GeminiPath = "/v1beta/models/{model}:generateContent"
)

// ClientPaths are the endpoints that generate, one for each format, and CallPaths those of formats
// whose bodies name the model and whose streams have a last event.
var (
	CallPaths   = []string{MessagesPath, ChatPath, CompletionsPath, ResponsesPath}
	ClientPaths = append(CallPaths[:len(CallPaths):len(CallPaths)], GeminiPath)
)

// CountPaths are the endpoints that count the tokens of a request: each is below the
// endpoint that would answer the request.
var CountPaths = []string{CountPath, ResponsesPath + "/input_tokens"}

// Counted returns the endpoint that answers the requests whose tokens path counts; other
// paths are returned as they are.
func Counted(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(path, "/count_tokens"), "/input_tokens")
}

// BodyFor returns a request body for one of ClientPaths.
func BodyFor(path, model, prompt string, stream bool) string {
	body := map[string]any{"model": model}
	switch path {
	case CompletionsPath:
		body["prompt"] = prompt
	case ResponsesPath:
		body["input"] = prompt
	case GeminiPath:
		body["contents"] = []any{map[string]any{"parts": []any{map[string]any{"text": prompt}}}}
	default:
		body["messages"] = []any{map[string]any{"role": "user", "content": prompt}}
	}
	if path == MessagesPath {
		body["max_tokens"] = 1000
	}
	if stream {
		body["stream"] = true
	}
	raw, _ := json.Marshal(body) // these values always encode
	return string(raw)
}

// Addressed returns the target and the body of a request that BodyFor has made: clients of
// GeminiPath state in the target what others state in the members model and stream.
func Addressed(path, body string) (target, sent string) {
	endpoint, query, _ := strings.Cut(path, "?")
	if endpoint != GeminiPath {
		return path, body
	}
	model, stream := "m", strings.Contains(body, `"stream":true`)
	if match := modelMember.FindStringSubmatch(body); match != nil {
		model = match[1]
	}
	if stream {
		endpoint, query = strings.Replace(endpoint, ":generate", ":streamGenerate", 1), strings.Trim("alt=sse&"+query, "&")
	}
	target = strings.Replace(endpoint, "{model}", model, 1)
	if query != "" {
		target += "?" + query
	}
	for _, member := range []*regexp.Regexp{modelMember, streamMember} { // the rest may be what no encoder writes
		body = member.ReplaceAllString(body, "")
	}
	return target, body
}

var (
	modelMember  = regexp.MustCompile(`,?"model":"([^"]*)"`)
	streamMember = regexp.MustCompile(`,?"stream":(true|false)`)
)

// Called returns the endpoint, as the tables of this package name it, of a path that a provider
// was asked for.
func Called(path string) string {
	if strings.HasSuffix(path, "enerateContent") {
		return GeminiPath
	}
	return path
}

// NewClient returns a client of one version of HTTP, without TLS. Its connections end with
// the test.
func NewClient(t testing.TB, http2 bool) *http.Client {
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64, Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP1(!http2)
	transport.Protocols.SetUnencryptedHTTP2(http2)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// Encoded returns the text in a content coding: gzip, zlib, deflate, br or zstd.
func Encoded(t testing.TB, coding, text string) string {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "zlib":
		w = zlib.NewWriter(&b)
	case "deflate":
		w, err = flate.NewWriter(&b, flate.BestSpeed)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		w, err = zstd.NewWriter(&b)
	}
	require.NoError(t, err)
	_, err = io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

// Send posts a body with ClientKey; headers are names and values in turn. The
// test closes the body of the answer.
func (s *Site) Send(ctx context.Context, path, body string, headers ...string) (*http.Response, error) {
	return s.Client.Do(NewRequest(ctx, s.T, s.URL(s.name(), ""), path, body, headers...))
}

// NewRequest returns a request to the gateway with this URL, which posts a body of BodyFor with
// ClientKey; headers are names and values in turn.
func NewRequest(ctx context.Context, t testing.TB, gateway, path, body string, headers ...string) *http.Request {
	target, body := Addressed(path, body)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, gateway+target, strings.NewReader(body))
	require.NoError(t, err)
	SetClientHeaders(request)
	setHeaders(request, headers)
	return request
}

// SetClientHeaders sets what a client of any format sends, ClientKey included.
func SetClientHeaders(request *http.Request) {
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+ClientKey)
	request.Header.Set("Anthropic-Version", "2023-06-01")
}

func setHeaders(request *http.Request, headers []string) {
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
}

// Ask posts a body with ClientKey and reads the whole answer.
func (s *Site) Ask(path, body string, headers ...string) Reply {
	s.T.Helper()
	response, err := s.Send(s.T.Context(), path, body, headers...)
	require.NoError(s.T, err)
	return ReadReply(response)
}

// Later is Ask that does not wait: the function that it returns does.
func (s *Site) Later(path, body string, headers ...string) func() Reply {
	return later(func() Reply { return s.Ask(path, body, headers...) })
}

func later(ask func() Reply) func() Reply {
	answer := make(chan Reply, 1)
	go func() { answer <- ask() }()
	return func() Reply { return <-answer }
}

// Call sends a request with a JSON body, "" for none, to any URL and without a
// key, and reads the whole answer.
func (s *Site) Call(method, url, body string, headers ...string) Reply {
	s.T.Helper()
	request, err := http.NewRequestWithContext(Waiting(s.T), method, url, strings.NewReader(body))
	require.NoError(s.T, err)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	setHeaders(request, headers)
	response, err := s.Client.Do(request)
	require.NoError(s.T, err)
	return ReadReply(response)
}

// List gets a path with a key; lines are further lines of the request's head.
func (s *Site) List(key, target string, lines ...string) Reply {
	s.T.Helper()
	return s.Raw("", append([]string{"GET " + target + " HTTP/1.1", "Authorization: Bearer " + key}, lines...)...)
}
