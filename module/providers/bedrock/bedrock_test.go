package bedrock

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// message returns a message of an event stream with headers, names and values in turn.
func message(t testing.TB, payload string, headers ...string) []byte {
	var m eventstream.Message
	for i := 0; i < len(headers); i += 2 {
		m.Headers.Set(headers[i], eventstream.StringValue(headers[i+1]))
	}
	m.Payload = []byte(payload)
	var b bytes.Buffer
	require.NoError(t, eventstream.NewEncoder().Encode(&b, m))
	return b.Bytes()
}

func chunk(t testing.TB, data string) []byte {
	return message(t, `{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(data))+`","p":"abcdefgh"}`,
		":event-type", "chunk", ":content-type", "application/json", ":message-type", "event")
}

func exceptionMessage(t testing.TB, name, payload string) []byte {
	return message(t, payload, ":exception-type", name, ":content-type", "application/json", ":message-type", "exception")
}

// opened returns an answer with a stream, after open.
func opened(body io.Reader) *http.Response {
	res := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {streamType}, "X-Amzn-Requestid": {"r1"}}, Body: io.NopCloser(body)}
	open(res, translate.Generate)
	return res
}

const (
	start = `{"type":"message_start","message":{"id":"msg_bdrk_1"}}`
	stop  = `{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":8,"outputTokenCount":2}}`

	events = "event: message_start\ndata: " + start + "\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
)

func whole(t testing.TB) []byte {
	return bytes.Join([][]byte{chunk(t, start), chunk(t, `{"p":1}`), chunk(t, stop)}, nil)
}

func TestK054ChunksBecomeEventsHoweverTheyAreSplit(t *testing.T) {
	data := whole(t)
	for i := range data {
		got, err := io.ReadAll(opened(io.MultiReader(bytes.NewReader(data[:i]), bytes.NewReader(data[i:]))).Body)
		require.NoError(t, err)
		require.Equal(t, events, string(got))
	}
	res := opened(iotest.OneByteReader(bytes.NewReader(data)))
	got, err := io.ReadAll(iotest.OneByteReader(res.Body))
	require.NoError(t, err)
	assert.Equal(t, events, string(got))
	assert.Equal(t, "text/event-stream", res.Header.Get("Content-Type"))
	assert.Equal(t, "r1", res.Header.Get("Request-Id"))
}

func TestK055AWrongChecksumIsAnError(t *testing.T) {
	data := whole(t)
	first := len(chunk(t, start))
	for _, at := range []int{first + 9, first + 40, len(data) - 1} { // of the prelude, of the payload, of the message
		broken := bytes.Clone(data)
		broken[at] ^= 1
		got, err := io.ReadAll(opened(bytes.NewReader(broken)).Body)
		assert.ErrorContains(t, err, "event stream", at)
		assert.Contains(t, string(got), "message_start")
		assert.NotContains(t, string(got), "message_stop")
	}
}

// A message could claim a length of 4 GiB.
func TestK056ALengthIsCheckedBeforeMemoryIsAllocated(t *testing.T) {
	head := binary.BigEndian.AppendUint32(nil, 1<<32-1)
	head = binary.BigEndian.AppendUint32(head, 0)
	valid := binary.BigEndian.AppendUint32(bytes.Clone(head), crc32.ChecksumIEEE(head))
	for _, data := range [][]byte{append(head, 1, 2, 3, 4), valid} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := io.ReadAll(opened(bytes.NewReader(append(data, whole(t)...))).Body)
		runtime.ReadMemStats(&after)
		assert.ErrorContains(t, err, "event stream")
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
	}
}

// The decoder returns io.EOF for a message that breaks off in its payload, as for one that
// is whole.
func TestK057AStreamThatBreaksOffInAMessageIsNotWhole(t *testing.T) {
	data := whole(t)
	for i := len(chunk(t, start)) + 1; i < len(data); i++ {
		if i == len(chunk(t, start))+len(chunk(t, `{"p":1}`)) {
			continue // between two messages: the last event is missing
		}
		_, err := io.ReadAll(opened(bytes.NewReader(data[:i])).Body)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, i)
	}
}

func TestK058K059ExceptionsBecomeErrorEvents(t *testing.T) {
	for _, test := range []struct{ name, payload, kind, message string }{
		{"throttlingException", `{"message":"Too many requests"}`, "rate_limit_error", "Too many requests"},
		{"internalServerException", `{"message":"sorry"}`, "api_error", "sorry"},
		{"serviceUnavailableException", `{"Message":"later"}`, "overloaded_error", "later"},
		{"modelTimeoutException", `{}`, "timeout_error", "the model has failed"},
		{"modelStreamErrorException", `{"message":"bad \"schema\"","originalStatusCode":400,"originalMessage":"x"}`, "invalid_request_error", `bad \"schema\"`},
		{"newException", `no JSON`, "api_error", "the model has failed"},
	} {
		data := append(chunk(t, start), exceptionMessage(t, test.name, test.payload)...)
		got, err := io.ReadAll(opened(bytes.NewReader(append(data, chunk(t, stop)...))).Body)
		require.NoError(t, err)
		_, after, _ := strings.Cut(string(got), "\n\n")
		assert.Equal(t, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\""+test.kind+"\",\"message\":\""+test.message+"\"}}\n\n", after)
	}
	got, err := io.ReadAll(opened(bytes.NewReader(message(t, "", ":message-type", "error", ":error-code", "InternalServerError", ":error-message", "m"))).Body)
	require.NoError(t, err)
	assert.Contains(t, string(got), `"message":"m"`)
	_, err = io.ReadAll(opened(bytes.NewReader(message(t, "", ":message-type", "more"))).Body)
	assert.ErrorIs(t, err, errStream)
}

