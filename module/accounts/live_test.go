package accounts

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
)

// An id is easy to guess: it is a point in time. The record of another user must look as if it
// did not exist.
func TestTheRecordOfAnotherUserDoesNotExist(t *testing.T) {
	s, _ := withRecords(t, accounting.Record{ID: 7, User: "boss"}, accounting.Record{ID: 5, User: "alice"})
	s.user("alice", aigateway.RoleUser)
	s.user("boss", aigateway.RoleAdmin)
	for _, c := range []struct {
		who, id string
		status  int
	}{{"alice", "5", 200}, {"alice", "7", 404}, {"alice", "6", 404}, {"boss", "5", 200}, {"boss", "7", 200}, {"boss", "6", 404}, {"boss", "9223372036854775807", 404}} {
		answer := s.ask(testRequest{call: "GET /api/v1/records/" + c.id, token: s.token(c.who)})
		assert.Equal(t, c.status, answer.status, c)
		if c.status == http.StatusOK {
			assert.Contains(t, answer.body, `"id":"`+c.id+`"`)
		}
	}
}

func TestNewRecordsComeAsEvents(t *testing.T) {
	s, _ := withRecords(t)
	alice := s.user("alice", aigateway.RoleUser)
	s.user("boss", aigateway.RoleAdmin)
	now := alice.Created.Add(time.Hour)
	for call, want := range map[string]string{
		"alice /api/v1/records/live":                "2",
		"alice /api/v1/records/live?provider=other": "",
		"boss /api/v1/records/live?status=429":      "1",
		"boss /api/v1/records/live":                 "1 2 3",
	} {
		watched := make(chan []accounting.Record, 1)
		s.people.Store.(*recorded).watched = watched
		watched <- []accounting.Record{
			{ID: 1, User: "bob", Status: 429, Admitted: now}, {ID: 2, User: "alice", Status: 200, Admitted: now},
			{ID: 3, User: "alice", Status: 200, Admitted: alice.Created.Add(-time.Hour)}, // of an earlier account with the name
		}
		close(watched)
		who, path, _ := strings.Cut(call, " ")
		answer := s.ask(testRequest{call: "GET " + path, token: s.token(who)})
		var ids []string
		for _, event := range regexp.MustCompile(`id: (\d+)\ndata: {`).FindAllStringSubmatch(answer.body, -1) {
			ids = append(ids, event[1])
		}
		assert.Equal(t, want, strings.Join(ids, " "), call)
		assert.Contains(t, answer.body, "event: dropped\n", "the client must notice that records are missing")
	}
	s.people.Store.(*recorded).full = true
	assert.Equal(t, http.StatusServiceUnavailable, s.ask(testRequest{call: "GET /api/v1/records/live", token: s.token("boss")}).status)
}

// One user of the smallest role could open all streams of the process, and none was left for
// others.
func TestAUserHasFewStreams(t *testing.T) {
	s, _ := withRecords(t)
	s.user("alice", aigateway.RoleUser)
	s.user("boss", aigateway.RoleAdmin)
	var c *call.Call
	open := func(who string) (any, error) {
		c = call.New(httptest.NewRecorder(), testRequest{call: "GET /api/v1/records/live", token: s.token(who)}.request(t.Context()), s.people.Store, nil)
		c.Access = call.LoggedIn
		require.NoError(t, c.Admit())
		return s.reports().Live(c)
	}
	s.people.Store.(*recorded).full = true
	for range 4 + 1 { // what is refused takes nothing
		_, err := open("alice")
		require.ErrorContains(t, err, "too many clients watch records")
	}
	s.people.Store.(*recorded).full = false
	var last any
	for range 4 {
		var err error
		last, err = open("alice")
		require.NoError(t, err)
	}
	of := c
	refused := s.ask(testRequest{call: "GET /api/v1/records/live", token: s.token("alice")})
	assert.Equal(t, http.StatusTooManyRequests, refused.status)
	assert.Equal(t, problem(429, "too many streams of the user: end one first"), refused.body)
	_, err := open("boss")
	require.NoError(t, err, "others have their own")
	of.Method = http.MethodHead // so that it ends at once
	last.(answer.Written).Write(httptest.NewRecorder())
	_, err = open("alice")
	assert.NoError(t, err)
}
