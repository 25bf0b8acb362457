package accounts

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// held is a body that calls a function before the client sends it.
type held struct {
	io.Reader
	happens func()
}

// Read calls the function before the first bytes.
func (h *held) Read(p []byte) (int, error) {
	if h.happens != nil {
		h.happens()
		h.happens = nil
	}
	return h.Reader.Read(p)
}

// revocations are ways to revoke the rights of root2, who has the ID otherRootID and one
// session.
var revocations = map[string]func(*site){
	"disabled":       func(s *site) { s.change(func(u *aigateway.User) { u.Disabled = true }) },
	"demoted":        func(s *site) { s.change(func(u *aigateway.User) { u.Role = aigateway.RoleAdmin }) },
	"without a role": func(s *site) { s.change(func(u *aigateway.User) { u.Role = aigateway.RoleUser }) },
	"logged out": func(s *site) {
		require.NoError(s.t, s.people.Store.DeleteSessionsOf(s.t.Context(), otherRootID, 0))
	},
	"deleted": func(s *site) {
		require.NoError(s.t, s.people.Store.DeleteUser(s.t.Context(), otherRootID, func(*aigateway.User) error { return nil }))
	},
}

func (s *site) change(change func(*aigateway.User)) {
	_, err := s.people.Store.ChangeUser(s.t.Context(), otherRootID, 0, func(u *aigateway.User) error { change(u); return nil })
	require.NoError(s.t, err)
}

const backDoor = `{"username":"backdoor","password":"correct horse","role":100}`

// The credential was once checked before the body was read. A client that sent its body
// late could use rights that had been revoked in the meantime.
func TestRightsThatEndBeforeTheBodyAreRefused(t *testing.T) {
	for name, revoke := range revocations {
		s := hierarchy(t)
		r := testRequest{call: "POST /api/user/", body: backDoor, token: s.token("root2")}.request(t.Context())
		r.Body = io.NopCloser(&held{strings.NewReader(backDoor), func() { revoke(s) }})
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		assertNoBackDoor(t, s, name, w.Code)
	}
}

// The rights may also end while the password of a new user waits to be hashed.
func TestRightsThatEndDuringTheHashAreRefused(t *testing.T) {
	for name, revoke := range revocations {
		s := hierarchy(t)
		token := s.token("root2")
		s.people.Hasher = changing{quick, func() { revoke(s) }}
		for call, body := range map[string]string{
			"POST /api/user/": backDoor,
			"PUT /api/user/":  `{"id":1,"password":"another horse"}`,
		} {
			assertNoBackDoor(t, s, name, s.ask(testRequest{call: call, body: body, token: token}).status)
			revoke = func(*site) {}
		}
		s.people.Hasher = quick
		s.token("root") // the old password is still valid
	}
}

func assertNoBackDoor(t *testing.T, s *site, name string, status int) {
	assert.Contains(t, []int{http.StatusUnauthorized, http.StatusForbidden}, status, name)
	_, err := s.people.Store.UserByName(t.Context(), "backdoor")
	assert.ErrorIs(t, err, aigateway.ErrNotFound, name)
}

// deadlined is a connection that records its read deadline.
type deadlined struct {
	*httptest.ResponseRecorder
	set []time.Time
}

// SetReadDeadline is called by http.ResponseController.
func (d *deadlined) SetReadDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

// Clients could once send a body without a time limit.
func TestBodyHasADeadline(t *testing.T) {
	for name, c := range map[string]struct {
		body     io.Reader
		restored bool
	}{
		"whole":     {strings.NewReader(`{}`), true},
		"too large": {strings.NewReader(strings.Repeat("x", largestBody+1)), false}, // the server reads the rest
		"too late":  {failing{}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &deadlined{ResponseRecorder: httptest.NewRecorder()}
			r := httptest.NewRequest(http.MethodPost, "/api/user/login", c.body)
			r.Header.Set("Content-Type", "application/json")
			reading := call.Route{Access: call.Anyone, Handler: call.Body(func(*call.Call, struct{}) (any, error) { return nil, nil })}
			_, err := reading.Answer(call.New(w, r, nil, nil), nil)
			want := []time.Time{time.Now().Add(10 * time.Second)}
			if c.restored {
				want = append(want, time.Time{})
			}
			assert.Equal(t, want, w.set, name)
			if name == "too late" {
				assert.EqualError(t, err, "the request body took longer than 10 seconds")
			}
		})
	}
}

// failing is a body whose read deadline has passed.
type failing struct{}

// Read fails.
func (failing) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

// Clients send the unchanged status of a user. It once ended all sessions of the user,
// also those of administrators who changed their own name.
func TestUnchangedStatusEndsNoSession(t *testing.T) {
	s := hierarchy(t)
	root, user := s.token("root"), s.token("user")
	for _, body := range []string{`{"id":1,"display_name":"R.","status":1}`, `{"id":5,"display_name":"U.","status":1}`} {
		require.Equal(t, http.StatusOK, s.ask(testRequest{call: "PUT /api/user/", body: body, token: root}).status)
	}
	for _, token := range []string{root, user} {
		assert.Equal(t, http.StatusOK, s.ask(testRequest{call: selfCall, token: token}).status)
	}
}
