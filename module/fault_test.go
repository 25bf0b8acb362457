package module_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// told is what a client reads of a fault.
type told struct {
	status         int
	kind, code     string // error.type and error.code
	messagesStatus int    // where it differs for messages clients
	messagesKind   string
	message        string
	final          bool // the client must not try again by itself
}

func (want told) assert(t *testing.T, path string, answer reply) {
	t.Helper()
	status, kind, code := want.status, want.kind, want.code
	if path == messagesPath {
		kind, code = want.messagesKind, ""
		if want.messagesStatus != 0 {
			status = want.messagesStatus
		}
	}
	assert.Equal(t, status, answer.status)
	assert.Equal(t, "application/json", answer.header.Get("Content-Type"))
	assert.Equal(t, want.final, answer.header.Get("X-Should-Retry") == "false", "whether another try is of use")
	f := answer.failure(t)
	assert.Equal(t, gatewaytest.Failure{Type: kind, Message: want.message, Code: code}, f)
}

// The faults that several cases share.
var (
	badGateway = told{
		status: 502, kind: "server_error", messagesKind: "api_error",
		code: "upstream_invalid_response", message: "the upstream returned an unusable answer",
	}
	unreachable = told{
		status: 502, kind: "server_error", messagesKind: "api_error",
		code: "upstream_unreachable", message: "the upstream could not be reached",
	}
	timedOut = told{
		status: 504, kind: "server_error", messagesKind: "timeout_error",
		code: "upstream_timeout", message: "the upstream did not answer in time",
	}
	badCredential = told{
		status: 502, kind: "server_error", messagesKind: "api_error",
		code: "upstream_auth", message: "the upstream did not accept the gateway's credential", final: true,
	}
	exhausted = told{
		status: 502, kind: "server_error", messagesKind: "api_error",
		code: "upstream_billing", message: "the gateway's account with the upstream is exhausted",
	}
	truncated = told{
		status: 502, kind: "server_error", messagesKind: "api_error",
		code: "upstream_stream_truncated", message: "the upstream closed the stream before completing the answer",
	}
)

// generic is the message that stands for an error body that is not relayed.
func generic(status int, t told) told {
	t.message = fmt.Sprintf("the upstream answered with status %d and no usable error body", status)
	return t
}

func TestFaultsBeforeContentAreToldByStatus(t *testing.T) {
	html := []byte("<!DOCTYPE html><html><body>nginx on 10.1.2.3</body></html>")
	body := func(status int, body string) gatewaytest.Step {
		return gatewaytest.Body(status, "application/json", []byte(body))
	}
	cases := []struct {
		name string
		step gatewaytest.Step
		want told
	}{
		{"401", body(401, vendorError), badCredential},
		{"402", body(402, vendorError), exhausted},
		{"429 without credit", body(429, `{"error":{"message":"secret plan","type":"insufficient_quota","code":"insufficient_quota"}}`), exhausted},
		{"HTML", gatewaytest.Body(502, "text/html", html), generic(502, told{status: 502, kind: "server_error", messagesKind: "api_error"})},
		{"HTML called JSON", gatewaytest.Body(503, "application/json", html), generic(503, told{
			status: 503, kind: "server_error", messagesKind: "overloaded_error", code: "overloaded",
		})},
		{"empty", gatewaytest.Body(500, "application/json", nil), generic(500, told{status: 500, kind: "server_error", messagesKind: "api_error"})},
		{"redirect", gatewaytest.InOrder(
			gatewaytest.SetHeader("Location", "http://127.0.0.1:1/elsewhere"), body(302, `{"error":{"message":"moved"}}`),
		), generic(302, told{status: 502, kind: "server_error", messagesKind: "api_error"})},
		{"200 with HTML", gatewaytest.Body(200, "text/html", html), badGateway},
		{"200 without a body", gatewaytest.Body(200, "application/json", nil), badGateway},
		{"200 with something else", body(200, `{"hello":"world"}`), badGateway},
		{"200 with half an answer", body(200, `{"id":"x","choices":[{"index":0`), badGateway},
		{"201", body(201, `{}`), generic(201, told{status: 502, kind: "server_error", messagesKind: "api_error"})},
		{"reset before the headers", gatewaytest.Reset(), unreachable},
	}
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p))
		for _, c := range cases {
			for _, path := range callPaths {
				for _, streaming := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s %s stream=%t", c.name, path, streaming), func(t *testing.T) {
						p.Script(c.step)
						answer := s.ask(path, bodyFor(path, "m", "hello", streaming))
						c.want.assert(t, path, answer)
						assert.Equal(t, "failed", s.record(answer.id())["outcome"])
					})
				}
			}
		}
		assert.NotContains(t, s.Logs.String(), `"msg":"panic"`)
	})
}

