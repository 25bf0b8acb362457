package bedrock

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream/eventstreamapi"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

const (
	streamType    = "application/vnd.amazon.eventstream"
	maxErrorBytes = 1 << 20 // of an error answer
	overloaded    = 529     // in the format of Anthropic
)

// meaning is the meaning of an exception of the service in the format of Anthropic.
type meaning struct {
	status int
	kind   string
}

// meanings are those of the exceptions, in lower case and without "exception".
var meanings = map[string]meaning{
	"validation":                 {400, "invalid_request_error"},
	"conflict":                   {400, "invalid_request_error"},
	"unrecognizedclient":         {401, "authentication_error"},
	"invalidsignature":           {401, "authentication_error"},
	"incompletesignature":        {401, "authentication_error"},
	"expiredtoken":               {401, "authentication_error"},
	"requestexpired":             {401, "authentication_error"},
	"missingauthenticationtoken": {401, "authentication_error"},
	"accessdenied":               {403, "permission_error"},
	"resourcenotfound":           {404, "not_found_error"},
	"modeltimeout":               {408, "timeout_error"},
	"throttling":                 {429, "rate_limit_error"},
	"servicequotaexceeded":       {429, "rate_limit_error"},
	"modelerror":                 {500, "api_error"},
	"modelstreamerror":           {500, "api_error"},
	"internalserver":             {500, "api_error"},
	"serviceunavailable":         {overloaded, "overloaded_error"},
	"modelnotready":              {overloaded, "overloaded_error"},
}

// byStatus are the meanings of exceptions that are not known, by the status of the answer.
var byStatus = map[int]meaning{
	400: meanings["validation"], 401: meanings["unrecognizedclient"], 403: meanings["accessdenied"], 404: meanings["resourcenotfound"],
	408: meanings["modeltimeout"], 429: meanings["throttling"], 503: meanings["serviceunavailable"],
}

// meaningOf returns the meaning of an exception: com.amazon#ThrottlingException:http://….
func meaningOf(exception string, status int) meaning {
	name, _, _ := strings.Cut(exception, ":")
	name = strings.ToLower(name[strings.LastIndexByte(name, '#')+1:])
	known, ok := meanings[strings.TrimSuffix(name, "exception")]
	if ok {
		return known
	}
	return cmp.Or(byStatus[status], meaning{max(status, 500), "api_error"})
}

// exception is the body of an exception.
type exception struct {
	Message        string `json:"message"` // in any letter case
	Type           string `json:"__type"`
	OriginalStatus int    `json:"originalStatusCode"`
	OriginalText   string `json:"originalMessage"`
}

// readException returns the error of an exception in the format of Anthropic, and its status.
// The model's own status is preferred.
func readException(name string, status int, payload []byte) (body []byte, _ int) {
	var e exception
	_ = json.Unmarshal(payload, &e) // without a message if it is no JSON
	m := meaningOf(cmp.Or(name, e.Type), status)
	if own, ok := byStatus[e.OriginalStatus]; ok {
		m = own
	}
	body = append(body, `{"type":"error","error":{"type":"`+m.kind+`","message":`...)
	body = jsonscan.AppendString(body, cmp.Or(e.Message, e.OriginalText, "the model has failed"))
	return append(body, "}}"...), m.status
}

// readPayload returns the body of an answer with an error: what was read, as far as it is JSON.
func readPayload(res *http.Response) []byte {
	payload, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBytes))
	_ = res.Body.Close()
	return payload
}

// open changes an answer of the service into one of the format: an exception, or a stream.
// Exceptions are those of Anthropic's format in all formats.
func open(res *http.Response, op translate.Operation) {
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case res.StatusCode >= http.StatusBadRequest:
		payload := readPayload(res)
		var body []byte
		body, res.StatusCode = readException(res.Header.Get("X-Amzn-Errortype"), res.StatusCode, payload)
		if op == translate.CountTokens && uncounted.Match(payload) {
			res.StatusCode = http.StatusNotFound // the tokens are estimated then
		}
		replace(res, body)
	case media == streamType:
		res.Header.Set("Content-Type", "text/event-stream")
		res.Body = &stream{reader: bufio.NewReader(res.Body), body: res.Body, decoder: eventstream.NewDecoder()}
	}
	if id := res.Header.Get("X-Amzn-Requestid"); id != "" {
		res.Header.Set("Request-Id", id)
	}
}

// hasError reports whether a body is an error in the format of OpenAI.
func hasError(body []byte) bool { return json.Valid(body) && jsonscan.MemberOf(body, "error") != nil }

