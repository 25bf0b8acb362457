package site

import (
	"fmt"
	"net/http"

	"github.com/stretchr/testify/require"
)

// Password is the password of every user of AddUser.
const Password = "correct horse battery staple"

// AddUser adds a user with Password through the admin API.
func (s *Site) AddUser(name string) {
	s.T.Helper()
	got := s.Call(http.MethodPost, s.AdminURL("/api/v1/users"), fmt.Sprintf(`{"username":%q,"password":%q}`, name, Password))
	require.Equal(s.T, http.StatusOK, got.Status, got.Body)
}