func TestA200ThatHoldsAnErrorIsAnError(t *testing.T) {
	cases := []struct {
		name, body string
		want       told
	}{
		{"with a status", `{"error":{"message":"slow down","type":"x","code":429}}`, told{
			status: 429, kind: "rate_limit_error", messagesKind: "rate_limit_error", code: "rate_limit_exceeded", message: "slow down",
		}},
		{"without one", `{"error":{"message":"it broke"}}`, told{
			status: 502, kind: "server_error", messagesKind: "api_error", code: "upstream_invalid_response", message: "it broke",
		}},
	}
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p))
		for _, c := range cases {
			for _, path := range callPaths {
				for _, streaming := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s %s stream=%t", c.name, path, streaming), func(t *testing.T) {
						p.Script(gatewaytest.Body(200, "application/json", []byte(c.body)))
						c.want.assert(t, path, s.ask(path, bodyFor(path, "m", "hello", streaming)))
					})
				}
			}
		}
	})
}

func TestAnAnswerOfTheOtherKindIsUnusable(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p))
		for _, path := range callPaths {
			t.Run("an event stream for JSON "+path, func(t *testing.T) {
				p.Script(gatewaytest.Chunks(gatewaytest.EventStream, "data: {\"choices\":[]}\n\n", "data: [DONE]\n\n"))
				badGateway.assert(t, path, s.ask(path, bodyFor(path, "m", "hello", false)))
			})
			t.Run("a page for an event stream "+path, func(t *testing.T) {
				p.Script(gatewaytest.Body(200, "text/html", []byte("<html>")))
				badGateway.assert(t, path, s.ask(path, bodyFor(path, "m", "hello", true)))
			})
		}
	})
}

// A JSON answer to a streaming request was once refused where the provider
// speaks the client's format, though only there nothing has to be translated.
func TestG106AJSONAnswerOfTheSameFormatIsReplayedAsAStream(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p))
		for _, path := range callPaths {
			t.Run(path, func(t *testing.T) {
				answer := s.ask(path, bodyFor(path, "m", "hello [[fault:json]]", true))
				require.Equal(t, http.StatusOK, answer.status, answer.body)
				assert.Equal(t, "text/event-stream; charset=utf-8", answer.header.Get("Content-Type"))
				assert.Empty(t, answer.header.Get("Content-Length"))
				seen := answer.read(t, path)
				assert.True(t, seen.complete, answer.body)
				assert.Contains(t, seen.text, "hello")
				record := s.record(answer.id())
				assert.Equal(t, "answered", record["outcome"])
				assert.Contains(t, record, "usage.output_tokens")
			})
		}
	})
}

func TestG063ErrorsOfTheSameFormatAreRelayedByteForByte(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p))
		for _, status := range []int{400, 403, 404, 405, 409, 413, 418, 422, 429, 500, 503, 529, 599} {
			p.Script(gatewaytest.Body(status, "application/problem+json", []byte(vendorError)))
			answer := s.ask(messagesPath, bodyFor(messagesPath, "m", "hello", status%2 == 0))
			assert.Equal(t, status, answer.status)
			assert.Equal(t, vendorError, answer.body)
			assert.Equal(t, "application/problem+json", answer.header.Get("Content-Type"))
		}
		// Errors that are not JSON have no bytes that a client could read.
		for _, path := range callPaths {
			for status, body := range map[int]string{400: "plain words\n", 503: "oops", 422: "<html>", 413: ""} {
				p.Script(gatewaytest.Body(status, "text/plain", []byte(body)))
				answer := s.ask(path, bodyFor(path, "m", "hello", false))
				assert.Equal(t, status, answer.status, "not that of the table of translations")
				assert.Equal(t, "application/json", answer.header.Get("Content-Type"))
				assert.NotEmpty(t, answer.failure(t).Type)
			}
		}
	})
}

