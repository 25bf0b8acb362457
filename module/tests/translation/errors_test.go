package translation_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// onAccount are the statuses that concern the gateway's own account.
var onAccount = map[int]site.ErrorAnswer{401: site.BadCredential, 402: site.Exhausted}

// TestEveryStatusIsAnsweredAsInTheTable is the table of wire format E.2, and of
// E.3 where the provider speaks the client's format.
func TestEveryStatusIsAnsweredAsInTheTable(t *testing.T) {
	const vendor = `{"error":{"message":"what happened","type":"service_unavailable_error","code":"their_code"}}`
	eitherLane(t, func(t *testing.T, s site.Failover, r site.Lane) {
		for status := 400; status <= 600; status++ {
			want, listed := translatedStatuses[status]
			switch {
			case listed:
			case status < 500 && status != 406 && status != 415:
				want = translatedStatuses[400]
			default:
				want = translatedStatuses[502]
			}
			if !listed && status%7 != 0 && status != 406 && status != 415 && status != 600 {
				continue
			}
			want = explained(want, "what happened", "their_code")
			if account, ok := onAccount[status]; ok {
				want = account
			}
			s.First.Script(gatewaytest.Body(status, "application/json", []byte(vendor)))
			answer := s.Ask(r.Path, site.BodyFor(r.Path, "1", "hello", status%2 == 0))
			if _, ours := onAccount[status]; r.IsBytes() && !ours && status < 600 {
				assert.Equal(t, status, answer.Status)
				assert.Equal(t, vendor, answer.Body)
				continue
			}
			want.Assert(t, r.Path, answer)
			assert.NotContains(t, answer.Body, "service_unavailable_error")
		}
	})
}

