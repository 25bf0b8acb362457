package faults_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// fault is one way in which a provider misbehaves.
type fault struct {
	name     string
	provider string // the kind of provider that has the fault; "" for one that answers
	only     kind   // the requests that can meet it; 0 for all
	step     func(*call)
	want     want
	calls    int  // that reach the provider
	repeated bool // a call on a connection that was used before reaches the provider twice
}

// kind is a set of requests.
type kind int

const (
	jsonOnly kind = 1 << iota
	streamOnly
	http1Only      // HTTP/2 has no such fault
	http2Only      // HTTP/1.1 has no such fault
	translatedOnly // between equal formats, the client gets the provider's bytes
	endOnly        // a format without a last event has no such fault
	laxOnly        // clients of gemini do not read such lines, which no provider of the format sends
)

// want is what a client gets.
type want struct {
	failure *site.ErrorAnswer // nil for a whole answer
	or      *site.ErrorAnswer // another failure, where two events race; nil for none
	cut     bool              // the failure ends a stream that has content
	relayed bool              // between equal formats, the status is that of the provider
}

var whole = want{}

func fails(e site.ErrorAnswer) want { return want{failure: &e} }

func cut(e site.ErrorAnswer) *want { return &want{failure: &e, cut: true} }

// unreadable is the failure of an answer with a status and without an error body.
func unreadable(status int) want {
	e := site.ErrorAnswer{Status: 502, Kind: "server_error", MessagesKind: "api_error"}
	if status >= 400 {
		e.Status = status
	}
	if status == http.StatusServiceUnavailable {
		e.MessagesKind, e.Code, e.MessagesStatus = "overloaded_error", "overloaded", 529
	}
	e = site.Unreadable(status, e)
	return want{failure: &e, relayed: true}
}

// The failures that several faults have.
var (
	unreachable = site.Unreachable
	truncated   = site.Truncated
	timedOut    = site.TimedOut
	unusable    = site.BadGateway
)

// overloaded is the error of errorBody.
var overloaded = site.ErrorAnswer{
	Status: 503, Kind: "server_error", MessagesKind: "overloaded_error", Code: "overloaded",
	Message: "try again", MessagesStatus: 529,
}

// faults are all faults, by when they happen.
var faults = concat(connecting, heads, bodies, streams, oddities)

// connecting are the faults before a request has left the gateway.
var connecting = []fault{
	{name: "nobody listens", provider: "refused", want: fails(site.Unreachable)},
	{name: "no address", provider: "unnamed", want: fails(site.Unreachable)},
	{name: "no TLS", provider: "plain", want: fails(site.Unreachable)},
	{name: "a certificate of nobody", provider: "untrusted", want: fails(site.Unreachable)},
}