// Connecting that timed out was once taken for a refused connection: the dial
// errors of reverse_proxy have no Unwrap (T26), so that errors.As cannot see
// the timeout inside.
func TestRefusedConnectionsAndTimeouts(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		stalling := gatewaytest.NewProvider(t)
		stalling.Always(gatewaytest.Stall(gatewaytest.NewGate(t), gatewaytest.Answer()))
		silent := gatewaytest.NewProvider(t)
		silent.Always(gatewaytest.StallAfter(0, gatewaytest.NewGate(t)))
		s := startSite(t,
			w.providerAt("refused", gatewaytest.RefusedAddress(t), "models refused"),
			w.providerAt("hanging", deafAddress(t), "models hanging", "connect_timeout 50ms"),
			w.provider("stalling", stalling, "models stalling", "response_header_timeout 50ms"),
			w.provider("silent", silent, "models silent", "first_event_timeout 50ms"),
		)
		for model, want := range map[string]told{
			"refused": unreachable, "hanging": timedOut, "stalling": timedOut, "silent": timedOut,
		} {
			for _, path := range callPaths {
				t.Run(model+" "+path, func(t *testing.T) {
					answer := s.ask(path, bodyFor(path, model, "hello", true))
					want.assert(t, path, answer)
					assert.NotContains(t, answer.body, "127.0.0.1")
				})
			}
		}
		require.NoError(t, stalling.WaitCancelledN(waiting(t), 3), "a call that timed out is cancelled")
		require.NoError(t, silent.WaitCancelledN(waiting(t), 3))
	})
}

// A JSON answer that falls silent, or breaks off, in its middle was not sent to
// the client in part.
func TestHalfAJSONAnswerIsAnError(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		silent, cutting := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("silent", silent, "models silent", "idle_timeout 50ms"), w.provider("cutting", cutting, "models cutting"))
		for _, path := range callPaths {
			silent.Script(gatewaytest.StallAt(20, gatewaytest.NewGate(t)))
			timedOut.assert(t, path, s.ask(path, bodyFor(path, "silent", "hello", false)))
			cutting.Script(gatewaytest.CutAt(20))
			unreachable.assert(t, path, s.ask(path, bodyFor(path, "cutting", "hello", false)))
		}
	})
}

// deafAddress is an address where connecting neither succeeds nor fails: the
// queue of its listener is full.
func deafAddress(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	require.NoError(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	require.NoError(t, syscall.Listen(fd, 0))
	bound, err := syscall.Getsockname(fd)
	require.NoError(t, err)
	address := net.JoinHostPort("127.0.0.1", fmt.Sprint(bound.(*syscall.SockaddrInet4).Port))
	filler, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = filler.Close() })
	return address
}

func TestCompressedAnswersAreRead(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		p := gatewaytest.NewProvider(t)
		s := startSite(t, w.provider("p", p))
		for _, path := range callPaths {
			for _, streaming := range []bool{false, true} {
				p.Script(gatewaytest.Gzip())
				answer := s.ask(path, bodyFor(path, "m", "hello", streaming))
				assert.Equal(t, http.StatusOK, answer.status, answer.body)
				assert.Empty(t, answer.header.Get("Content-Encoding"))
				assert.Contains(t, answer.body, "hello")
				if streaming {
					assert.True(t, answer.read(t, path).complete)
				}
			}
		}
		for _, r := range p.Requests() {
			assert.Equal(t, "identity", r.Header.Get("Accept-Encoding"))
		}
		p.Script(gatewaytest.InOrder(gatewaytest.SetHeader("Content-Encoding", "gzip"),
			gatewaytest.Body(200, "application/json", []byte(strings.Repeat("not gzip", 10)))))
		assert.Equal(t, http.StatusBadGateway, s.ask(chatPath, bodyFor(chatPath, "m", "hello", false)).status)
	})
}