func TestK061ErrorsAreNamedByAHeader(t *testing.T) {
	for _, test := range []struct {
		status     int
		name, body string
		want       int
		kind       string
	}{
		{400, "ThrottlingException:http://x/", `{"message":"m"}`, 429, "rate_limit_error"},
		{400, "", `{"__type":"com.amazon.coral#ValidationException","Message":"m"}`, 400, "invalid_request_error"},
		{403, "com.amazon#ExpiredTokenException", `{"message":"m"}`, 401, "authentication_error"},
		{403, "AccessDeniedException", `{"message":"m"}`, 403, "permission_error"},
		{424, "ModelErrorException", `{"message":"m","originalStatusCode":429}`, 429, "rate_limit_error"},
		{424, "ModelErrorException", `{"message":"m"}`, 500, "api_error"},
		{429, "ModelNotReadyException", `{"message":"m"}`, 529, "overloaded_error"},
		{404, "NewException", `{"message":"m"}`, 404, "not_found_error"},
		{418, "NewException", `{"message":"m"}`, 500, "api_error"},
	} {
		res := &http.Response{StatusCode: test.status, Header: http.Header{"X-Amzn-Errortype": {test.name}}, Body: io.NopCloser(strings.NewReader(test.body))}
		open(res, translate.Generate)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		assert.Equal(t, test.want, res.StatusCode, test.name)
		assert.Equal(t, `{"type":"error","error":{"type":"`+test.kind+`","message":"m"}}`, string(body))
	}
}

func TestK053BetasAreInTheBody(t *testing.T) {
	call := aigateway.Call{
		Format: translate.Messages, Model: "anthropic.claude-x-v1:0", Stream: true,
		Header: http.Header{"Anthropic-Beta": {"context-1m-2025-08-07, unknown-2026-01-01", "web-search-2025-03-05"}},
	}
	require.NoError(t, new(Bedrock).address(&call))
	assert.Equal(t, `"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["context-1m-2025-08-07","web-search-2025-03-05"]`, call.Body.With)
	assert.Equal(t, "/model/anthropic.claude-x-v1%3A0/invoke-with-response-stream", call.Path)
	assert.NotContains(t, call.Header, "Anthropic-Beta")
	assert.Equal(t, "anthropic-beta", call.Lost.String())
}

func TestOnlyRegionsBecomeHosts(t *testing.T) {
	assert.Equal(t, "https://bedrock-runtime.us-gov-west-1.amazonaws.com", (&Bedrock{Region: "us-gov-west-1"}).Defaults().BaseURL)
	assert.Equal(t, "https://bedrock-runtime.cn-north-1.amazonaws.com.cn", (&Bedrock{Region: "cn-north-1"}).Defaults().BaseURL)
	for _, region := range []string{"", "us-east-1.evil.example/", "US-EAST-1", "us"} {
		assert.Error(t, (&Bedrock{Region: region}).Validate(), region)
	}
}

func FuzzStream(f *testing.F) {
	f.Add(whole(f))
	f.Add(append(chunk(f, start), exceptionMessage(f, "throttlingException", `{"message":"m"}`)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, _ := io.ReadAll(opened(bytes.NewReader(data)).Body)
		for event := range strings.SplitSeq(strings.TrimSuffix(string(got), "\n\n"), "\n\n") {
			if event != "" && (strings.Count(event, "\n") != 1 || !strings.HasPrefix(event, "event: ")) {
				t.Fatalf("no event: %q", event)
			}
		}
	})
}

// A request of 1 KB must be signed within 60 µs, and the time must be linear in the body.
func BenchmarkSign(b *testing.B) {
	for _, size := range []int{1 << 10, 10 << 10, 100 << 10, 1 << 20} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			body := bytes.Repeat([]byte("x"), size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				r, _ := http.NewRequest(http.MethodPost, "https://bedrock-runtime.us-east-1.amazonaws.com/model/x/invoke", nil)
				r.Header.Set("Content-Type", "application/json")
				if signWith(r, bytes.NewReader(body), vectorCredentials, "us-east-1", vectorTime) != nil {
					b.Fatal("not signed")
				}
			}
		})
	}
}

// A client's video was refused for a model that sees videos.
func TestOnlyModelsThatSeeVideosGetThem(t *testing.T) {
	for model, sees := range map[string]bool{
		"amazon.nova-pro-v1:0": true, "us.amazon.nova-lite-v1:0": true, "global.amazon.nova-2-lite-v1:0": true, "us.amazon.nova-premier-v1:0": true,
		"us.amazon.nova-micro-v1:0": false, "us.anthropic.claude-sonnet-5-v1:0": false, "us.meta.llama4-scout-17b-instruct-v1:0": false,
	} {
		video := ""
		for _, row := range new(Bedrock).Defaults().ModelTraits {
			if row.Pattern.Match(model) {
				video = row.Traits["video"]
				break
			}
		}
		assert.Equal(t, sees, video == "true", model)
	}
}
