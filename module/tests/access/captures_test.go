package access_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// captured is a capture in an answer.
type captured struct {
	Ended    *string
	Exchange map[string]any
	Client   wireSides
	Calls    []struct {
		Provider string
		Model    string `json:"upstream_model"`
		wireSides
	}
}

type wireSides struct{ Request, Answer *wireMessage }

type wireMessage struct {
	Path, Body string
	Status     int
	Size       int
	Cut        bool
	Chunks     [][2]int
}

// said is a step that remembers the bytes of an answer.
func said(dst *bytes.Buffer, step gatewaytest.Step) gatewaytest.Step {
	return func(c *gatewaytest.Call) {
		own := *c
		own.ResponseWriter = teeWriter{c.ResponseWriter, dst}
		step(&own)
	}
}

type teeWriter struct {
	http.ResponseWriter
	dst *bytes.Buffer
}

func (w teeWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w teeWriter) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

func (w teeWriter) Write(p []byte) (int, error) {
	w.dst.Write(p)
	return w.ResponseWriter.Write(p)
}

// startCaptured runs a site with a provider, and returns it with a user, who has a token for
// captures.
func startCaptured(t *testing.T, lines ...string) (*gatewaytest.Provider, loggedIn, string) {
	t.Helper()
	p := gatewaytest.NewProvider(t)
	t.Setenv("UPSTREAM_KEY", "sk-upstream-0123456789abcdef")
	s := site.Start(t, site.Direct.Provider("up", p, append(lines, "api_key {env.UPSTREAM_KEY}")...))
	s.AddUser("alice")
	alice := logInAs(s, "site", "alice")
	return p, alice, dataField(t, alice.ask(http.MethodPost, "/api/v1/captures", ""), "token")
}

// capture returns the capture of an exchange when it has ended, which is after its answer.
func (u loggedIn) capture(id string) (c captured) {
	u.T.Helper()
	require.Eventually(u.T, func() bool {
		got := u.ask(http.MethodGet, "/api/v1/captures/"+id, "")
		require.Equal(u.T, http.StatusOK, got.Status, got.Body)
		require.NoError(u.T, json.Unmarshal([]byte(got.Body), &c))
		return c.Ended != nil
	}, site.Patience, 10*time.Millisecond)
	return c
}

// A capture has the bytes that each side has sent and got, in every lane, and no credential.
func TestACaptureHasTheBytesOfTheWire(t *testing.T) {
	for _, lane := range site.ClientLanes {
		t.Run(lane.String(), func(t *testing.T) {
			p, alice, token := startCaptured(t, lane.Format)
			for _, stream := range []bool{false, true} {
				var upstream bytes.Buffer
				p.Script(said(&upstream, gatewaytest.Answer()))
				target, body := site.Addressed(lane.Path, site.BodyFor(lane.Path, "m", "hello", stream))
				reply := alice.Ask(target, body, "X-Gateway-Capture", token)
				require.Equal(t, http.StatusOK, reply.Status, reply.Body)
				c := alice.capture(reply.ID())
				require.Len(t, c.Calls, 1)
				asked := p.Ledger.Requests()[len(p.Ledger.Requests())-1]
				path, _, _ := strings.Cut(target, "?")
				assert.Equal(t, path, c.Client.Request.Path)
				assert.Equal(t, body, c.Client.Request.Body)
				assert.Equal(t, asked.Path, c.Calls[0].Request.Path)
				assert.Equal(t, string(asked.Body), c.Calls[0].Request.Body)
				assert.Equal(t, upstream.String(), c.Calls[0].Answer.Body)
				assert.Equal(t, reply.Body, c.Client.Answer.Body)
				size := 0
				for _, chunk := range c.Client.Answer.Chunks {
					size += chunk[1]
				}
				assert.Equal(t, len(reply.Body), size)
				assert.Equal(t, "answered", c.Exchange["outcome"])
				text := alice.ask(http.MethodGet, "/api/v1/captures/"+reply.ID(), "").Body
				for _, secret := range []string{site.ClientKey, "sk-upstream", alice.token, token, p.Address()} {
					assert.NotContains(t, text, secret)
				}
			}
		})
	}
}

// A provider that repeats the credential in its error would otherwise give it to every user.
func TestACaptureWithholdsWhatRepeatsACredential(t *testing.T) {
	p, alice, token := startCaptured(t, "format chat")
	p.Always(gatewaytest.Body(http.StatusUnauthorized, "application/json", []byte(`{"error":{"message":"wrong key sk-upstream-0123456789abcdef"}}`)))
	reply := alice.Ask("/v1/chat/completions", site.BodyFor("/v1/chat/completions", "m", "hello", false), "X-Gateway-Capture", token)
	c := alice.capture(reply.ID())
	require.NotEmpty(t, c.Calls)
	assert.Contains(t, c.Calls[0].Answer.Body, "withheld")
	p.Always(gatewaytest.Body(http.StatusTooManyRequests, "application/json", []byte(`{"error":{"message":"organization org-AbCdEf0123456789AbCdEf01 at https://`+p.Address()+`/limits is busy"}}`)))
	reply = alice.Ask("/v1/chat/completions", site.BodyFor("/v1/chat/completions", "m", "hello", false), "X-Gateway-Capture", token)
	c = alice.capture(reply.ID())
	assert.Equal(t, `{"error":{"message":"organization *** at *** is busy"}}`, c.Calls[0].Answer.Body)
	assert.Equal(t, "failed", c.Exchange["outcome"])
	assert.Contains(t, fmt.Sprint(c.Exchange["calls"]), "rate_limit")
}

// Captures belong to a session, and the cookie of a session is no key: otherwise any page could
// spend what a logged-in user may spend.
func TestCapturesAndCookiesGiveNoRights(t *testing.T) {
	_, alice, token := startCaptured(t)
	path := "/v1/chat/completions"
	body := site.BodyFor(path, "m", "hello", false)
	reply := alice.Ask(path, body, "X-Gateway-Capture", token)
	for name, u := range map[string]loggedIn{"another session": logInAs(alice.Site, "site", "alice"), "no session": {alice.Site, "site", token}, "a key": {alice.Site, "site", site.ClientKey}} {
		got := u.ask(http.MethodGet, "/api/v1/captures/"+reply.ID(), "")
		assert.Contains(t, []int{http.StatusNotFound, http.StatusUnauthorized}, got.Status, name)
	}
	for _, credential := range [][]string{
		{"Cookie", "session=" + alice.token}, {"Authorization", "Bearer " + alice.token}, {"Authorization", "Bearer " + token}, {"X-Gateway-Capture", token},
	} {
		got := alice.Call(http.MethodPost, alice.URL("site", path), body, credential...)
		// A session is an unknown key: 503 if a busy machine has not let the gateway read its store.
		assert.Contains(t, []int{http.StatusUnauthorized, http.StatusServiceUnavailable}, got.Status, credential[0])
	}
	plain := alice.Ask(path, body)
	assert.Equal(t, http.StatusNotFound, alice.ask(http.MethodGet, "/api/v1/captures/"+plain.ID(), "").Status)
}