// heads are the faults before the body of an answer.
var heads = []fault{
	{name: "reset before the headers", step: bare(gatewaytest.Reset()), want: fails(site.Unreachable), calls: 1, repeated: true},
	{name: "closed before the headers", step: abort, want: fails(site.Unreachable), calls: 1, repeated: true},
	{name: "no headers", provider: "hasty", step: stall, want: fails(site.TimedOut), calls: 1},
	{name: "endless headers", only: http1Only, step: endlessHeaders, want: fails(site.Unreachable), calls: 1},
	{name: "no HTTP", only: http1Only, step: raw("SSH-2.0-OpenSSH_9.2\r\n"), want: fails(site.Unreachable), calls: 1},
	{name: "a status that is none", only: http1Only, step: raw("HTTP/1.1 999999 OK\r\n\r\n"), want: fails(site.Unreachable), calls: 1},
	{name: "two lengths", only: http1Only, step: raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\nhello"), want: fails(site.Unreachable), calls: 1},
	{name: "a stream that is refused at first", provider: "refusing", only: http2Only | jsonOnly, want: whole, calls: 1},
	{name: "a connection that ends before the stream", provider: "leaving", only: http2Only | jsonOnly, want: whole, calls: 1},
	{name: "interim answers", step: interim, want: whole, calls: 1},
	{name: "no content", step: bare(status(http.StatusNoContent)), want: unreadable(204), calls: 1},
	{name: "not modified", step: bare(status(http.StatusNotModified)), want: unreadable(304), calls: 1},
	{name: "redirect", step: redirect(http.StatusFound), want: unreadable(302), calls: 1},
	{name: "redirect that keeps the method", step: redirect(http.StatusTemporaryRedirect), want: unreadable(307), calls: 1},
	{name: "a page with status 500", step: page(http.StatusInternalServerError), want: unreadable(500), calls: 1},
	{name: "a page with status 503", step: page(http.StatusServiceUnavailable), want: unreadable(503), calls: 1},
	{name: "an empty 502", step: bare(status(http.StatusBadGateway)), want: unreadable(502), calls: 1},
	{name: "wrong credential", step: errorBody(http.StatusUnauthorized), want: fails(site.BadCredential), calls: 1},
	{name: "no credit", step: errorBody(http.StatusPaymentRequired), want: fails(site.Exhausted), calls: 1},
}

// bodies are the faults of JSON answers, and of answers that are neither.
var bodies = []fault{
	{name: "a page", step: page(http.StatusOK), want: fails(unusable), calls: 1},
	{name: "an empty answer", step: answerJSON(""), want: fails(unusable), calls: 1},
	{name: "other JSON", step: answerJSON(`{"hello":"world"}`), want: fails(unusable), calls: 1},
	{name: "an array", step: answerJSON(`[]`), want: fails(unusable), calls: 1},
	{name: "malformed JSON", step: answerJSON(`{"id":"x","choices":[{"index":0,}`), want: fails(unusable), calls: 1},
	{name: "JSON that is not UTF-8", step: answerJSON("{\"id\":\"\xff\",\"choices\":[]}"), want: fails(unusable), calls: 1},
	{name: "deep JSON", step: answerJSON(strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000)), want: fails(unusable), calls: 1},
	{name: "JSON cut off", only: jsonOnly, step: bare(gatewaytest.CutAt(20)), want: fails(site.Unreachable), calls: 1},
	{name: "JSON that stalls", provider: "idle", only: jsonOnly, step: stallAt(20), want: fails(site.TimedOut), calls: 1},
	{name: "JSON in small pieces", only: jsonOnly, step: bare(gatewaytest.Drip(7)), want: whole, calls: 1},
	{name: "JSON under another type", only: jsonOnly, step: bare(gatewaytest.WithContentType("text/plain")), want: whole, calls: 1},
	{name: "a stream for JSON", only: jsonOnly, step: events(inOrder), want: fails(unusable), calls: 1},
	{name: "compressed", step: bare(gatewaytest.Gzip()), want: whole, calls: 1},
	{name: "compressed and cut off", only: jsonOnly, step: halfGzip, want: fails(unusable), calls: 1},
	{name: "compressed by nobody", step: noGzip, want: fails(unusable), calls: 1},
	{name: "in an unknown coding", step: bare(gatewaytest.Body(200, "application/json", []byte("{}"), "Content-Encoding", "x-secret")), want: fails(unusable), calls: 1},
}

// streams are the faults of streams.
var streams = []fault{
	{name: "headers of a stream, then a reset", only: streamOnly, step: bare(gatewaytest.HeadersThenReset()), want: want{failure: &truncated, or: &unreachable}, calls: 1},
	{name: "headers of a stream, then its end", only: streamOnly, step: bare(gatewaytest.HeadersThenClose()), want: fails(site.Truncated), calls: 1},
	{name: "headers of a stream, then silence", provider: "hasty", only: streamOnly, step: silentStream, want: fails(site.TimedOut), calls: 1},
	{name: "comments for ever", provider: "hasty", only: streamOnly, step: bare(gatewaytest.Endless(": still here\n\n")), want: want{failure: &timedOut, or: &unusable}, calls: 1},
	{name: "an error as the first event", only: streamOnly, step: firstEventFails, want: fails(overloaded), calls: 1},
	{name: "a malformed first event", only: streamOnly, step: firstEvent("data: {\"id\":\n\n"), want: fails(unusable), calls: 1},
	{name: "a giant first event", provider: "narrow", only: streamOnly, step: firstEvent("data: {\"id\":\"" + strings.Repeat("x", 8<<10) + "\"}\n\n"), want: fails(unusable), calls: 1},
	{name: "a reset behind content", only: streamOnly, step: afterContent(gatewaytest.Reset()), want: *cut(truncated), calls: 1},
	{name: "an end behind content", only: streamOnly, step: afterContent(gatewaytest.More()), want: *cut(truncated), calls: 1},
	{name: "a cut behind content", only: streamOnly, step: afterContent(abortStep), want: *cut(truncated), calls: 1},
	{name: "silence behind content", provider: "idle", only: streamOnly, step: stallAfterContent, want: *cut(timedOut), calls: 1},
	{name: "comments for ever behind content", provider: "idle", only: streamOnly | laxOnly, step: afterContent(commentsForEver), want: *cut(timedOut), calls: 1},
	{name: "malformed JSON behind content", only: streamOnly | translatedOnly, step: afterContent(gatewaytest.More("data: {\"id\":\n\n")), want: *cut(unusable), calls: 1},
	{name: "a giant event behind content", provider: "narrow", only: streamOnly, step: afterContent(gatewaytest.More("data: {\"id\":\"" + strings.Repeat("x", 8<<10) + "\"}\n\n")), want: *cut(unusable), calls: 1},
	{name: "an endless line behind content", provider: "narrow", only: streamOnly, step: afterContent(endlessLine), want: *cut(unusable), calls: 1},
	{name: "an error behind content", only: streamOnly, step: errorAfterContent, want: *cut(overloaded), calls: 1},
}

