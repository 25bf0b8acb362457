package accounts

import (
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// imported is a bcrypt hash of the password.
const imported = "$2a$04$tHdxH1FR2HeXiCKRRieg5uWJoQpDofYVTj.RH/UG6OAYxurF2BIBy"

// importedSite returns a site whose user alice has an imported password.
func importedSite(t *testing.T, hash string) *site {
	s := newSite(t, nil)
	require.NoError(t, s.people.Store.CreateUser(t.Context(), &aigateway.User{Name: "alice", DisplayName: "alice", Role: aigateway.RoleUser, Password: hash}))
	return s
}

func TestAnImportedPasswordIsHashedAgainAtTheFirstLogin(t *testing.T) {
	s := importedSite(t, imported)
	assert.Equal(t, wrongBody, s.ask(testRequest{call: loginCall, body: credentials("alice", "wrong horse")}).body)
	user, err := s.people.Store.UserByName(t.Context(), "alice")
	require.NoError(t, err)
	assert.Equal(t, imported, user.Password, "a wrong password changes nothing")

	for range 2 {
		assert.Equal(t, successBody, normalized(s.ask(testRequest{call: loginCall, body: credentials("alice", password)}).body))
		user, err = s.people.Store.UserByName(t.Context(), "alice")
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(user.Password, "$argon2id$"), user.Password)
	}
	sessions, err := s.people.Store.SessionsOf(t.Context(), user.ID)
	require.NoError(t, err)
	assert.Len(t, sessions, 2, "the second login ends no session")
}

func TestFirstLoginsAtTheSameTimeAllSucceed(t *testing.T) {
	s := importedSite(t, imported)
	var all sync.WaitGroup
	bodies := make([]string, 2) // as many as one account may hash at once
	for i := range bodies {
		all.Go(func() {
			r := testRequest{call: loginCall, body: credentials("alice", password)}.request(t.Context())
			answer := httptest.NewRecorder()
			s.ServeHTTP(answer, r)
			bodies[i] = normalized(answer.Body.String())
		})
	}
	all.Wait()
	for _, body := range bodies {
		assert.Equal(t, successBody, body)
	}
}

// A bcrypt hash with a large cost, which a hostile import can have, would occupy a processor
// for a day.
func TestTheCostOfAnImportedHashIsBounded(t *testing.T) {
	for _, cost := range []string{"13", "14", "31", "99", "00"} {
		s := importedSite(t, strings.Replace(imported, "$04$", "$"+cost+"$", 1))
		assert.Equal(t, wrongBody, s.ask(testRequest{call: loginCall, body: credentials("alice", password)}).body, cost)
	}
	_, err := people.OWASP.Compare([]byte(strings.Replace(imported, "$04$", "$31$", 1)), []byte(password))
	assert.Equal(t, people.ErrInvalidHash, err)
	right, err := people.OWASP.Compare([]byte("$2a$10$QSI6vWIEPScek171POfS3e3pF0yY64uTlOdnkBR6G7G4eU6NHVL1q"), []byte(password))
	require.NoError(t, err)
	assert.True(t, right, "new-api has the cost 10")
}
