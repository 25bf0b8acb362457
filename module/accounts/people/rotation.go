package people

import (
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// maxOverlap is the longest time for which a key has two secrets.
const maxOverlap = 30 * 24 * time.Hour

// ReadOverlap returns how long a replaced secret is still valid. The empty text is 0.
func ReadOverlap(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	overlap, err := caddy.ParseDuration(text)
	if err != nil || overlap < 0 || overlap > maxOverlap {
		return 0, answer.Invalid("overlap must be a duration such as 24h or 7d, at most 30d")
	}
	return overlap, nil
}

// errRotated is the problem of a secret that the program would replace, and that nobody would renew until then.
var errRotated = answer.Invalid("the key of a program that has signed in cannot be rotated: the program renews its token itself")

// Rotate gives a key another secret, and returns it. The present secret is valid until the overlap
// is over. A secret that an earlier rotation has replaced ends at once: a key has two at most. The key of a
// program that has signed in is refused.
func (p *People) Rotate(c *call.Call, key *aigateway.StoredKey, overlap time.Duration) (*aigateway.StoredKey, aigateway.Secret, error) {
	secret := aigateway.NewAPIKey()
	rotated, err := p.Store.ChangeKey(c.Context(), key.UserID, key.ID, func(k *aigateway.StoredKey) error {
		if k.Bounds.Limit != key.Bounds.Limit { // the rights may be those in the team that it has left meanwhile
			return aigateway.ErrNotFound
		}
		if !k.Renewable.IsZero() {
			return errRotated
		}
		k.Replaced = aigateway.ReplacedSecret{}
		if overlap > 0 {
			k.Replaced = aigateway.ReplacedSecret{Digest: k.Digest, Until: time.Now().Add(overlap).UTC().Truncate(time.Millisecond)}
		}
		k.Digest, k.Hint = call.Digest(string(secret)), aigateway.APIKeyHint(secret)
		return nil
	})
	return rotated, secret, err
}