// oddities are what providers may do, and clients do not notice.
var oddities = []fault{
	{name: "no usage", only: translatedOnly, step: withUsage(`"usage":\{([^{}]|\{[^{}]*\})*\}`, `"x":0`), want: whole, calls: 1},
	{name: "negative usage", only: translatedOnly, step: withUsage(`_tokens":\d+`, `_tokens":-5`), want: whole, calls: 1},
	{name: "absurd usage", only: translatedOnly, step: withUsage(`_tokens":\d+`, `_tokens":99999999999999999999`), want: whole, calls: 1},
	{name: "usage that is no number", only: translatedOnly, step: withUsage(`_tokens":\d+`, `_tokens":"many"`), want: whole, calls: 1},
	{name: "decreasing usage", only: streamOnly, step: events(decreasing), want: whole, calls: 1},
	{name: "a JSON answer for a stream", only: streamOnly, step: asJSON, want: whole, calls: 1},
	// Streams with another content type were unusable, although the SDKs read them.
	{name: "a stream under another type", only: streamOnly, step: bare(gatewaytest.WithContentType("text/plain; charset=utf-8")), want: whole, calls: 1},
	{name: "a stream under another type, one byte at a time", only: streamOnly, step: dripUnderAnotherType, want: whole, calls: 1},
	{name: "lines that end with CR LF", only: streamOnly, step: events(rewritten("\n", "\r\n")), want: whole, calls: 1},
	{name: "lines that end with CR", only: streamOnly, step: events(rewritten("\n", "\r")), want: whole, calls: 1},
	{name: "a byte order mark", only: streamOnly, step: events(func(all []string) []string { return append([]string{"\ufeff"}, all...) }), want: whole, calls: 1},
	{name: "comments between events", only: streamOnly | laxOnly, step: events(rewritten("\n\n", "\n\n: here\n\n")), want: whole, calls: 1},
	{name: "fields without a space", only: streamOnly | laxOnly, step: events(rewritten("data: ", "data:")), want: whole, calls: 1},
	{name: "fields that nobody knows", only: streamOnly | laxOnly, step: events(rewritten("data: ", "retry: 5\nid: 7\nx\ndata: ")), want: whole, calls: 1},
	{name: "one byte at a time", only: streamOnly, step: bare(gatewaytest.Drip(1)), want: whole, calls: 1},
	{name: "events behind the last one", only: streamOnly | endOnly, step: events(func(all []string) []string { return append(all, all[len(all)/2]) }), want: whole, calls: 1},
	{name: "two ends", only: streamOnly, step: events(func(all []string) []string { return append(all, all[len(all)-1]) }), want: whole, calls: 1},
	{name: "a reset behind the last event", only: streamOnly | endOnly, step: resetAtTheEnd, want: whole, calls: 1},
	{name: "an end that never comes", only: streamOnly | endOnly, step: openEnd, want: whole, calls: 1},
}

