package compat

import (
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// keys serves the API keys of the user who asks.
type keys struct{ people *people.People }

// keyView is an API key in answers. Times are Unix seconds.
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

	Limits []aigateway.LimitState `json:"limits,omitempty"` // what is left of them, if the request asks for it
}

func viewKey(k *aigateway.StoredKey) keyView {
	return keyView{
		ID: k.ID, UserID: k.UserID, Key: k.Hint, Status: statusOf(k), Name: k.Name,
		Created: answer.Unix(k.Created, 0), Accessed: answer.Unix(k.Used, 0), Expires: answer.Unix(k.Ends(), -1),
		UnlimitedQuota: true,
		ModelsEnabled:  len(k.Bounds.Models) > 0, Models: strings.Join(k.Bounds.Models, ","),
		Networks: strings.Join(people.NetworkNames(k), "\n"), Limit: k.Bounds.Limit,
	}
}

func statusOf(k *aigateway.StoredKey) int {
	if end := k.Ends(); !k.Disabled && !end.IsZero() && !time.Now().Before(end) {
		return answer.Expired
	}
	return answer.StatusOf(k.Disabled)
}

// answerKey returns the answer with a key, or the error of getting it.
func answerKey(k *aigateway.StoredKey, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return viewKey(k), nil
}

func (k keys) list(c *call.Call) (any, error) {
	view, page, err := readPage(c)
	if err != nil {
		return nil, err
	}
	found, total, err := k.people.Store.Keys(c.Context(), c.User.ID, page)
	if err != nil {
		return nil, err
	}
	shown := answer.Views(found, viewKey)
	for i := 0; i < len(shown) && c.URL.Query().Get("limits") == "true"; i++ {
		if shown[i].Limits, err = k.people.LimitsOf(c, shown[i].ID); err != nil {
			return nil, err
		}
	}
	view.Items, view.Total = shown, total
	return view, nil
}

func (k keys) show(c *call.Call) (any, error) {
	return answerKey(k.people.Store.Key(c.Context(), c.User.ID, c.ID()))
}

// add answers a request for a key. Only this answer contains the key.
func (k keys) add(c *call.Call, fields keyFields) (any, error) {
	change, err := fields.change()
	if err != nil {
		return nil, err
	}
	if change.Name == nil {
		return nil, answer.Invalid("name is required")
	}
	if err := change.ReadTeam(c); err != nil {
		return nil, err
	}
	key, secret, err := k.people.CreateKey(c, change, c.User)
	if err != nil {
		return nil, err
	}
	view := viewKey(key)
	view.Key = string(secret)
	return view, nil
}

// update answers a change of the key whose ID is in the body. Absent members stay
// unchanged; with ?status_only=1, only the status changes.
func (k keys) update(c *call.Call, fields keyFields) (any, error) {
	if c.URL.Query().Get("status_only") != "" {
		fields = keyFields{ID: fields.ID, Status: fields.Status}
	}
	change, err := fields.change()
	if err != nil {
		return nil, err
	}
	if fields.ID == nil {
		return nil, answer.Invalid("id is required")
	}
	if err := change.ReadTeam(c); err != nil {
		return nil, err
	}
	return answerKey(k.people.Store.ChangeKey(c.Context(), c.User.ID, *fields.ID, func(key *aigateway.StoredKey) error {
		return k.people.Apply(c, change, key)
	}))
}

func (k keys) remove(c *call.Call) (any, error) {
	return nil, k.people.Store.DeleteKey(c.Context(), c.User.ID, c.ID())
}
