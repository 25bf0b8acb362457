package gatewaytest

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

const (
	chatBody     = `{"model":"m1","messages":[{"role":"user","content":"hi"}]}`
	chatStream   = `{"model":"m1","stream":true,"messages":[{"role":"user","content":"hi"}]}`
	chatPath     = "/v1/chat/completions"
	messagesPath = "/v1/messages"
	messagesBody = `{"model":"m1","max_tokens":99,"stream":true,"messages":[{"role":"user","content":"hi"}]}`
)

// ownClient returns a client with its own connections.
func ownClient(t *testing.T) *http.Client {
	t.Helper()
	c := newClient()
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// patience returns a context for waits that end at once unless a test fails.
func patience(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func call(ctx context.Context, t *testing.T, p *Provider, path, body string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	return ownClient(t).Do(r)
}

func get(t *testing.T, p *Provider, path, body string) *http.Response {
	t.Helper()
	response, err := call(t.Context(), t, p, path, body)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func TestTheLedgerHoldsWhatWasSent(t *testing.T) {
	p := NewProvider(t)
	_, err := io.ReadAll(get(t, p, chatPath+"?beta=true", chatBody).Body)
	require.NoError(t, err)
	get(t, p, messagesPath, messagesBody)
	list := p.Requests()
	require.Len(t, list, 2)
	first := list[0]
	assert.Equal(t, 1, first.Number)
	assert.Equal(t, http.MethodPost, first.Method)
	assert.Equal(t, chatPath, first.Path)
	assert.Equal(t, "beta=true", first.Query)
	assert.Equal(t, p.Address(), first.Host)
	assert.Equal(t, "application/json", first.Header.Get("Content-Type"))
	assert.Equal(t, chatBody, string(first.Body))
	sum := sha256.Sum256([]byte(chatBody))
	assert.Equal(t, hex.EncodeToString(sum[:]), first.SHA256)
	require.NoError(t, first.ReadErr)
	assert.Equal(t, []string{chatPath, messagesPath}, p.Paths())
}

func TestStepsComeInOrderAndThenTheEngine(t *testing.T) {
	p := NewProvider(t)
	p.Script(Status(503, "Retry-After", "3"), Status(429))
	response := get(t, p, chatPath, chatBody)
	assert.Equal(t, 503, response.StatusCode)
	assert.Equal(t, "3", response.Header.Get("Retry-After"))
	assert.Equal(t, 429, get(t, p, messagesPath, messagesBody).StatusCode)
	assert.Equal(t, 200, get(t, p, chatPath, chatBody).StatusCode)
	p.Always(Status(500))
	assert.Equal(t, 500, get(t, p, chatPath, chatBody).StatusCode)
	assert.Equal(t, 500, get(t, p, chatPath, chatBody).StatusCode)
	p.Always(nil)
	assert.Equal(t, 200, get(t, p, chatPath, chatBody).StatusCode)
}

func TestAStrictTemplateRefusesWhatItCannotRender(t *testing.T) {
	p := NewProvider(t)
	p.Always(StrictTemplate(Answer()))
	const user, system = `{"role":"user","content":"hi"}`, `{"role":"system","content":"s"}`
	for messages, want := range map[string]int{
		user: 200, system + "," + user: 200, user + "," + system: 500, user + "," + user: 500,
	} {
		assert.Equal(t, want, get(t, p, chatPath, `{"model":"m1","messages":[`+messages+`]}`).StatusCode, messages)
	}
	assert.Equal(t, 200, get(t, p, messagesPath, `{"model":"m1","max_tokens":9,"system":"s","messages":[`+user+`]}`).StatusCode)
	assert.Equal(t, 500, get(t, p, messagesPath, `{"model":"m1","max_tokens":9,"system":"s","messages":[`+system+","+user+`]}`).StatusCode)
}

func TestScriptedErrorsHaveTheShapeOfTheirEndpoint(t *testing.T) {
	p := NewProvider(t)
	p.Always(Status(500))
	body, err := io.ReadAll(get(t, p, messagesPath, messagesBody).Body)
	require.NoError(t, err)
	assert.JSONEq(t, `{"type":"error","error":{"type":"api_error","message":"scripted error"}}`, string(body))
	body, err = io.ReadAll(get(t, p, chatPath, chatBody).Body)
	require.NoError(t, err)
	assert.JSONEq(t, `{"error":{"message":"scripted error","type":"server_error","param":null,"code":null}}`, string(body))
}

func TestResetGivesNoHeaders(t *testing.T) {
	p := NewProvider(t)
	p.Script(Reset())
	response, err := call(t.Context(), t, p, chatPath, chatBody)
	if !assert.Error(t, err) {
		_ = response.Body.Close()
	}
	assert.Equal(t, 1, p.Count())
}

func TestHeadersThenReset(t *testing.T) {
	p := NewProvider(t)
	p.Script(HeadersThenReset(), HeadersThenClose())
	response := get(t, p, chatPath, chatStream)
	assert.Equal(t, EventStream, response.Header.Get("Content-Type"))
	_, err := io.ReadAll(response.Body)
	assert.Error(t, err)
	body, err := io.ReadAll(get(t, p, chatPath, chatStream).Body)
	require.NoError(t, err)
	assert.Empty(t, body)
}

func TestStallBeforeHeadersEndsWithTheGateOrTheCaller(t *testing.T) {
	p := NewProvider(t)
	gate := NewGate(t)
	p.Always(Stall(gate, Answer()))

	ctx, cancel := context.WithCancel(t.Context())
	go func() { // ends with the test: it waits for the call that follows
		_ = gate.WaitArrived(ctx)
		cancel()
	}()
	response, err := call(ctx, t, p, chatPath, chatBody)
	if !assert.ErrorIs(t, err, context.Canceled) {
		_ = response.Body.Close()
	}
	require.NoError(t, p.WaitCancelled(patience(t)))
	assert.Equal(t, 1, p.Cancelled())

	gate.Open()
	assert.Equal(t, http.StatusOK, get(t, p, chatPath, chatBody).StatusCode)
	require.NoError(t, p.WaitSettled(patience(t)))
	assert.Equal(t, 1, p.Cancelled(), "a complete answer is not cancelled")
}

func TestStallAfterEventsHoldsBackTheRest(t *testing.T) {
	for events, first := range map[int]string{0: "", 1: "message_start", 3: "This"} {
		p := NewProvider(t)
		gate := NewGate(t)
		p.Script(StallAfter(events, gate))
		response := get(t, p, messagesPath, messagesBody)
		require.NoError(t, gate.WaitArrived(patience(t)))
		head := readUntil(t, response.Body, first)
		assert.Equal(t, events, strings.Count(head, "\n\n"), "no event passes the closed gate")
		gate.Open()
		rest, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		m, err := client.Messages.Read(append([]byte(head), rest...))
		require.NoError(t, err)
		assert.True(t, m.Complete)
	}
}

// readUntil reads until the text and the end of its event have arrived.
func readUntil(t *testing.T, r io.Reader, text string) string {
	t.Helper()
	var read strings.Builder
	buffer := make([]byte, 1)
	for text != "" && (!strings.Contains(read.String(), text) || !strings.HasSuffix(read.String(), "\n\n")) {
		_, err := io.ReadFull(r, buffer)
		require.NoError(t, err)
		read.Write(buffer)
	}
	return read.String()
}

func TestStallAtAByteAndCutAtAByte(t *testing.T) {
	p := NewProvider(t)
	whole, err := io.ReadAll(get(t, p, messagesPath, messagesBody).Body)
	require.NoError(t, err)
	for _, n := range []int{0, 1, 17, len(whole) / 2, len(whole) - 1} {
		gate := NewGate(t)
		p.Script(StallAt(n, gate), CutAt(n))
		response := get(t, p, messagesPath, messagesBody)
		head := make([]byte, n)
		_, err := io.ReadFull(response.Body, head)
		require.NoError(t, err)
		require.NoError(t, gate.WaitArrived(patience(t)))
		gate.Open()
		rest, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		assert.Equal(t, string(whole), string(head)+string(rest))

		cut, err := io.ReadAll(get(t, p, messagesPath, messagesBody).Body)
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.Equal(t, string(whole[:n]), string(cut))
	}
	p.Script(CutAt(len(whole)))
	_, err = io.ReadAll(get(t, p, messagesPath, messagesBody).Body)
	assert.NoError(t, err, "an answer that is shorter than n is not cut")
}

func TestDripAndGzipChangeNoByte(t *testing.T) {
	p := NewProvider(t)
	whole, err := io.ReadAll(get(t, p, messagesPath, messagesBody).Body)
	require.NoError(t, err)
	p.Script(Drip(7), Gzip())
	dripped, err := io.ReadAll(get(t, p, messagesPath, messagesBody).Body)
	require.NoError(t, err)
	assert.Equal(t, string(whole), string(dripped))
	response := get(t, p, messagesPath, messagesBody)
	assert.Equal(t, "gzip", response.Header.Get("Content-Encoding"))
	zip, err := gzip.NewReader(response.Body)
	require.NoError(t, err)
	plain, err := io.ReadAll(zip)
	require.NoError(t, err)
	assert.Equal(t, string(whole), string(plain))
}

func TestCannedAnswers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answer.sse")
	require.NoError(t, os.WriteFile(path, []byte("data: file\n\n"), 0o600))
	p := NewProvider(t)
	p.Script(
		Body(200, "text/plain", []byte("plain"), "X-Extra", "1"),
		File(EventStream, path),
		Chunks(EventStream, "data: a", "\n\n"),
		WithContentType("text/html"),
		InOrder(SetHeader("Set-Cookie", "a=b"), Answer()),
	)
	for _, want := range []struct{ contentType, body string }{
		{"text/plain", "plain"}, {EventStream, "data: file\n\n"}, {EventStream, "data: a\n\n"}, {"text/html", ""}, {"application/json", ""},
	} {
		response := get(t, p, chatPath, chatBody)
		assert.Equal(t, want.contentType, response.Header.Get("Content-Type"))
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		if want.body != "" {
			assert.Equal(t, want.body, string(body))
		}
	}
}

func TestAnEndlessStreamEndsWithItsCaller(t *testing.T) {
	p := NewProvider(t)
	p.Script(Endless("data: {}\n\n"))
	response := get(t, p, chatPath, chatStream)
	_, err := io.CopyN(io.Discard, response.Body, 1000)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.NoError(t, p.WaitCancelled(patience(t)))
}

func TestHeadersOfTheProviderAreOnEveryAnswer(t *testing.T) {
	p := NewProvider(t)
	p.Header.Set("Set-Cookie", "session=1")
	p.Script(Status(500))
	assert.Equal(t, "session=1", get(t, p, chatPath, chatBody).Header.Get("Set-Cookie"))
	assert.Equal(t, "session=1", get(t, p, chatPath, chatBody).Header.Get("Set-Cookie"))
}

func TestAProviderIsStrictByDefault(t *testing.T) {
	body := strings.Replace(chatBody, "{", `{"unheard_of":1,`, 1)
	assert.Equal(t, 400, get(t, NewProvider(t), chatPath, body).StatusCode)
	assert.Equal(t, 200, get(t, NewProvider(t, demo.WithStrict(false)), chatPath, body).StatusCode)
}

func TestATLSProviderSpeaksHTTP2(t *testing.T) {
	p := NewTLSProvider(t)
	certificate, err := x509.ParseCertificate(p.Certificate())
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(certificate)
	transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	send := func() (*http.Response, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL+chatPath, bytes.NewReader([]byte(chatBody)))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		return transport.RoundTrip(r)
	}
	response, err := send()
	require.NoError(t, err)
	_ = response.Body.Close()
	assert.Equal(t, 2, response.ProtoMajor)
	p.Script(Reset())
	response, err = send()
	if !assert.ErrorContains(t, err, "stream error") {
		_ = response.Body.Close()
	}
}

func TestNobodyAnswersAtARefusedAddress(t *testing.T) {
	response, err := ownClient(t).Get("http://" + RefusedAddress(t))
	if !assert.ErrorContains(t, err, "refused") {
		_ = response.Body.Close()
	}
}

func TestWaitsEndWithTheirContext(t *testing.T) {
	p := NewProvider(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, p.WaitRequests(ctx, 1), context.Canceled)
	assert.ErrorIs(t, p.WaitCancelled(ctx), context.Canceled)
	assert.ErrorIs(t, NewGate(t).WaitArrived(ctx), context.Canceled)
	assert.NoError(t, p.WaitSettled(ctx))
}

func TestAProviderStreamsScriptedEvents(t *testing.T) {
	p := NewProvider(t)
	p.Script(ResponseStream(`response.created ,"response":{"id":"r"}`, `response.failed ,"response":{"id":"r"}`))
	response := get(t, p, "/v1/responses", `{"model":"m","input":"hi","stream":true}`)
	assert.Equal(t, http.StatusOK, response.StatusCode)
	assert.Equal(t, EventStream, response.Header.Get("Content-Type"))
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Equal(t, ResponseEvents(`response.created ,"response":{"id":"r"}`, `response.failed ,"response":{"id":"r"}`), string(body))
}