func concat(parts ...[]fault) (all []fault) {
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

// abortStep breaks the connection off.
func abortStep(*gatewaytest.Call) { panic(http.ErrAbortHandler) }

func abort(c *call) { abortStep(c.Call) }

// bare is a fault that is the same for all requests.
func bare(step gatewaytest.Step) func(*call) { return func(c *call) { step(c.Call) } }

func raw(text string) func(*call) { return bare(gatewaytest.Raw(text)) }

// endlessHeaders sends headers until the caller leaves.
func endlessHeaders(c *call) {
	conn, _, err := http.NewResponseController(c.ResponseWriter).Hijack()
	if err != nil {
		abort(c)
	}
	defer func() { _ = conn.Close() }()
	line := "X-Filler: " + strings.Repeat("x", 64<<10) + "\r\n"
	for _, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\n"); err == nil; {
		_, err = io.WriteString(conn, line)
	}
}

func status(code int) gatewaytest.Step {
	return func(c *gatewaytest.Call) { c.WriteHeader(code) }
}

func page(code int) func(*call) {
	return bare(gatewaytest.Body(code, "text/html", []byte("<!DOCTYPE html><html><body>nginx on 10.1.2.3</body></html>")))
}

func redirect(code int) func(*call) {
	return bare(gatewaytest.Body(code, "text/html", nil, "Location", "http://127.0.0.1:1/elsewhere"))
}

func errorBody(code int) func(*call) {
	return bare(gatewaytest.Body(code, "application/json", []byte(`{"error":{"message":"the account 4711 has a problem","type":"x"}}`)))
}

func answerJSON(body string) func(*call) {
	return bare(gatewaytest.Body(http.StatusOK, "application/json", []byte(body)))
}

func interim(c *call) {
	c.Header().Set("Link", "</style.css>; rel=preload")
	c.WriteHeader(http.StatusEarlyHints)
	c.WriteHeader(http.StatusProcessing)
	gatewaytest.Answer()(c.Call)
}

// asJSON answers a request for a stream by JSON.
func asJSON(c *call) {
	c.Request.Body = http.NoBody
	gatewaytest.Body(http.StatusOK, "application/json", []byte(answers[site.Called(c.Request.URL.Path)]))(c.Call)
}

// stall answers nothing until the caller leaves.
func stall(c *call) { <-c.Request.Context().Done() }

func stallAt(n int) func(*call) {
	return func(c *call) { gatewaytest.StallAt(n, c.never)(c.Call) }
}

func silentStream(c *call) { gatewaytest.StallAfter(0, c.never)(c.Call) }

func halfGzip(c *call) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write([]byte(answers[site.Called(c.Request.URL.Path)])) // a Buffer takes all
	_ = w.Close()
	gatewaytest.Body(http.StatusOK, "application/json", zipped.Bytes()[:zipped.Len()-8], "Content-Encoding", "gzip")(c.Call)
}

func noGzip(c *call) {
	gatewaytest.Body(http.StatusOK, "application/json", []byte(answers[site.Called(c.Request.URL.Path)]), "Content-Encoding", "gzip")(c.Call)
}

// events answers the stream of the endpoint, changed.
func events(change func([]string) []string) func(*call) {
	return func(c *call) {
		all := append([]string(nil), site.Streams[site.Called(c.Request.URL.Path)]...)
		gatewaytest.Chunks(gatewaytest.EventStream, change(all)...)(c.Call)
	}
}

// dripUnderAnotherType streams one byte at a time, so that the first one does not show what
// the answer is.
func dripUnderAnotherType(c *call) {
	text := strings.Join(site.Streams[site.Called(c.Request.URL.Path)], "")
	gatewaytest.Chunks("text/plain", strings.Split(text, "")...)(c.Call)
}

// withUsage answers, in the kind that the request wants, with usage that is rewritten.
func withUsage(pattern, usage string) func(*call) {
	numbers := regexp.MustCompile(pattern)
	return func(c *call) {
		path := site.Called(c.Request.URL.Path)
		if !c.streaming {
			answerJSON(numbers.ReplaceAllString(answers[path], usage))(c)
			return
		}
		events(func(all []string) []string {
			return strings.SplitAfter(numbers.ReplaceAllString(strings.Join(all, ""), usage), "\n\n")
		})(c)
	}
}

