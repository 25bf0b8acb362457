package accounts

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

// keys serves the API keys. Users see and change their own, administrators of a team those of the
// team, and administrators all.
type keys struct{ people *people.People }

func viewKey(k *aigateway.StoredKey, user *aigateway.User) api.Key {
	return api.Key{
		ID: k.ID, User: user.Name, Name: k.Name, Key: k.Hint, Models: append([]string{}, k.Bounds.Models...), Networks: people.NetworkNames(k),
		Limit: k.Bounds.Limit, Rules: viewRules(&k.Bounds.Rules), Tags: people.TagTexts(k), Disabled: k.Disabled, UserDisabled: user.Disabled,
		Created: answer.Time(k.Created), Expires: answer.OptionalTime(k.Ends()), Used: answer.OptionalTime(k.Used),
		Replaced: replacedUntil(k),
	}
}

// replacedUntil returns the time until which the secret before the last rotation of a key is
// valid, nil if it is not.
func replacedUntil(k *aigateway.StoredKey) *time.Time {
	if !time.Now().Before(k.Replaced.Until) {
		return nil
	}
	return answer.OptionalTime(k.Replaced.Until)
}

var errOthersKeys = answer.Refuse(http.StatusForbidden, "only administrators may see the keys of others")

// mostWithLimits is the largest size of a page with what is left of limits, which is read for each
// key.
const mostWithLimits = 100

// list answers GET /api/v1/keys with a page of keys, the latest first. Users get their own keys,
// administrators of a team those of the team that the query names, and administrators all, or
// those of the user or the team that the query names. Of keys that the query names by their ids,
// all get those that they may see.
func (k keys) list(c *call.Call) (any, error) {
	page, err := c.Page(aigateway.KeyOrders...)
	if err != nil {
		return nil, err
	}
	withLimits := c.URL.Query().Get("limits") == "true"
	if withLimits {
		page.Limit = min(page.Limit, mostWithLimits)
	}
	found, total, err := k.found(c, page)
	if err != nil {
		return nil, err
	}
	views, err := k.views(c, found)
	for i := range views {
		if err == nil && withLimits {
			views[i].Limits, err = k.people.LimitsOf(c, views[i].ID)
		}
	}
	if err != nil {
		return nil, err
	}
	return call.Listed(page, views, total), nil
}

// found returns the keys that the query selects.
func (k keys) found(c *call.Call, page aigateway.Page) ([]aigateway.StoredKey, int, error) {
	if ids := c.URL.Query()["id"]; len(ids) > 0 {
		return k.named(c, ids)
	}
	name := c.URL.Query().Get("user")
	team, _, err := c.OfTeam()
	switch {
	case err != nil:
		return nil, 0, err
	case team != "" && name != "":
		return nil, 0, answer.Invalid("team and user cannot be used together")
	case team != "":
		return k.people.Store.Teams().Keys(c.Context(), team, page)
	case !c.MayAskFor(name):
		return nil, 0, errOthersKeys
	case !c.IsAdmin():
		return k.people.Store.Keys(c.Context(), c.User.ID, page)
	case name == "":
		return k.people.Store.Keys(c.Context(), aigateway.AnyUser, page)
	}
	user, err := k.people.ByName(c.Context(), name)
	if err != nil {
		return nil, 0, err
	}
	return k.people.Store.Keys(c.Context(), user.ID, page)
}

// mostNamed is the largest number of ids in a query, since each is read by itself.
const mostNamed = 100

// named returns the keys with these ids that the caller may see, in the order of the ids.
func (k keys) named(c *call.Call, ids []string) (found []aigateway.StoredKey, _ int, _ error) {
	if len(ids) > mostNamed {
		return nil, 0, answer.Invalid("at most %d keys can be named by their ids", mostNamed)
	}
	for _, text := range ids {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id < 1 {
			return nil, 0, answer.Invalid("id must be the number of a key")
		}
		key, err := k.visible(c, id)
		switch {
		case errors.Is(err, aigateway.ErrNotFound):
		case err != nil:
			return nil, 0, err
		default:
			found = append(found, *key)
		}
	}
	return found, len(found), nil
}