// TestErrorBodiesOfAnyShapeAreReadable is wire format E.1. Four bugs were here:
// on the way of the bytes a text was relayed as it was, of which official SDKs make
// a nameless error, and so was markup behind a byte order mark; JSON kept a content
// type that was not its own; and the code in the body for Gemini clients, which is
// that of the status, was 400 with the status 422.
func TestErrorBodiesOfAnyShapeAreReadable(t *testing.T) {
	huge := `{"error":{"message":"` + strings.Repeat("x", 1<<20) + `"}}`
	bomb := strings.Repeat(" ", 8<<20) + `{"error":{"message":"m"}}`
	long := strings.Repeat("y", 3000)
	none := "the upstream answered with status 422 and no usable error body"
	const jsonType = "application/json"
	cases := []struct {
		name, contentType, body string
		message                 string // to clients of another format
		relayed                 bool   // to those of the same
	}{
		{"a vendor's", jsonType, `{"error":{"message":"m","type":"t","param":null,"code":null}}`, "m", true},
		{"messages", jsonType, `{"type":"error","error":{"type":"t","message":"m"},"request_id":"req_v"}`, "m", true},
		{"vLLM", jsonType, `{"object":"error","message":"m","type":"BadRequestError","param":null,"code":null}`, "m", true},
		{"FastAPI", jsonType, `{"detail":[{"type":"missing","loc":["body","messages",0],"msg":"Field required","input":{}}]}`, "body.messages.0: Field required", true},
		{"FastAPI with a text", jsonType, `{"detail":"m"}`, "m", true},
		{"FastAPI with an object", jsonType, `{"detail":{"error":"m"}}`, "m", true},
		{"a message that is an object", jsonType, `{"object":"error","message":{"detail":[{"loc":["body"],"msg":"m"}]}}`, "body: m", true},
		{"an array", jsonType, `[{"error":{"message":"m","status":"INVALID_ARGUMENT"}}]`, "m", true},
		{"an error in an error", jsonType, `{"error":{"error":{"message":"m"}}}`, "m", true},
		{"an error as a text", jsonType, `{"error":{"message":"{\"error\":{\"message\":\"m\"}}"}}`, "m", true},
		{"JSON without a message", jsonType, `{"status":"failed"}`, none, true},
		{"JSON called HTML", "text/html", `{"error":{"message":"m"}}`, "m", true},
		{"JSON with parameters", "application/problem+json; charset=utf-8", `{"error":{"message":"m"}}`, "m", true},
		{"JSON called nothing", "", `{"error":{"message":"m"}}`, "m", true},
		{"JSON called bytes", "application/octet-stream", `{"error":{"message":"m"}}`, "m", true},
		{"JSON called a stream", gatewaytest.EventStream, `{"error":{"message":"m"}}`, "m", true},
		{"JSON in UTF-8 with a mark", jsonType, "\ufeff" + `{"error":{"message":"m"}}`, "m", true},
		{"short text", "text/plain", "m\n", "m", false},
		{"long text", "text/plain", long, none, false},
		{"half an object", jsonType, `{"error":{"message":"m`, `{"error":{"message":"m`, false},
		{"a long message", jsonType, `{"error":{"message":"` + long + `"}}`, long[:2048], true},
		{"control characters", jsonType, `{"error":{"message":"a\u0000\u001b[1mb"}}`, "a[1mb", true},
		{"HTML", "text/html", "<html>m</html>", none, false},
		{"HTML behind a mark", "application/xml", "\ufeff<x xmlns=xhtml>m</x>", none, false},
		{"HTML called JSON", jsonType, "\n<!doctype html>m", none, false},
		{"nothing", jsonType, "", none, false},
		{"white space", jsonType, " \n", none, false},
		{"more than a megabyte", jsonType, huge, none, false},
		{"compressed", "gzip", `{"error":{"message":"m"}}`, "m", true},
		{"a bomb", "gzip", bomb, none, false},
	}
	encoded := map[string][]byte{}
	for _, c := range cases {
		if c.contentType == "gzip" {
			encoded[c.name] = []byte(site.Encoded(t, "gzip", c.body))
		}
	}
	eitherLane(t, func(t *testing.T, s site.Failover, r site.Lane) {
		for i, c := range cases {
			headers, body := []string{}, []byte(c.body)
			if c.contentType == "gzip" {
				c.contentType, headers, body = jsonType, []string{"Content-Encoding", "gzip"}, encoded[c.name]
			}
			s.First.Script(gatewaytest.Body(http.StatusUnprocessableEntity, c.contentType, body, headers...))
			answer := s.Ask(r.Path, site.BodyFor(r.Path, "1", "hello", i%2 == 0))
			assert.Equal(t, "nosniff", answer.Header.Get("X-Content-Type-Options"), c.name)
			status := http.StatusBadRequest
			if r.IsBytes() {
				status = http.StatusUnprocessableEntity
			}
			assert.Equal(t, status, answer.Status, c.name)
			if r.IsBytes() && c.relayed {
				assert.Equal(t, c.body, answer.Body, c.name)
				assert.Equal(t, typeOfJSON(c.contentType), answer.Header.Get("Content-Type"), c.name)
				continue
			}
			assert.Equal(t, jsonType, answer.Header.Get("Content-Type"), c.name)
			site.ErrorAnswer{Status: status, Kind: "invalid_request_error", MessagesKind: "invalid_request_error", Message: c.message}.Assert(t, r.Path, answer)
		}
	})
}

// typeOfJSON is the content type of JSON that a provider calls so.
func typeOfJSON(contentType string) string {
	if strings.Contains(contentType, "json") {
		return contentType
	}
	return "application/json"
}

