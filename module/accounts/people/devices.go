package people

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// ConfirmDevice gives the program whose code has a digest a key of the user of a call, with the
// limits that a key has which the user creates, or those of a team. The secret of the key is nothing
// that anybody knows: the program gets one in exchange for its device code.
func (p *People) ConfirmDevice(c *call.Call, store aigateway.Devices, code aigateway.Digest, name, team string, expires time.Time) error {
	change := KeyChange{Name: &name, Limit: &team, LimitField: "team"}
	if err := change.ReadTeam(c); err != nil {
		return err
	}
	if team != "" && change.team == nil {
		return answer.Invalid("team must be a team of which you are a member")
	}
	key, err := p.NewKey(c, change, c.User)
	if err != nil {
		return err
	}
	key.Digest, key.Hint, key.Expires = call.Digest(string(aigateway.NewAPIKey())), "****", time.Now()
	return keysError(store.Confirm(c.Context(), code, expires, key, maxKeys))
}
