package people

import (
	"errors"
	"net/http"
	"net/netip"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// The bounds of keys.
const (
	maxKeys     = 100 // of a user
	maxModels   = 100 // of a key
	maxNetworks = 100 // of a key
)

// CreateKey creates a key for a user, and returns it with its secret. Users who are no administrators
// make keys for themselves with the limit of the configuration, unless they choose a team.
func (p *People) CreateKey(c *call.Call, change KeyChange, owner *aigateway.User) (*aigateway.StoredKey, aigateway.Secret, error) {
	key, err := p.NewKey(c, change, owner)
	if err != nil {
		return nil, "", err
	}
	secret := aigateway.NewAPIKey()
	key.Digest, key.Hint = call.Digest(string(secret)), aigateway.APIKeyHint(secret)
	return key, secret, keysError(p.Store.CreateKey(c.Context(), key, maxKeys))
}

// keysError returns the problem of a user who has too many keys.
func keysError(err error) error {
	if errors.Is(err, aigateway.ErrTooMany) {
		return answer.Refuse(http.StatusConflict, "a user may have at most %d keys: delete one first", maxKeys)
	}
	return err
}

// NewKey returns a key for a user that is not stored and has no secret yet.
func (p *People) NewKey(c *call.Call, change KeyChange, owner *aigateway.User) (*aigateway.StoredKey, error) {
	key := &aigateway.StoredKey{UserID: owner.ID}
	change.owner = owner.Name
	if !c.IsAdmin() && owner.ID == c.User.ID {
		key.Bounds.Limit = p.KeyLimit
		if call.ValueOr(change.Limit, "") == "" { // clients send an empty limit if the user sets none
			change.Limit = nil
		}
	}
	if err := change.CheckBounds(c, key); err != nil {
		return nil, err
	}
	return key, p.Apply(c, change, key)
}

// KeyChange is a change of a key. Fields that are nil stay unchanged.
type KeyChange struct {
	Name     *string
	Disabled *bool
	Expires  *time.Time
	Models   *[]string
	Networks *[]netip.Prefix
	Limit    *string
	Rules    RuleChange
	Tags     *[]aigateway.Tag

	LimitField string                // the name of the field with the limit, for messages
	owner      string                // of a new key
	team       *aigateway.Membership // the team with the name of the limit, nil if the user is not in it
}

// ReadTeam reads the team of a changed limit.
func (change *KeyChange) ReadTeam(c *call.Call) error {
	limit := call.ValueOr(change.Limit, "")
	if limit == "" {
		return nil
	}
	team, err := c.Membership(c.Context(), limit)
	if errors.Is(err, aigateway.ErrNotFound) {
		return nil
	}
	change.team = team
	return err
}

// IsOfLedTeam reports whether the limit is a team that the user of the call administrates.
func (change *KeyChange) IsOfLedTeam() bool { return change.team != nil && change.team.Admin }

// CheckBounds returns an error if the change has rules or tags that the user of the call may not
// set. Administrators may set both, those of a team for its keys. Other users may set the rules of
// a new key, which can only bound it further. Administrators of the gateway alone set its priority.
func (change *KeyChange) CheckBounds(c *call.Call, k *aigateway.StoredKey) error {
	if change.Rules.Prefers() && !c.IsAdmin() {
		return errPriority
	}
	if c.IsAdmin() || change.Tags == nil && (change.Rules.IsEmpty() || k.ID == 0) {
		return nil
	}
	if k.ID == 0 && change.IsOfLedTeam() {
		return nil
	}
	if team, err := c.Administered(c.Context(), k.Bounds.Limit); err != nil || team == nil {
		return errBounds
	}
	return nil
}

var (
	errBounds   = answer.Refuse(http.StatusForbidden, "only administrators may set the rules and tags of a key")
	errRenewed  = answer.Invalid("expires cannot be changed of the key of a program that has signed in: delete the key to end the sign-in")
	errPriority = answer.Refuse(http.StatusForbidden, "only administrators of the gateway may set the priority of a key")
)

// Apply changes a key on behalf of the user of a call. It refuses an expiry in the past, and a
// limit that no site defines, because every request with the key would be refused; a key that has
// one of them already can still be changed otherwise. Only administrators set the limit of an
// existing key. Others may choose a team for a new one.
func (p *People) Apply(c *call.Call, change KeyChange, k *aigateway.StoredKey) error {
	name, limit := call.ValueOr(change.Name, k.Name), call.ValueOr(change.Limit, k.Bounds.Limit)
	if change.Expires != nil && !k.Renewable.IsZero() {
		if change.Expires.Unix() != k.Renewable.Unix() { // some clients know seconds alone
			return errRenewed
		}
		change.Expires = nil // it is what was shown
	}
	expires := call.ValueOr(change.Expires, k.Expires)
	switch {
	case name == "":
		return answer.Invalid("name is required")
	case CheckText("name", name) != nil:
		return CheckText("name", name)
	case !expires.IsZero() && !expires.Equal(k.Expires) && !time.Now().Before(expires):
		return answer.Invalid("the expiry of the key must be in the future")
	case limit != k.Bounds.Limit && !c.IsAdmin() && (change.team == nil || k.ID != 0):
		return answer.Refuse(http.StatusForbidden, "%s: only administrators may set the limit of a key", change.LimitField)
	case limit != "" && aigateway.CheckLimitName(limit) != nil:
		return answer.Invalid("%s", aigateway.CheckLimitName(limit))
	}
	if limit != "" && limit != k.Bounds.Limit && p.Limits != nil && change.team == nil {
		if err := aigateway.CheckLimitDefined(limit, p.Limits.LimitNames()); err != nil {
			return answer.Invalid("%s: %s", change.LimitField, err)
		}
	}
	k.Name, k.Bounds.Limit, k.Expires = name, limit, expires
	k.Disabled = call.ValueOr(change.Disabled, k.Disabled)
	k.Bounds.Models, k.Bounds.Networks = call.ValueOr(change.Models, k.Bounds.Models), call.ValueOr(change.Networks, k.Bounds.Networks)
	k.Bounds.Tags = call.ValueOr(change.Tags, k.Bounds.Tags)
	if err := change.Rules.Apply(&k.Bounds.Rules); err != nil {
		return err
	}
	return p.checkBounds(change, k)
}

// checkBounds returns an error if a site cannot apply the changed rules or tags of a key.
func (p *People) checkBounds(change KeyChange, k *aigateway.StoredKey) error {
	if p.Limits == nil || change.Rules.IsEmpty() && change.Tags == nil && change.Limit == nil {
		return nil
	}
	key := &aigateway.Key{Owner: change.owner, Limit: k.Bounds.Limit, Own: aigateway.OwnLimit(aigateway.PerKey, k.Bounds.Rules), Labels: aigateway.Labels{Tags: k.Bounds.Tags}}
	if change.team != nil {
		key.Team = &change.team.Team
	}
	if k.ID != 0 {
		key.ID = aigateway.StoredKeyID(k.ID)
	}
	if err := p.Limits.CheckKey(key); err != nil {
		return answer.Invalid("%s", err)
	}
	return nil
}

// Patterns returns the names and patterns of models in a field.
func Patterns(field string, names []string) (*[]string, error) {
	names = aigateway.SplitList(names)
	if len(names) > maxModels {
		return nil, answer.Invalid("%s must be at most %d names", field, maxModels)
	}
	for _, name := range names {
		if _, err := aigateway.ParsePattern(name); err != nil {
			return nil, answer.Invalid("%s: %s", field, err)
		}
	}
	return &names, nil
}

// Networks returns the networks in a field.
func Networks(field string, names []string) (*[]netip.Prefix, error) {
	names = aigateway.SplitList(names)
	if len(names) > maxNetworks {
		return nil, answer.Invalid("%s must be at most %d networks", field, maxNetworks)
	}
	list := make([]netip.Prefix, len(names))
	for i, name := range names {
		var err error
		if list[i], err = aigateway.ParseNetwork(name); err != nil {
			return nil, answer.Invalid("%s must be IP addresses or networks such as 192.0.2.0/24", field)
		}
	}
	return &list, nil
}

// Tags returns the tags in a field, each with its value: "team=search".
func Tags(field string, texts []string) (*[]aigateway.Tag, error) {
	var tags []aigateway.Tag
	for _, text := range aigateway.SplitList(texts) {
		tag, err := aigateway.ParseTag(text)
		if err != nil {
			return nil, answer.Invalid("%s: %s", field, err)
		}
		tags = append(tags, tag)
	}
	tags, err := aigateway.SortTags(tags)
	if err != nil {
		return nil, answer.Invalid("%s: %s", field, err)
	}
	return &tags, nil
}

// TagTexts returns the tags of a key as texts.
func TagTexts(k *aigateway.StoredKey) []string {
	texts := make([]string, len(k.Bounds.Tags))
	for i := range k.Bounds.Tags {
		texts[i] = aigateway.FormatTags(k.Bounds.Tags[i : i+1])
	}
	return texts
}

// NetworkNames returns the networks of a key as texts. The text of a network with one
// address is the address.
func NetworkNames(k *aigateway.StoredKey) []string {
	names := make([]string, len(k.Bounds.Networks))
	for i, network := range k.Bounds.Networks {
		names[i] = network.String()
		if network.IsSingleIP() {
			names[i] = network.Addr().String()
		}
	}
	return names
}

// LimitsOf returns what is left of the limits of a key. Users do not see the limits of groups
// and of the gateway.
func (p *People) LimitsOf(c *call.Call, id int64) ([]aigateway.LimitState, error) {
	if p.Limits == nil {
		return nil, nil
	}
	page, err := p.Limits.Limits(c.Context(), aigateway.LimitQuery{Key: aigateway.StoredKeyID(id), Own: !c.IsAdmin(), Most: mostStates})
	return page.States, err
}

// mostStates is the largest number of states of the limits of a key.
const mostStates = 500