// Some providers report trouble with the gateway's own account with a status that
// blames the request: its client would believe that its own key is bad, or its
// own money spent.
func TestAccountTroubleIsHiddenWhateverItsStatus(t *testing.T) {
	eitherLane(t, func(t *testing.T, s site.Failover, r site.Lane) {
		for body, want := range map[string]site.ErrorAnswer{
			`{"error":{"message":"secret plan","type":"insufficient_quota","code":null}}`:                                                 site.Exhausted,
			`{"error":{"message":"secret plan","code":"insufficient_quota"}}`:                                                             site.Exhausted,
			`{"error":{"message":"secret plan","code":"billing_hard_limit_reached"}}`:                                                     site.Exhausted,
			`{"type":"error","error":{"type":"billing_error","message":"secret plan"}}`:                                                   site.Exhausted,
			`{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to pay for secret plan"}}`: site.Exhausted,
			`{"detail":{"error":{"message":"secret plan","code":"insufficient_quota"}}}`:                                                  site.Exhausted,
			`{"error":{"message":"{\"error\":{\"message\":\"secret plan\",\"code\":\"insufficient_quota\"}}","code":null}}`:               site.Exhausted,
			`{"type":"error","error":{"type":"authentication_error","message":"secret plan"}}`:                                            site.BadCredential,
			`{"error":{"message":"Incorrect API key provided: secret plan","type":"invalid_request_error","code":"invalid_api_key"}}`:     site.BadCredential,
			`[{"error":{"message":"secret plan","type":"authentication_error"}}]`:                                                         site.BadCredential,
		} {
			for _, status := range []int{400, 403, 429, 500, 200} {
				s.First.Script(gatewaytest.Body(status, "application/json", []byte(body)))
				answer := s.Ask(r.Path, site.BodyFor(r.Path, "1", "hello", status%2 == 0))
				if status == 200 && strings.HasPrefix(body, "[") {
					wanted := http.StatusBadGateway
					if r.Upstream == site.GeminiPath && r.Path == site.GeminiPath { // so are errors of this format
						wanted = http.StatusBadRequest
					}
					assert.Equal(t, wanted, answer.Status, "no answer, and in other formats no error object: %s", body)
				} else {
					want.Assert(t, r.Path, answer)
				}
				assert.NotContains(t, answer.Body, "secret plan", "%d %s", status, body)
			}
		}
	})
}

// inStream are errors in the middle of a stream, by the provider's format, and the
// errors that clients of other formats get (wire format D.11, E.2).
func inStream(upstream string) map[string]site.ErrorAnswer {
	if upstream == site.GeminiPath {
		return ofGoogle()
	}
	limited := explained(translatedStatuses[429], "m", "")
	overloaded := explained(translatedStatuses[529], "m", "")
	late := explained(translatedStatuses[504], "m", "")
	broken := explained(translatedStatuses[502], "m", "")
	unknown := broken
	if upstream == site.MessagesPath || upstream == site.ResponsesPath {
		unknown = explained(translatedStatuses[500], "m", "")
	}
	all := make(map[string]site.ErrorAnswer)
	for kind, want := range map[string]site.ErrorAnswer{
		"rate_limit_error": limited, "overloaded_error": overloaded, "timeout_error": late, "brand_new_error": unknown,
		"authentication_error": site.BadCredential, "billing_error": site.Exhausted, "insufficient_quota": site.Exhausted,
		"invalid_request_error": explained(translatedStatuses[400], "m", ""), "permission_error": explained(translatedStatuses[403], "m", ""),
		"not_found_error": explained(translatedStatuses[404], "m", ""), "request_too_large": explained(translatedStatuses[413], "m", ""),
	} {
		all[streamError(upstream, kind, nil)] = want
	}
	if upstream == site.MessagesPath {
		// Clients of this format know an error by the name of its event.
		all["data: {\"type\":\"error\",\"error\" :{\"type\":\"overloaded_error\",\"message\":\"m\"}}\n\n"] = overloaded
	} else {
		all[streamError(upstream, "x", 429)] = limited
		all[streamError(upstream, "x", "server_is_overloaded")] = overloaded
		all[streamError(upstream, "x", 503)] = overloaded
		all["event: error\n"+streamError(upstream, "rate_limit_error", nil)] = limited
		all["data: {\"error\":\"m\"}\n\n"] = unknown
	}
	switch upstream {
	case site.ChatPath, site.CompletionsPath:
		all["data: {\"object\":\"error\",\"message\":\"m\",\"type\":\"RateLimitError\",\"code\":429}\n\n"] = limited
	case site.ResponsesPath:
		all["event: error\ndata: {\"type\":\"error\",\"sequence_number\":9,\"code\":\"rate_limit_exceeded\",\"message\":\"m\",\"param\":null}\n\n"] = limited
		all["event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":9,\"response\":{\"id\":\"r\",\"status\":\"failed\",\"error\":{\"code\":\"server_is_overloaded\",\"message\":\"m\"}}}\n\n"] = overloaded
	}
	return all
}

