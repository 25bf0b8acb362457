package compat

import (
	"net/netip"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// keyFields are the members of a request about a key, with the names of keyView.
type keyFields struct {
	ID             *int64  `json:"id"`
	Name           *string `json:"name"`
	Limit          *string `json:"group"`
	Status         *int64  `json:"status"`
	Expires        *int64  `json:"expired_time"`
	ModelsEnabled  *bool   `json:"model_limits_enabled"`
	Models         *string `json:"model_limits"`
	Networks       *string `json:"allow_ips"`
	UnlimitedQuota *bool   `json:"unlimited_quota"`
	RemainQuota    *int64  `json:"remain_quota"`
}

// change returns the change of a key.
func (f keyFields) change() (change people.KeyChange, err error) {
	change = people.KeyChange{Name: f.Name, Limit: f.Limit, LimitField: "group"}
	if change.Disabled, err = f.disabled(); err != nil {
		return change, err
	}
	if change.Expires, err = f.expires(); err != nil {
		return change, err
	}
	if change.Models, err = f.models(); err != nil {
		return change, err
	}
	if change.Networks, err = f.networks(); err != nil {
		return change, err
	}
	return change, f.checkQuota()
}

// disabled returns whether a key is disabled, nil if the status does not determine it.
// For an expired key, clients send the status 3 that they have read. Such a key may be
// enabled or disabled.
func (f keyFields) disabled() (*bool, error) {
	switch call.ValueOr(f.Status, answer.Expired) {
	case answer.Enabled, answer.Disabled:
		return new(*f.Status == answer.Disabled), nil
	case answer.Expired:
		return nil, nil
	}
	return nil, answer.Invalid("status must be 1 for enabled or 2 for disabled")
}

func (f keyFields) expires() (*time.Time, error) {
	switch n := f.Expires; {
	case n == nil:
		return nil, nil
	case *n == -1:
		return new(time.Time), nil
	case *n <= 0 || *n > aigateway.LatestDate:
		return nil, answer.Invalid("expired_time must be in Unix seconds, or -1 for never")
	default:
		return new(time.Unix(*n, 0)), nil
	}
}

// models returns the models. Without model_limits_enabled, the list is enabled,
// so that the key never allows more models than the client intends.
func (f keyFields) models() (*[]string, error) {
	if f.ModelsEnabled == nil && f.Models == nil {
		return nil, nil
	}
	names := split(call.ValueOr(f.Models, ""), ",")
	if !call.ValueOr(f.ModelsEnabled, true) {
		return new([]string), nil
	}
	if call.ValueOr(f.ModelsEnabled, false) && len(names) == 0 {
		return nil, answer.Invalid("model_limits must contain a model if model_limits_enabled is true")
	}
	return people.Patterns("model_limits", names)
}

func (f keyFields) networks() (*[]netip.Prefix, error) {
	if f.Networks == nil {
		return nil, nil
	}
	return people.Networks("allow_ips", split(strings.ReplaceAll(*f.Networks, ",", "\n"), "\n"))
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

// checkQuota refuses budgets. If they were ignored, clients would rely on a budget that
// does not exist.
func (f keyFields) checkQuota() error {
	if !call.ValueOr(f.UnlimitedQuota, true) || f.UnlimitedQuota == nil && call.ValueOr(f.RemainQuota, 0) != 0 {
		return answer.Invalid("unlimited_quota must be true: a key has no budget of its own")
	}
	return nil
}