// views returns the views of keys, except of those whose user was deleted after they
// were read: they were deleted, too. It reads each user once from the store.
func (k keys) views(c *call.Call, found []aigateway.StoredKey) ([]api.Key, error) {
	views, owners := []api.Key{}, make(map[int64]*aigateway.User)
	for i := range found {
		id := found[i].UserID
		if owners[id] == nil {
			user, err := k.people.Store.User(c.Context(), id)
			if errors.Is(err, aigateway.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			owners[id] = user
		}
		views = append(views, viewKey(&found[i], owners[id]))
	}
	return views, nil
}

// visible returns the key with an id. For users, the keys of others do not exist, unless they
// administrate the team of a key.
func (k keys) visible(c *call.Call, id int64) (*aigateway.StoredKey, error) {
	key, err := k.people.Store.Key(c.Context(), aigateway.AnyUser, id)
	if err == nil && !c.IsAdmin() && key.UserID != c.User.ID {
		err = c.CheckKey(c.Context(), key)
	}
	return key, err
}

// key returns the visible key that the path identifies, and its owner.
func (k keys) key(c *call.Call) (*aigateway.StoredKey, *aigateway.User, error) {
	key, err := k.visible(c, c.ID())
	if err != nil {
		return nil, nil, err
	}
	user, err := k.people.Store.User(c.Context(), key.UserID)
	return key, user, err
}

// managed is key for a change. Administrators manage the keys of users whom they manage,
// and their own.
func (k keys) managed(c *call.Call) (*aigateway.StoredKey, *aigateway.User, error) {
	key, user, err := k.key(c)
	if err == nil && !isOwn(c, user) && !c.Manages(c.Context(), user, key.Bounds.Limit) {
		err = call.ErrRole
	}
	return key, user, err
}

// show answers GET /api/v1/keys/{id}.
func (k keys) show(c *call.Call) (any, error) {
	key, user, err := k.key(c)
	if err != nil {
		return nil, err
	}
	view := viewKey(key, user)
	if c.URL.Query().Get("limits") == "true" {
		view.Limits, err = k.people.LimitsOf(c, key.ID)
	}
	return view, err
}

// keyFields are the members of the body of a request about a key. An empty expiry means never.
type keyFields struct {
	Name     *string  `json:"name"`
	Models   []string `json:"models"`
	Networks []string `json:"from"`
	Limit    *string  `json:"limit"`
	Tags     []string `json:"tags"`
	Expires  *string  `json:"expires"`
	Disabled *bool    `json:"disabled"`
	people.RuleFields
}

// change returns the change of a key, with the team that its limit may be.
func (f keyFields) change(c *call.Call) (change people.KeyChange, err error) {
	change = people.KeyChange{Name: f.Name, Limit: f.Limit, Disabled: f.Disabled, LimitField: "limit"}
	if f.Expires != nil {
		change.Expires = new(time.Time)
	}
	if call.ValueOr(f.Expires, "") != "" {
		if *change.Expires, err = aigateway.ParseDate(*f.Expires); err != nil {
			return change, answer.Invalid("expires must be YYYY-MM-DD or an RFC 3339 time, in the years 1970 to 9999 of UTC")
		}
	}
	if f.Models != nil {
		if change.Models, err = people.Patterns("models", f.Models); err != nil {
			return change, err
		}
	}
	if f.Networks != nil {
		if change.Networks, err = people.Networks("from", f.Networks); err != nil {
			return change, err
		}
	}
	if f.Tags != nil {
		if change.Tags, err = people.Tags("tags", f.Tags); err != nil {
			return change, err
		}
	}
	if change.Rules, err = f.RuleFields.Read(); err != nil {
		return change, err
	}
	return change, change.ReadTeam(c)
}

// newKey is the body of a request for a key. Users make it for themselves, if it names no owner.
type newKey struct {
	User string `json:"user"`
	keyFields
}

// add answers POST /api/v1/keys. Only this answer contains the key.
func (k keys) add(c *call.Call, wanted newKey) (any, error) {
	if c.IsMachine() && wanted.User == "" {
		return nil, answer.Invalid("user is required")
	}
	if err := call.Require("name", call.ValueOr(wanted.Name, "")); err != nil {
		return nil, err
	}
	change, err := wanted.change(c)
	if err != nil {
		return nil, err
	}
	owner := c.User
	if wanted.User != "" && (owner == nil || call.FoldName(wanted.User) != owner.Name) {
		if owner, err = k.ownerOf(c, wanted.User, change); err != nil {
			return nil, err
		}
	}
	key, secret, err := k.people.CreateKey(c, change, owner)
	if err != nil {
		return nil, err
	}
	view := viewKey(key, owner)
	view.Key = string(secret)
	return view, nil
}

// ownerOf returns the user for whom another one makes a key.
func (k keys) ownerOf(c *call.Call, name string, change people.KeyChange) (*aigateway.User, error) {
	if !c.IsAdmin() && !change.IsOfLedTeam() {
		return nil, answer.Refuse(http.StatusForbidden, "limit must be the name of a team that you administrate")
	}
	// Who gets here may know which users exist: they list users, or add them to their team.
	user, err := k.people.ByName(c.Context(), name)
	if err != nil {
		return nil, err
	}
	limit := call.ValueOr(change.Limit, "")
	if !c.IsAdmin() { // before the role is compared, so that the answer does not reveal it
		if err := call.CheckMember(c.Context(), k.people.Store, user, limit); err != nil {
			return nil, err
		}
	}
	if !c.Manages(c.Context(), user, limit) {
		return nil, call.ErrRole
	}
	return user, nil
}

// change answers PATCH /api/v1/keys/{id}. Absent members stay unchanged.
func (k keys) change(c *call.Call, fields keyFields) (any, error) {
	change, err := fields.change(c)
	if err != nil {
		return nil, err
	}
	key, user, err := k.managed(c)
	if err != nil {
		return nil, err
	}
	limit := key.Bounds.Limit
	if err := change.CheckBounds(c, key); err != nil {
		return nil, err
	}
	changed, err := k.people.Store.ChangeKey(c.Context(), user.ID, key.ID, func(key *aigateway.StoredKey) error {
		if !c.IsAdmin() && !isOwn(c, user) && key.Bounds.Limit != limit { // it has left the team meanwhile
			return aigateway.ErrNotFound
		}
		return k.people.Apply(c, change, key)
	})
	if err != nil {
		return nil, err
	}
	return viewKey(changed, user), nil
}

// refusal answers GET /api/v1/keys/{id}/refusal. The state of a rule whose use is that of others has it for
// administrators alone, as in lists of limits; the reason names the rule.
func (k keys) refusal(c *call.Call) (any, error) {
	key, user, err := k.key(c)
	if err != nil {
		return nil, err
	}
	reason, rule, err := k.people.Refusal(c, key, user)
	if err != nil {
		return nil, err
	}
	refusal := api.Refusal{Reason: reason}
	if rule != nil {
		refusal.End = rule.Renews
	}
	if rule != nil && seesUse(c, key, rule) {
		refusal.Limit = rule
	}
	return refusal, nil
}

// seesUse reports whether the user of a call may see the use of a rule that bounds a key, which may be that of
// others. Administrators of a team see that of the team.
func seesUse(c *call.Call, key *aigateway.StoredKey, rule *aigateway.LimitState) bool {
	ofTeam := rule.Per == aigateway.PerGroup && rule.Limit == key.Bounds.Limit
	return c.IsAdmin() || !rule.Per.IsShared() || ofTeam && c.CheckKey(c.Context(), key) == nil
}

// rotation is the body of a request for another secret. Without an overlap, the present one ends at
// once.
type rotation struct {
	Overlap string `json:"overlap"`
}

// rotate answers POST /api/v1/keys/{id}/rotation. Only this answer contains the new secret.
func (k keys) rotate(c *call.Call, wanted rotation) (any, error) {
	overlap, err := people.ReadOverlap(wanted.Overlap)
	if err != nil {
		return nil, err
	}
	key, user, err := k.managed(c)
	if err != nil {
		return nil, err
	}
	rotated, secret, err := k.people.Rotate(c, key, overlap)
	if err != nil {
		return nil, err
	}
	view := viewKey(rotated, user)
	view.Key = string(secret)
	return view, nil
}

// remove answers DELETE /api/v1/keys/{id}.
func (k keys) remove(c *call.Call) (any, error) {
	key, user, err := k.managed(c)
	if err != nil {
		return nil, err
	}
	return nil, k.people.Store.DeleteKey(c.Context(), user.ID, key.ID)
}
