package jwt

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// key returns the key of a verified token with these claims, without its digest. The key has no
// expiry, since its owner renews it: the cache ends with the token.
func (t *Tokens) key(all aigateway.Claims) (*aigateway.Key, error) {
	name, err := all.Text(cmp.Or(t.Name, "sub"))
	if err != nil {
		return nil, &aigateway.TokenError{Problem: "it has no subject: " + err.Error()}
	}
	rights := t.rightsOf(all.Words(cmp.Or(t.GroupClaim, "groups")))
	if rights == nil {
		return nil, &aigateway.TokenError{Problem: "none of its groups may use the gateway", Forbidden: true}
	}
	key := *rights
	key.ID = t.prefix + plain(name)
	key.Subject = key.ID
	if key.Owner, err = t.ownerOf(all); err != nil {
		t.logger.Warn("the owner of a token cannot be found",
			zap.String("key", key.ID), zap.Error(err))
	}
	return &key, nil
}

// maxName is the length of the longest name that is shown as it is.
const maxName = 100

// plain returns a name as it is if it is short and has only the characters of names, else its
// digest, which is as unique.
func plain(name string) string {
	isOdd := func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._@+-:/|", c))
	}
	if len(name) <= maxName && !strings.ContainsFunc(name, isOdd) {
		return name
	}
	digest := sha256.Sum256([]byte(name))
	return "sha256-" + hex.EncodeToString(digest[:16])
}

// ownerOf returns the owner of a key, "" if the configuration names no claim with one. The error
// is the reason for which a token has none.
func (t *Tokens) ownerOf(all aigateway.Claims) (string, error) {
	if t.Owner == "" {
		return "", nil
	}
	owner, err := all.Text(t.Owner)
	if err == nil && !aigateway.IsName(owner) {
		return "", fmt.Errorf("the claim %s is not a valid name: %.64q", t.Owner, owner)
	}
	return owner, err
}

// rightsOf returns the rights of the first group of the configuration that has one of the
// names, nil if none has.
func (t *Tokens) rightsOf(names []string) *aigateway.Key {
	for i, g := range t.Groups {
		if g.Name == "*" {
			return &t.rights[i]
		}
		beginning, isPattern := strings.CutSuffix(g.Name, "*")
		for _, name := range names {
			if name == g.Name || isPattern && strings.HasPrefix(name, beginning) {
				return &t.rights[i]
			}
		}
	}
	return nil
}
