package api

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Rules are rules of the store for a key, a user or a team, with the words of the Caddyfile.
type Rules struct {
	Requests   string `json:"requests"`   // "60/1m"; empty: not limited, as of the next
	Tokens     string `json:"tokens"`     // "400000/1d"
	Concurrent int64  `json:"concurrent"` // 0: not limited
	Budget     string `json:"budget"`     // "500/month EUR soft"; empty: none
	Priority   string `json:"priority"`   // in queues: high, normal or low; empty: that of the limits around it
}

// User is a user.
type User struct {
	ID          int64      `json:"id"`
	Username    string     `json:"username"`
	DisplayName string     `json:"display_name"`
	Role        string     `json:"role"` // user, admin or root
	Disabled    bool       `json:"disabled"`
	Rules                  // of all keys of the user together
	Created     time.Time  `json:"created"`
	LastLogin   *time.Time `json:"last_login"` // null: never
	// Password is a generated password. Only the answer to its generation contains it.
	Password string `json:"password,omitempty"`
}

// Key is an API key, with the names of the Caddyfile.
type Key struct {
	ID           int64    `json:"id"`
	User         string   `json:"user"`
	Name         string   `json:"name"`
	Key          string   `json:"key"` // shortened, except in the answers to its creation and rotation
	Models       []string `json:"models"`
	Networks     []string `json:"from"`
	Limit        string   `json:"limit"`
	Rules                 // of the key alone
	Tags         []string `json:"tags"` // team=search
	Disabled     bool     `json:"disabled"`
	UserDisabled bool     `json:"user_disabled"` // the key is refused, whatever Disabled is

	Created time.Time  `json:"created"`
	Expires *time.Time `json:"expires"` // of the key of a program that has signed in: the end of its sign-in; null: never
	Used    *time.Time `json:"used"`    // null: never
	// Replaced is the time until which the secret before the last rotation is valid; null: it is
	// not.
	Replaced *time.Time `json:"replaced_until"`

	Limits []aigateway.LimitState `json:"limits,omitempty"` // what is left of them, if the request asks for it
}

// Refusal is why requests with a key are refused now. Requests that may use more than is left of a
// limit are refused, too; the answer to such a request states it.
type Refusal struct {
	Reason string                `json:"reason"` // empty: they are not refused
	Limit  *aigateway.LimitState `json:"limit"`  // the rule that refuses them; null: none
	End    *time.Time            `json:"until"`  // null: unknown, or until somebody changes the key
}

// Team is a team, with the words of the Caddyfile.
type Team struct {
	Name   string   `json:"name"`
	Models []string `json:"models"` // empty: all
	Rules
	// Configured is true if the configuration defines a limit with the name of the team.
	// Its rules apply then, and the fields with rules are empty.
	Configured bool      `json:"configured"`
	Admin      bool      `json:"admin"` // the user of the request administrates the team
	Created    time.Time `json:"created"`
}

// Membership is a team of a user.
type Membership struct {
	Team  string `json:"team"`
	Admin bool   `json:"admin"` // the user administrates the team
}

// Member is a member of a team.
type Member struct {
	User  string `json:"user"`
	Admin bool   `json:"admin"`
}
