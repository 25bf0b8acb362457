package accounts

import (
	"net/http"
	"net/netip"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/agents"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
)

// devices serves the codes with which users let programs act for them. agents is nil if the
// configuration has none.
type devices struct{ agents *agents.Agents }

// deviceView is a program that waits for an answer.
type deviceView struct {
	Agent    string    `json:"agent"`
	Address  string    `json:"address"`
	Neighbor bool      `json:"near"` // in the network of the user
	Created  time.Time `json:"created"`
	Expires  time.Time `json:"expires"`
}

// typedCode is the body of a request about a code. It is no part of the path, which logs contain.
type typedCode struct {
	Code string `json:"code"`
}

// show answers POST /api/v1/device with the program that shows a code.
func (d devices) show(c *call.Call, typed typedCode) (any, error) {
	if d.agents == nil {
		return nil, errNoAgents
	}
	if err := call.Require("code", typed.Code); err != nil {
		return nil, err
	}
	device, err := d.agents.Waiting(c, typed.Code)
	if err != nil {
		return nil, err
	}
	address, err := netip.ParseAddr(device.Address)
	neighbor := err == nil && call.Network(address) == call.Network(c.Address())
	return deviceView{device.Agent, device.Address, neighbor, answer.Time(device.Created), answer.Time(device.Expires)}, nil
}

var errNoAgents = answer.Refuse(http.StatusNotFound, "the sign-in of agents is off: the configuration has no agents")

// givenAnswer is the body of an answer to a program.
type givenAnswer struct {
	Code    string `json:"code"`
	Confirm *bool  `json:"confirm"`
	Team    string `json:"team"`
}

// answer answers POST /api/v1/device/answer.
func (d devices) answer(c *call.Call, given givenAnswer) (any, error) {
	if d.agents == nil {
		return nil, errNoAgents
	}
	if err := call.Require("code", given.Code); err != nil {
		return nil, err
	}
	switch {
	case given.Confirm == nil:
		return nil, answer.Invalid("confirm is required: true or false")
	case *given.Confirm:
		return nil, d.agents.Confirm(c, given.Code, given.Team)
	}
	return nil, d.agents.Deny(c, given.Code)
}
