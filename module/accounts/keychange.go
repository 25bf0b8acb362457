package accounts

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// The bounds of a key's restrictions.
const (
	maxModels   = 100
	maxNetworks = 100
)

// keyChange is a change of a key. Fields that are nil stay unchanged.
type keyChange struct {
	name     *string
	disabled *bool
	expires  *time.Time
	models   *[]string
	networks *[]netip.Prefix
	limit    *string

	limitField string                // the name of the field with the limit, for messages
	team       *aigateway.Membership // the team with the name of the limit, nil if the user is not in it
}

// readTeam reads the team of a changed limit.
func (change *keyChange) readTeam(c *call.Call) error {
	limit := call.ValueOr(change.limit, "")
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

// readKeyChange reads the fields of a key, whose names are those of keyView.
func readKeyChange(f *call.Form) (change keyChange, err error) {
	change.limitField = "group"
	change.name, change.limit = f.Text("name"), f.Text("group")
	if change.disabled, err = readStatus(f); err != nil {
		return change, err
	}
	if change.expires, err = readExpiry(f); err != nil {
		return change, err
	}
	if change.models, err = readModelLimits(f); err != nil {
		return change, err
	}
	if change.networks, err = readAllowIPs(f); err != nil {
		return change, err
	}
	return change, refuseQuota(f)
}

// readStatus returns whether a key is disabled, nil if the form does not determine it.
// For an expired key, clients send the status 3 that they have read. Such a key may be
// enabled or disabled.
func readStatus(f *call.Form) (*bool, error) {
	status := f.Number("status")
	switch call.ValueOr(status, expired) {
	case enabled, disabled:
		return new(*status == disabled), nil
	case expired:
		return nil, f.Err()
	}
	return nil, answer.Invalid("status must be 1 for enabled or 2 for disabled")
}

func readExpiry(f *call.Form) (*time.Time, error) {
	n := f.Number("expired_time")
	switch {
	case n == nil:
		return nil, f.Err()
	case *n == -1:
		return new(time.Time), nil
	case *n <= 0 || *n > aigateway.LatestDate:
		return nil, answer.Invalid("expired_time must be in Unix seconds, or -1 for never")
	}
	return new(time.Unix(*n, 0)), nil
}

// readModelLimits reads the models. Without model_limits_enabled, the list is enabled,
// so that the key never allows more models than the client intends.
func readModelLimits(f *call.Form) (*[]string, error) {
	enabled, list := f.Flag("model_limits_enabled"), f.Text("model_limits")
	if err := f.Err(); err != nil || enabled == nil && list == nil {
		return nil, err
	}
	names := split(call.ValueOr(list, ""), ",")
	if !call.ValueOr(enabled, true) {
		return new([]string), nil
	}
	if call.ValueOr(enabled, false) && len(names) == 0 {
		return nil, answer.Invalid("model_limits must contain a model if model_limits_enabled is true")
	}
	return patterns("model_limits", names)
}

func patterns(field string, names []string) (*[]string, error) {
	names = aigateway.SplitPatterns(names)
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

func readAllowIPs(f *call.Form) (*[]netip.Prefix, error) {
	text := f.Text("allow_ips")
	if text == nil {
		return nil, f.Err()
	}
	return networks("allow_ips", split(strings.ReplaceAll(*text, ",", "\n"), "\n"))
}

func networks(field string, names []string) (*[]netip.Prefix, error) {
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

// split splits a list, and leaves out empty elements.
func split(list, separator string) []string {
	var parts []string
	for part := range strings.SplitSeq(list, separator) {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// refuseQuota refuses budgets. If it ignored them, clients would rely on a budget that
// does not exist.
func refuseQuota(f *call.Form) error {
	unlimited, remain := f.Flag("unlimited_quota"), f.Number("remain_quota")
	if err := f.Err(); err != nil {
		return err
	}
	if !call.ValueOr(unlimited, true) || unlimited == nil && call.ValueOr(remain, 0) != 0 {
		return answer.Invalid("unlimited_quota must be true: a key has no budget of its own")
	}
	return nil
}

// apply changes a key on behalf of a user, nil for the administrator of the machine. It
// refuses a new expiry in the past, and a new limit that limits does not define, because every
// request with the key would be refused. Users who are not administrators set the limit of a new
// key alone, to that of a team. It accepts both if they are unchanged, so that such
// keys can be changed. limits is nil if the limits are not known.
func (change keyChange) apply(by *aigateway.User, k *aigateway.StoredKey, limits aigateway.LimitReader) error {
	name, limit := call.ValueOr(change.name, k.Name), call.ValueOr(change.limit, k.Limit)
	expires := call.ValueOr(change.expires, k.Expires)
	switch {
	case name == "":
		return answer.Invalid("name is required")
	case checkText("name", name) != nil:
		return checkText("name", name)
	case !expires.IsZero() && !expires.Equal(k.Expires) && !time.Now().Before(expires):
		return answer.Invalid("the expiry of the key must be in the future")
	case limit != k.Limit && by != nil && by.Role < aigateway.RoleAdmin && (change.team == nil || k.ID != 0):
		return answer.Refuse(http.StatusForbidden, "%s: only administrators may set the limit of a key", change.limitField)
	case limit != "" && aigateway.CheckLimitName(limit) != nil:
		return answer.Invalid("%s", aigateway.CheckLimitName(limit))
	}
	if limit != "" && limit != k.Limit && limits != nil && change.team == nil {
		if err := aigateway.CheckLimitDefined(limit, limits.LimitNames()); err != nil {
			return answer.Invalid("%s: %s", change.limitField, err)
		}
	}
	k.Name, k.Limit, k.Expires = name, limit, expires
	k.Disabled = call.ValueOr(change.disabled, k.Disabled)
	k.Models, k.Networks = call.ValueOr(change.models, k.Models), call.ValueOr(change.networks, k.Networks)
	return nil
}
