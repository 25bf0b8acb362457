package compat

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// self serves the account of the user who asks.
type self struct{ people *people.People }

// answerUser returns the answer with a user, or the error of getting it.
func answerUser(u *aigateway.User, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return answer.ViewUser(u), nil
}

func (self) show(c *call.Call) (any, error) { return answer.ViewUser(c.User), nil }

// selfFields are the members of a change of the own account. An empty password counts as absent,
// because clients send it for an unchanged password.
type selfFields struct {
	DisplayName *string `json:"display_name"`
	Password    *string `json:"password"`
	Original    *string `json:"original_password"`
}

func (s self) change(c *call.Call, fields selfFields) (any, error) {
	return answerUser(s.people.ChangeSelf(c, people.SelfChange{
		DisplayName: fields.DisplayName, Password: unlessEmpty(fields.Password), Original: fields.Original,
	}))
}

// unlessEmpty returns a text, nil for an empty one.
func unlessEmpty(text *string) *string {
	if call.ValueOr(text, "") == "" {
		return nil
	}
	return text
}

func (s self) register(c *call.Call, wanted newUser) (any, error) {
	return answerUser(s.people.Register(c, people.NewUser{Name: wanted.Username, DisplayName: wanted.DisplayName, Password: wanted.Password}))
}

func (s self) logOut(c *call.Call) (any, error) { return nil, s.people.LogOut(c) }
