package aigateway

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func claimsOf(t *testing.T, text string) (claims Claims) {
	require.NoError(t, json.Unmarshal([]byte(text), &claims))
	return claims
}

// TestAClaimIsReadAsIssuersSendIt: with `claim name email`, nobody of an issuer that sends
// "email_verified": "true" could sign in.
func TestAClaimIsReadAsIssuersSendIt(t *testing.T) {
	for _, c := range []struct{ claims, path, text, problem string }{
		{`{"email": "a@x.example", "email_verified": true}`, "email", "a@x.example", ""},
		{`{"email": "a@x.example", "email_verified": "true"}`, "email", "a@x.example", ""},
		{`{"email": "a@x.example", "email_verified": "True"}`, "email", "a@x.example", ""},
		{`{"user": {"email": "a@x.example", "email_verified": "TRUE"}}`, "user.email", "a@x.example", ""},
		{`{"email": "a@x.example"}`, "email", "", "the claim email is not verified: the issuer sends no email_verified"},
		{`{"email": "a@x.example", "email_verified": null}`, "email", "", "the claim email is not verified: the issuer sends no email_verified"},
		{`{"email": "a@x.example", "email_verified": false}`, "email", "", `the claim email is not verified: email_verified is "false"`},
		{`{"email": "a@x.example", "email_verified": "False"}`, "email", "", `the claim email is not verified: email_verified is "False"`},
		{`{"email": "a@x.example", "email_verified": 1}`, "email", "", `the claim email is not verified: email_verified is "1"`},
		{`{"email": "a@x.example", "email_verified": ["true"]}`, "email", "", `the claim email is not verified: email_verified is "[true]"`},
		{`{"email_verified": true, "user": {"email": "a@x.example"}}`, "user.email", "", "the claim user.email is not verified: the issuer sends no email_verified"},
		{`{"verified_primary_email": ["a@x.example"]}`, "verified_primary_email", "a@x.example", ""},
		{`{"employee": 4711}`, "employee", "4711", ""},
		{`{"employee": [4711]}`, "employee", "4711", ""},
		{`{"employee": 10000000}`, "employee", "10000000", ""},
		{`{"employee": 9007199254740993}`, "employee", "", "the claim employee is not one text"},
		{`{"employee": 47.5}`, "employee", "", "the claim employee is not one text"},
		{`{"name": ["a", "b"]}`, "name", "", "the claim name is not one text"},
		{`{"name": []}`, "name", "", "the claim name is not one text"},
		{`{"name": {"first": "a"}}`, "name", "", "the claim name is not one text"},
		{`{"name": true}`, "name", "", "the claim name is not one text"},
		{`{"name": ""}`, "name", "", "the claim name is empty"},
		{`{"name": null}`, "name", "", "the claim name is missing"},
		{`{}`, "realm.name", "", "the claim realm.name is missing"},
	} {
		text, err := claimsOf(t, c.claims).Text(c.path)
		assert.Equal(t, c.text, text, c.claims)
		if c.problem == "" {
			assert.NoError(t, err, c.claims)
		} else {
			assert.EqualError(t, err, c.problem, c.claims)
		}
	}
}

// TestGroupsAreReadAsIssuersSendThem: an issuer that sends a text in place of a list of one took
// the role from who was in a single group with a space in its name.
func TestGroupsAreReadAsIssuersSendThem(t *testing.T) {
	for claim, words := range map[string][]string{
		`["a", "b c"]`:               {"a", "b c"},
		`["a", 7, null, ["b"], 1.5]`: {"a", "7"},
		`"a"`:                        {"a"},
		`"AI Admins"`:                {"AI Admins", "AI", "Admins"},
		`7`:                          {"7"},
		`true`:                       nil,
		`{"a": true}`:                nil,
		`null`:                       nil,
		`""`:                         {""},
	} {
		assert.Equal(t, words, claimsOf(t, `{"groups": `+claim+`}`).Words("groups"), claim)
	}
	assert.Empty(t, claimsOf(t, `{"email": "a@x.example"}`).Words("email"), "a group that anybody can choose")
}

func TestARequiredValueIsFoundAsIssuersSendIt(t *testing.T) {
	claims := claimsOf(t, `{"staff": true, "email_verified": "True", "tenant": 42, "email": "a@x.example", "roles": ["x", "AI Users"]}`)
	assert.True(t, claims.Has("staff", "true"))
	assert.True(t, claims.Has("email_verified", "true"))
	assert.True(t, claims.Has("tenant", "42"))
	assert.True(t, claims.Has("email", "a@x.example"))
	assert.True(t, claims.Has("roles", "AI Users"))
	assert.False(t, claims.Has("staff", "false"))
	assert.False(t, claims.Has("roles", "AI"))
	claims["email_verified"] = "no"
	assert.False(t, claims.Has("email", "a@x.example"), "an address of somebody else")
	assert.False(t, claims.Has("email_verified", "true"))
}