// decreasing states more output tokens in a stream than at its end.
func decreasing(all []string) []string {
	const chunk = `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"x","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":%d,"total_tokens":%d}}` + "\n\n"
	switch last := len(all) - 1; {
	case strings.Contains(all[0], "message_start"):
		all[0] = strings.Replace(all[0], `"output_tokens":1`, `"output_tokens":90`, 1)
	case strings.Contains(all[0], "response.created"):
		usage := `"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":0},"output_tokens":90,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":99}`
		all[1] = strings.Replace(all[1], `"usage":null`, usage, 1)
	case strings.Contains(all[0], "candidates"):
		all[0] = strings.Replace(all[0], `"candidates":[]`, `"candidates":[],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":90,"totalTokenCount":99}`, 1)
	default:
		all = slices.Insert(all, last, fmt.Sprintf(chunk, 90, 99), fmt.Sprintf(chunk, 4, 13))
	}
	return all
}

func inOrder(all []string) []string { return all }

func rewritten(old, change string) func([]string) []string {
	return func(all []string) []string {
		for i := range all {
			all[i] = strings.ReplaceAll(all[i], old, change)
		}
		return all
	}
}

func firstEvent(event string) func(*call) {
	return bare(gatewaytest.Chunks(gatewaytest.EventStream, event))
}

// errorEvents are error events of providers, by path.
var errorEvents = map[string]string{
	site.MessagesPath:    "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"try again\"}}\n\n",
	site.ChatPath:        "data: {\"error\":{\"message\":\"try again\",\"type\":\"server_error\",\"code\":503}}\n\n",
	site.CompletionsPath: "data: {\"error\":{\"message\":\"try again\",\"type\":\"server_error\",\"code\":503}}\n\n",
	site.ResponsesPath:   "event: error\ndata: {\"type\":\"error\",\"sequence_number\":5,\"code\":\"server_is_overloaded\",\"message\":\"try again\",\"param\":null}\n\n",
	site.GeminiPath:      "data: {\"error\":{\"code\":503,\"message\":\"try again\",\"status\":\"UNAVAILABLE\"}}\n\n",
}

func firstEventFails(c *call) {
	gatewaytest.Chunks(gatewaytest.EventStream, errorEvents[site.Called(c.Request.URL.Path)])(c.Call)
}

func errorAfterContent(c *call) {
	afterContent(gatewaytest.More(errorEvents[site.Called(c.Request.URL.Path)]))(c)
}

// begin is the part of a stream up to its first text, inclusive.
func begin(path string) string {
	all := strings.Join(site.Streams[path], "")
	end := strings.Index(all, "Hi")
	return all[:end+strings.Index(all[end:], "\n\n")+2]
}

// afterContent answers the begin of a stream and, once the client has read it, goes on
// with the step.
func afterContent(then gatewaytest.Step) func(*call) {
	return func(c *call) {
		gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, begin(site.Called(c.Request.URL.Path))), gatewaytest.Stall(c.hasRead, then))(c.Call)
	}
}

func stallAfterContent(c *call) { afterContent(gatewaytest.Stall(c.never, gatewaytest.More()))(c) }

func commentsForEver(c *gatewaytest.Call) {
	for c.Request.Context().Err() == nil {
		gatewaytest.More(": still here\n\n")(c)
	}
	abortStep(c)
}

func endlessLine(c *gatewaytest.Call) {
	gatewaytest.More("data: ")(c)
	for c.Request.Context().Err() == nil {
		gatewaytest.More(strings.Repeat("x", 4<<10))(c)
	}
	abortStep(c)
}

// resetAtTheEnd resets the connection once the client has the whole stream.
func resetAtTheEnd(c *call) {
	gatewaytest.InOrder(
		gatewaytest.Chunks(gatewaytest.EventStream, site.Streams[site.Called(c.Request.URL.Path)]...), gatewaytest.Stall(c.hasRead, gatewaytest.Reset()),
	)(c.Call)
}

// openEnd leaves the connection open behind the last event.
func openEnd(c *call) {
	gatewaytest.InOrder(
		gatewaytest.Chunks(gatewaytest.EventStream, site.Streams[site.Called(c.Request.URL.Path)]...), gatewaytest.Stall(c.never, gatewaytest.More()),
	)(c.Call)
}