// openOpenAI changes an exception of the service, such as that of a refused signature, into an error in the
// format of OpenAI. Other answers have that format.
func openOpenAI(res *http.Response) {
	if id := res.Header.Get("X-Amzn-Requestid"); id != "" && res.Header.Get("X-Request-Id") == "" {
		res.Header.Set("X-Request-Id", id)
	}
	if res.StatusCode < http.StatusBadRequest {
		return
	}
	payload := readPayload(res)
	var e exception
	if json.Unmarshal(payload, &e) == nil && hasError([]byte(e.Message)) { // the error of the model in an exception
		payload = []byte(e.Message)
	}
	if !hasError(payload) {
		var body []byte
		body, res.StatusCode = readException(res.Header.Get("X-Amzn-Errortype"), res.StatusCode, payload)
		if res.StatusCode == overloaded {
			res.StatusCode = http.StatusServiceUnavailable
		}
		payload = append(append([]byte(`{"error":`), jsonscan.MemberOf(body, "error")...), '}')
	}
	replace(res, payload)
}

// uncounted matches the message of a model, or of a part of the conversation, whose tokens the
// service does not count.
var uncounted = regexp.MustCompile(`(?i)counting tokens|token counting`)

// renameCount changes a count of tokens into one of Anthropic.
func renameCount(res *http.Response) {
	var count struct {
		Tokens json.Number `json:"inputTokens"`
	}
	payload, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBytes)) // what was read, as far as it is JSON
	if _ = res.Body.Close(); json.Unmarshal(payload, &count) == nil && count.Tokens != "" {
		payload = []byte(`{"input_tokens":` + count.Tokens.String() + `}`)
	}
	replace(res, payload)
}

// replace replaces the body of an answer.
func replace(res *http.Response, body []byte) {
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
}

// stream reads the messages of an event stream, and gives server-sent events.
type stream struct {
	reader  *bufio.Reader
	body    io.Closer
	decoder *eventstream.Decoder
	memory  []byte // of the payload of a message
	events  bytes.Buffer
	err     error // after events
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	for s.events.Len() == 0 && s.err == nil {
		s.err = s.next()
	}
	if s.events.Len() > 0 {
		return s.events.Read(p)
	}
	return 0, s.err
}

// Close closes the body of the answer.
func (s *stream) Close() error { return s.body.Close() }

var errStream = errors.New("reading event stream: unknown message")

// next reads a message. A stream that ends within one is not whole, which the decoder does
// not always report. The errors of the decoder quote nothing of the message.
func (s *stream) next() error {
	if _, err := s.reader.Peek(1); err != nil {
		return err
	}
	m, err := s.decoder.Decode(s.reader, s.memory)
	switch {
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	case err != nil:
		return fmt.Errorf("reading event stream: %w", err)
	}
	s.memory = m.Payload[:0]
	switch header(&m, eventstreamapi.MessageTypeHeader) {
	case eventstreamapi.EventMessageType:
		return s.event(header(&m, eventstreamapi.EventTypeHeader), m.Payload)
	case eventstreamapi.ExceptionMessageType:
		s.fail(header(&m, eventstreamapi.ExceptionTypeHeader), m.Payload)
		return io.EOF
	case eventstreamapi.ErrorMessageType:
		text, _ := json.Marshal(exception{Message: header(&m, eventstreamapi.ErrorMessageHeader)}) // strings
		s.fail(header(&m, eventstreamapi.ErrorCodeHeader), text)
		return io.EOF
	default:
		return errStream
	}
}

// header returns a header of a message, "" if it has none.
func header(m *eventstream.Message, name string) string {
	if v, ok := m.Headers.Get(name).(eventstream.StringValue); ok {
		return string(v)
	}
	return ""
}

// eventName matches the names of events.
var eventName = regexp.MustCompile(`^[A-Za-z]{1,64}$`)

// metrics is a member of the last event that no client knows.
const metrics = "amazon-bedrock-invocationMetrics"

// event writes an event: one of Anthropic inside a chunk, or one of Converse. A chunk without a
// type, which the service sends while it waits, is left out.
func (s *stream) event(name string, payload []byte) error {
	if name != "chunk" {
		if !eventName.MatchString(name) {
			return errStream
		}
		s.write(name, payload)
		return nil
	}
	var chunk struct {
		Bytes []byte `json:"bytes"`
	}
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(payload, &chunk); err != nil {
		return errStream
	}
	if json.Unmarshal(chunk.Bytes, &kind) != nil || kind.Type == "" || strings.ContainsAny(kind.Type, "\r\n") {
		return nil
	}
	data := chunk.Bytes
	if bytes.Contains(data, []byte(metrics)) {
		cuts, _ := edit.CutMembers(data, []string{metrics})
		data = edit.Apply(nil, data, cuts)
	}
	s.write(kind.Type, data)
	return nil
}

// fail writes the event of an exception.
func (s *stream) fail(name string, payload []byte) {
	body, _ := readException(name, 0, payload)
	s.write("error", body)
}

func (s *stream) write(event string, data []byte) {
	data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\n"), []byte(" ")), []byte("\r"), []byte(" "))
	fmt.Fprintf(&s.events, "event: %s\ndata: %s\n\n", event, data)
}
