package endpoints_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// account is a provider that notes each request as it arrives, and answers with what a test sets.
type account struct {
	address string

	mu     sync.Mutex
	asked  []asked
	reply  http.HandlerFunc
	unread bool // requests have no body in asked, since reply reads it
}

// asked is a request to an account.
type asked struct {
	line, host string // "GET /v1/models"
	header     http.Header
	body       string
}

func startAccount(t *testing.T) *account {
	a := &account{}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	a.address = strings.TrimPrefix(server.URL, "http://")
	return a
}

func (a *account) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	reply := a.reply
	a.mu.Unlock()
	var body []byte
	if !a.unread && r.ContentLength >= 0 && r.ContentLength < 1<<20 {
		body, _ = io.ReadAll(r.Body)
	}
	a.mu.Lock()
	a.asked = append(a.asked, asked{r.Method + " " + r.RequestURI, r.Host, r.Header.Clone(), string(body)})
	a.mu.Unlock()
	if reply != nil {
		reply(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprint(w, `{"ok":true}`)
}

// answers sets how the account answers.
func (a *account) answers(reply http.HandlerFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reply = reply
}

// lines returns the lines of all requests.
func (a *account) lines() (all []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.asked {
		all = append(all, one.line)
	}
	return all
}

// last returns the last request.
func (a *account) last(t *testing.T) asked {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if !assert.NotEmpty(t, a.asked) {
		return asked{}
	}
	return a.asked[len(a.asked)-1]
}

// passing is a site that passes requests on to an account.
type passing struct {
	*site.Site
	account *account
}

// startPassing starts a site with the lines of a block pass for /pass/up/*, and further lines.
func startPassing(t *testing.T, w site.Way, rules string, lines ...string) passing {
	a := startAccount(t)
	t.Setenv("UP_KEY", "sk-of-the-account")
	t.Setenv("OTHER_KEY", otherKey)
	t.Setenv("THIRD_KEY", thirdKey)
	up := w.ProviderAt("up", a.address, "api_key {env.UP_KEY}", "format chat completions messages responses gemini")
	return passing{site.Start(t, append(lines, up, "pass /pass/up/* up {\n"+rules+"\n}")...), a}
}

// pass sends a request below the prefix with the key of the client.
func (p passing) pass(method, path, body string, headers ...string) site.Reply {
	return p.Call(method, p.URL("site", "/pass/up"+path), body, append([]string{"Authorization", "Bearer " + site.ClientKey}, headers...)...)
}
