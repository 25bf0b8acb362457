package accounts

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/reports"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// maxKeys is the largest number of keys of a user.
const maxKeys = 100

// keys are the API keys of users.
type keys struct {
	store  aigateway.Store
	limits aigateway.LimitReader // nil for the commands of this machine
	limit  string                // of the keys that users create, unless they are administrators
}

// keyView is an API key in answers below /api/, with the names of fields that existing
// clients of LLM gateways use. Times are Unix seconds.
type keyView struct {
	ID             int64  `json:"id"`
	UserID         int64  `json:"user_id"`
	Key            string `json:"key"` // shortened, except in the answer to its creation
	Status         int    `json:"status"`
	Name           string `json:"name"`
	Created        int64  `json:"created_time"`
	Accessed       int64  `json:"accessed_time"` // 0: never
	Expires        int64  `json:"expired_time"`  // -1: never
	RemainQuota    int64  `json:"remain_quota"`
	UnlimitedQuota bool   `json:"unlimited_quota"`
	UsedQuota      int64  `json:"used_quota"`
	ModelsEnabled  bool   `json:"model_limits_enabled"`
	Models         string `json:"model_limits"`
	Networks       string `json:"allow_ips"`
	Limit          string `json:"group"`
	keyLimits
}

// keyLimits is what is left of the limits of a key, if the request asks for it.
type keyLimits struct {
	Limits []aigateway.LimitState `json:"limits,omitempty"`
}

func viewKey(k *aigateway.StoredKey) keyView {
	return keyView{
		ID: k.ID, UserID: k.UserID, Key: k.Hint, Status: keyStatus(k), Name: k.Name,
		Created: answer.Unix(k.Created, 0), Accessed: answer.Unix(k.Used, 0), Expires: answer.Unix(k.Expires, -1),
		UnlimitedQuota: true,
		ModelsEnabled:  len(k.Models) > 0, Models: strings.Join(k.Models, ","),
		Networks: strings.Join(networkNames(k), "\n"), Limit: k.Limit,
	}
}

// answerKey returns the answer with a key, or the error of getting it.
func answerKey(k *aigateway.StoredKey, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return viewKey(k), nil
}

func keyStatus(k *aigateway.StoredKey) int {
	if !k.Disabled && !k.Expires.IsZero() && !time.Now().Before(k.Expires) {
		return expired
	}
	return statusOf(k.Disabled)
}

// networkNames returns the networks of a key as texts. The text of a network with one
// address is the address.
func networkNames(k *aigateway.StoredKey) []string {
	names := make([]string, len(k.Networks))
	for i, network := range k.Networks {
		names[i] = networkName(network)
	}
	return names
}

func networkName(network netip.Prefix) string {
	if network.IsSingleIP() {
		return network.Addr().String()
	}
	return network.String()
}

// list answers GET /api/token/ and GET /api/token/search.
func (k keys) list(c *call.Call) (any, error) {
	view, page, err := c.Page()
	if err != nil {
		return nil, err
	}
	found, total, err := k.store.Keys(c.Context(), c.User.ID, page)
	if err != nil {
		return nil, err
	}
	shown := answer.Views(found, viewKey)
	for i := range shown {
		if shown[i].Limits, err = k.limitsOf(c, shown[i].ID); err != nil {
			return nil, err
		}
	}
	view.Items, view.Total = shown, total
	return view, nil
}

// limitsOf returns what is left of the limits of a key, nil unless the parameter limits asks
// for it. Users do not see the limits of groups and of the gateway.
func (k keys) limitsOf(c *call.Call, id int64) ([]aigateway.LimitState, error) {
	if k.limits == nil || c.URL.Query().Get("limits") != "true" {
		return nil, nil
	}
	page, err := k.limits.Limits(c.Context(), aigateway.LimitQuery{
		Key: aigateway.StoredKeyID(id), Own: c.User.Role < aigateway.RoleAdmin, Most: reports.LargestStates,
	})
	return page.States, err
}

// show answers GET /api/token/{id}.
func (k keys) show(c *call.Call) (any, error) {
	return answerKey(k.store.Key(c.Context(), c.User.ID, c.ID()))
}

// add answers POST /api/token/. Only this answer contains the key.
func (k keys) add(c *call.Call) (any, error) {
	change, err := readKeyChange(c.Form)
	if err != nil {
		return nil, err
	}
	if change.name == nil {
		return nil, answer.Invalid("name is required")
	}
	if err := change.readTeam(c); err != nil {
		return nil, err
	}
	key := &aigateway.StoredKey{UserID: c.User.ID}
	if c.User.Role < aigateway.RoleAdmin {
		key.Limit = k.limit
		if call.ValueOr(change.limit, "") == "" { // clients send an empty group if the user sets none
			change.limit = nil
		}
	}
	if err := change.apply(c.User, key, k.limits); err != nil {
		return nil, err
	}
	secret, err := k.create(c.Context(), key)
	if err != nil {
		return nil, err
	}
	view := viewKey(key)
	view.Key = string(secret)
	return view, nil
}

// create generates an API key, and stores its digest and its hint in key.
func (k keys) create(ctx context.Context, key *aigateway.StoredKey) (aigateway.Secret, error) {
	secret := aigateway.NewAPIKey()
	key.Digest, key.Hint = call.Digest(string(secret)), aigateway.APIKeyHint(secret)
	err := k.store.CreateKey(ctx, key, maxKeys)
	if errors.Is(err, aigateway.ErrTooMany) {
		err = answer.Refuse(http.StatusConflict, "a user may have at most %d keys: delete one first", maxKeys)
	}
	if err != nil {
		return "", err
	}
	return secret, nil
}

// update answers PUT /api/token/, with the id in the body. Absent fields stay
// unchanged; with ?status_only=1, only the status changes.
func (k keys) update(c *call.Call) (any, error) {
	id := c.Form.Number("id")
	if c.URL.Query().Get("status_only") != "" {
		c.Form.Keep("id", "status")
	}
	change, err := readKeyChange(c.Form)
	if err != nil {
		return nil, err
	}
	if id == nil {
		return nil, answer.Invalid("id is required")
	}
	if err := change.readTeam(c); err != nil {
		return nil, err
	}
	key, err := k.store.ChangeKey(c.Context(), c.User.ID, *id, func(key *aigateway.StoredKey) error {
		return change.apply(c.User, key, k.limits)
	})
	if err != nil {
		return nil, err
	}
	return viewKey(key), nil
}

// remove answers DELETE /api/token/{id}.
func (k keys) remove(c *call.Call) (any, error) {
	return nil, k.store.DeleteKey(c.Context(), c.User.ID, c.ID())
}
