package accounts

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/compat"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/sqlite"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest/openapi"
)

func TestMain(m *testing.M) { gatewaytest.Main(m) }

// quick is a hasher with smaller parameters, a hundred times faster.
const quick people.Argon2id = "m=64,t=1,p=1"

// site is a module Accounts with its own database.
type site struct {
	*Accounts
	t    testing.TB
	logs *observer.ObservedLogs
	// given are the answers that occurred, such as "POST /api/user/login 200".
	given    map[string]bool
	document *document
}

// newSite returns a site; configure may be nil. Throttling is off unless configure
// enables it.
func newSite(t testing.TB, configure func(*Accounts)) *site {
	t.Helper()
	a := &Accounts{ThrottleOff: true}
	if configure != nil {
		configure(a)
	}
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	t.Cleanup(cancel)
	require.NoError(t, a.Provision(ctx))
	require.NoError(t, a.Validate())
	store := &sqlite.SQLite{Path: filepath.Join(t.TempDir(), "gateway.db")}
	require.NoError(t, store.Provision(ctx))
	store.Open()
	a.UseStore(store)
	a.people.Hasher = quick
	core, logs := observer.New(zapcore.DebugLevel)
	a.people.Logger = zap.New(core)
	t.Cleanup(func() {
		require.NoError(t, a.Cleanup())
		require.NoError(t, store.Cleanup())
	})
	if described == nil {
		described = &document{openapi.ParseDocument(t, openAPIDocument), a.router.Routes}
	}
	return &site{a, t, logs, make(map[string]bool), described}
}

// document is the document of the API, with the routes that it describes.
type document struct {
	*openapi.Document
	routes []call.Route
}

// described is the document, which the first site reads for all.
var described *document

// testRequest is a request: a method and a path, and optional parts.
type testRequest struct {
	call   string // "POST /api/user/login"
	body   string
	token  string
	cookie string
	header http.Header // replaces the usual headers
	peer   string
	vars   map[string]any // variables of Caddy, also as placeholders
}

// testAnswer is an answer.
type testAnswer struct {
	status int
	header http.Header
	body   string
}

// data returns the data of the envelope, or the whole answer without one.
func (x testAnswer) data(t testing.TB) map[string]any {
	t.Helper()
	var answer map[string]any
	require.NoError(t, json.Unmarshal([]byte(x.body), &answer), x.body)
	if data, ok := answer["data"].(map[string]any); ok {
		return data
	}
	return answer
}

func (a testRequest) request(ctx context.Context) *http.Request {
	method, path, _ := strings.Cut(a.call, " ")
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(a.body))
	if a.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if a.token != "" {
		r.Header.Set("Authorization", "Bearer "+a.token)
	}
	if a.cookie != "" {
		r.Header.Set("Cookie", "session="+a.cookie)
	}
	maps.Copy(r.Header, a.header)
	if a.peer != "" {
		r.RemoteAddr = a.peer
	}
	if a.vars != nil {
		values := caddy.NewReplacer()
		for name, value := range a.vars {
			values.Set("http.vars."+name, value)
		}
		ctx := context.WithValue(r.Context(), caddyhttp.VarsCtxKey, a.vars)
		r = r.WithContext(context.WithValue(ctx, caddy.ReplacerCtxKey, values))
	}
	return r
}

// ask returns the answer to a request, and compares it with the document.
func (s *site) ask(a testRequest) testAnswer {
	s.t.Helper()
	return s.askIn(s.t.Context(), a)
}

func (s *site) askIn(ctx context.Context, a testRequest) testAnswer {
	s.t.Helper()
	r := a.request(ctx)
	require.True(s.t, s.Serves(r), a.call)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if to, err := r.URL.Parse(w.Header().Get("Location")); err == nil && w.Header().Get("Location") != "" {
		w.Header().Set("Location", strings.TrimPrefix(to.String(), "http://"+r.URL.Host)) // as browsers read it
	}
	answer := testAnswer{w.Code, w.Header(), w.Body.String()}
	s.check(r, answer)
	return answer
}

// admin sends a request as the administrator of the machine.
func (s *site) admin(call, body string) testAnswer {
	s.t.Helper()
	w := httptest.NewRecorder()
	s.Admin().ServeHTTP(w, testRequest{call: call, body: body}.request(s.t.Context()))
	return testAnswer{w.Code, w.Header(), w.Body.String()}
}

// noPath is the sentence about a path that no route has.
const noPath = "there is no such path: GET /api/openapi.json lists all"

// problem returns the answer to a request below /api/v1/ that is refused.
func problem(status int, detail string) string {
	text, _ := json.Marshal(detail) // strings can be written
	return fmt.Sprintf(`{"title":%q,"status":%d,"detail":%s}`+"\n", http.StatusText(status), status, text)
}

// refusedAs returns the answer to a request for a path that is refused.
func refusedAs(sent string, status int, says string) string {
	if sent = path.Clean(sent); sent == "/api/v1" || strings.HasPrefix(sent, "/api/v1/") {
		return problem(status, says)
	}
	return failure(says)
}

const password = "correct horse"

// The bounds of requests and answers, as the document describes them.
const (
	largestBody    = 16 << 10 // bytes
	usualStates    = 100      // limits of a page
	usualRecords   = 100      // records of a page
	largestRecords = 1000
	tablePage      = 5000 // sums of a table that are read at once
	usualRange     = 30 * 24 * time.Hour
)

// machineCall returns a call of the administrator of the machine.
func (s *site) machineCall() *call.Call {
	c := call.New(httptest.NewRecorder(), testRequest{call: "POST /"}.request(s.t.Context()), s.people.Store, nil)
	c.ActAsMachine()
	return c
}

// user creates a user with the password above.
func (s *site) user(name string, role aigateway.Role) *aigateway.User {
	s.t.Helper()
	user, err := s.people.Create(s.machineCall(), people.NewUser{Name: name, Password: password, Role: role})
	require.NoError(s.t, err)
	return user
}

// token logs in, and returns the token.
func (s *site) token(name string) string {
	s.t.Helper()
	answer := s.ask(testRequest{call: "POST /api/user/login", body: credentials(name, password)})
	require.Equal(s.t, http.StatusOK, answer.status, answer.body)
	return answer.data(s.t)["access_token"].(string)
}

func credentials(name, password string) string {
	body, _ := json.Marshal(map[string]string{"username": name, "password": password}) // strings can be written
	return string(body)
}