// ofGoogle is inStream for providers of the gemini format.
func ofGoogle() map[string]site.ErrorAnswer {
	all := make(map[string]site.ErrorAnswer)
	for word, status := range map[string]int{
		"INVALID_ARGUMENT": 400, "PERMISSION_DENIED": 403, "NOT_FOUND": 404, "RESOURCE_EXHAUSTED": 429, "INTERNAL": 500, "UNAVAILABLE": 503, "DEADLINE_EXCEEDED": 504,
	} {
		all[fmt.Sprintf("data: {\"error\":{\"code\":%d,\"message\":\"m\",\"status\":%q}}\n\n", status, word)] = explained(translatedStatuses[status], "m", "400")
	}
	all["data: {\"error\":{\"code\":401,\"message\":\"m\",\"status\":\"UNAUTHENTICATED\"}}\n\n"] = site.BadCredential
	return all
}

// streamError is an error event of a provider.
func streamError(upstream, kind string, code any) string {
	body := map[string]any{"error": map[string]any{"type": kind, "message": "m", "code": code}}
	name := ""
	if upstream == site.MessagesPath {
		body["type"], name = "error", "event: error\n"
	}
	raw, _ := json.Marshal(body) // these values always encode
	return name + "data: " + string(raw) + "\n\n"
}

// An error before all content is answered with its status.
func TestG097ErrorsThatBeginAStreamAreAnsweredWithTheirStatus(t *testing.T) {
	eachLane(t, func(t *testing.T, s site.Failover, r site.Lane) {
		for event, want := range inStream(r.Upstream) {
			for name, begin := range map[string]string{"at once": "", "behind what is no content": site.Streams[r.Upstream][0]} {
				if name != "at once" && r.Upstream == site.CompletionsPath {
					continue // its first event is content
				}
				s.First.Script(gatewaytest.Chunks(gatewaytest.EventStream, begin, event, "data: [DONE]\n\n"))
				answer := s.Ask(r.Path, site.BodyFor(r.Path, "1", "hello", true))
				want.Assert(t, r.Path, answer)
				if t.Failed() {
					t.Fatal(name, event, answer.Body)
				}
			}
		}
	})
}

// relayedEvent reports whether a client of the same format gets an error event as
// it is: one that it would not take for an error it once got, too, and one on
// the gateway's own account.
func relayedEvent(path, event string, want site.ErrorAnswer) bool {
	if path == site.ResponsesPath { // its clients go by the name
		return strings.HasPrefix(event, "event: response.failed") || strings.HasPrefix(event, "event: error")
	}
	return want != site.BadCredential && want != site.Exhausted && strings.Contains(event, `"error":`)
}

// Behind content it becomes the error event of the client's format, the last of
// the stream.
func TestG098G099ErrorsBehindContentEndTheStream(t *testing.T) {
	eachLane(t, func(t *testing.T, s site.Failover, r site.Lane) {
		errors, open := inStream(r.Upstream), make(map[string]*site.Stream)
		for event := range errors {
			open[event] = openTranslated(s, r, gatewaytest.More(event, "data: [DONE]\n\n", site.Streams[r.Upstream][len(site.Streams[r.Upstream])-1]))
		}
		for event, want := range errors {
			whole := open[event].Rest()
			whole.AssertEnded(t, r.Path)
			if r.IsBytes() && relayedEvent(r.Path, event, want) {
				assert.True(t, strings.HasSuffix(whole.Body, event), "%s\n%s", event, whole.Body)
			} else {
				want.AssertEnds(t, r.Path, whole, event)
				assertUnfinished(t, r, whole)
			}
			assert.NotContains(t, whole.Body, "[DONE]")
			assert.Equal(t, "cut", s.Record(whole.ID())["outcome"])
		}
	})
}
