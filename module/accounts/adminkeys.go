package accounts

import (
	"errors"
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// adminKey is an API key in answers for administrators, with the names of the Caddyfile.
type adminKey struct {
	keyLimits
	ID           int64    `json:"id"`
	User         string   `json:"user"`
	Name         string   `json:"name"`
	Key          string   `json:"key"` // shortened, except in the answer to its creation
	Models       []string `json:"models"`
	From         []string `json:"from"`
	Limit        string   `json:"limit"`
	Disabled     bool     `json:"disabled"`
	UserDisabled bool     `json:"user_disabled"` // the key is refused, whatever Disabled is
	keyTimes
}

// keyTimes are the times of a key in answers for administrators.
type keyTimes struct {
	Created time.Time  `json:"created"`
	Expires *time.Time `json:"expires"` // null: never
	Used    *time.Time `json:"used"`    // null: never
}

func viewAdminKey(k *aigateway.StoredKey, user *aigateway.User) adminKey {
	return adminKey{
		ID: k.ID, User: user.Name, Name: k.Name, Key: k.Hint, Models: append([]string{}, k.Models...), From: networkNames(k),
		Limit: k.Limit, Disabled: k.Disabled, UserDisabled: user.Disabled, keyTimes: keyTimes{answer.Time(k.Created), answer.OptionalTime(k.Expires), answer.OptionalTime(k.Used)},
	}
}

// listKeys answers GET /ai_gateway/keys with all keys. The query may restrict the list to
// the keys of one user (user) or of one team (team), and to names that contain a text (search).
func (m machine) listKeys(c *call.Call) (any, error) {
	list, userOf := []adminKey{}, m.users.byID(c.Context())
	err := eachPage(c, func(page aigateway.Page) (int, error) {
		found, _, err := m.foundKeys(c, page)
		if err != nil {
			return 0, err
		}
		shown, err := viewAdminKeys(found, userOf)
		list = append(list, shown...)
		return len(found), err
	})
	return list, err
}

// pageOfKeys answers GET /api/keys with a page of the keys of all users, the latest first.
// The query may restrict the list to the keys of one user (user) or of one team (team), and to
// names that contain a text (keyword). Administrators of a team must name it.
func (m machine) pageOfKeys(c *call.Call) (any, error) {
	view, page, err := c.Page()
	if err != nil {
		return nil, err
	}
	found, total, err := m.foundKeys(c, page)
	if err != nil {
		return nil, err
	}
	shown, err := viewAdminKeys(found, m.users.byID(c.Context()))
	for i := range shown {
		if err == nil {
			shown[i].Limits, err = m.keys.limitsOf(c, shown[i].ID)
		}
	}
	view.Items, view.Total = shown, total
	return view, err
}

// foundKeys returns the keys that the query selects.
func (m machine) foundKeys(c *call.Call, page aigateway.Page) ([]aigateway.StoredKey, int, error) {
	team, _, err := c.OfTeam()
	switch {
	case err != nil:
		return nil, 0, err
	case team != "" && c.URL.Query().Get("user") != "":
		return nil, 0, answer.Invalid("team and user cannot be used together")
	case team != "":
		return m.keys.store.Teams().Keys(c.Context(), team, page)
	case !c.IsAdmin():
		return nil, 0, answer.Refuse(http.StatusForbidden, "only administrators may see all keys: name your team")
	}
	owner, err := m.ownerOf(c)
	if err != nil {
		return nil, 0, err
	}
	return m.keys.store.Keys(c.Context(), owner, page)
}

// ownerOf returns the ID of the user that the query names, AnyUser if it names none.
func (m machine) ownerOf(c *call.Call) (int64, error) {
	name := c.URL.Query().Get("user")
	if name == "" {
		return aigateway.AnyUser, nil
	}
	user, err := m.users.byName(c, name)
	if err != nil {
		return 0, err
	}
	return user.ID, nil
}

// viewAdminKeys returns the views of keys, except of those whose user was deleted after they
// were read: they were deleted, too.
func viewAdminKeys(keys []aigateway.StoredKey, userOf func(int64) (*aigateway.User, error)) ([]adminKey, error) {
	list := []adminKey{}
	for i := range keys {
		user, err := userOf(keys[i].UserID)
		switch {
		case errors.Is(err, aigateway.ErrNotFound):
		case err != nil:
			return nil, err
		default:
			list = append(list, viewAdminKey(&keys[i], user))
		}
	}
	return list, nil
}

// showKey answers GET /api/keys/{id} and GET /ai_gateway/keys/{id}.
func (m machine) showKey(c *call.Call) (any, error) {
	key, user, err := m.key(c)
	if err != nil {
		return nil, err
	}
	return viewAdminKey(key, user), nil
}

// key returns the key that the path identifies, and its owner. For administrators of teams,
// keys of other teams do not exist.
func (m machine) key(c *call.Call) (*aigateway.StoredKey, *aigateway.User, error) {
	key, err := m.keys.store.Key(c.Context(), aigateway.AnyUser, c.ID())
	if err == nil && !c.IsAdmin() {
		err = c.CheckKey(c.Context(), key)
	}
	if err != nil {
		return nil, nil, err
	}
	user, err := m.users.store.User(c.Context(), key.UserID)
	return key, user, err
}

// managedKey is key for a change. Administrators manage the keys of users whom they manage,
// and their own.
func (m machine) managedKey(c *call.Call) (*aigateway.StoredKey, *aigateway.User, error) {
	key, user, err := m.key(c)
	if err == nil && !c.Manages(c.Context(), user, key.Limit) {
		err = call.ErrRole
	}
	return key, user, err
}

// addKey answers POST /api/keys and POST /ai_gateway/keys. Only this answer contains the key.
func (m machine) addKey(c *call.Call) (any, error) {
	if err := c.Form.Require("user", "name"); err != nil {
		return nil, err
	}
	change, err := readAdminKey(c.Form)
	if err != nil {
		return nil, err
	}
	if err := change.readTeam(c); err != nil {
		return nil, err
	}
	if !c.IsAdmin() && (change.team == nil || !change.team.Admin) {
		return nil, answer.Refuse(http.StatusForbidden, "limit must be the name of a team that you administrate")
	}
	// Who gets here may know which users exist: they list users, or add them to their team.
	user, err := m.users.byName(c, *c.Form.Text("user"))
	if err != nil {
		return nil, err
	}
	limit := call.ValueOr(change.limit, "")
	if !c.IsAdmin() { // before the role is compared, so that the answer does not reveal it
		if err := call.CheckMember(c.Context(), m.users.store, user, limit); err != nil {
			return nil, err
		}
	}
	if !c.Manages(c.Context(), user, limit) {
		return nil, call.ErrRole
	}
	key := &aigateway.StoredKey{UserID: user.ID}
	if err := change.apply(c.User, key, m.keys.limits); err != nil {
		return nil, err
	}
	secret, err := m.keys.create(c.Context(), key)
	if err != nil {
		return nil, err
	}
	view := viewAdminKey(key, user)
	view.Key = string(secret)
	return view, nil
}

// changeKey answers PATCH /api/keys/{id} and PATCH /ai_gateway/keys/{id}. Absent fields stay
// unchanged.
func (m machine) changeKey(c *call.Call) (any, error) {
	change, err := readAdminKey(c.Form)
	if err != nil {
		return nil, err
	}
	key, user, err := m.managedKey(c)
	if err == nil {
		err = change.readTeam(c)
	}
	if err != nil {
		return nil, err
	}
	limit := key.Limit
	changed, err := m.keys.store.ChangeKey(c.Context(), user.ID, key.ID, func(key *aigateway.StoredKey) error {
		if !c.IsAdmin() && key.Limit != limit { // it has left the team meanwhile
			return aigateway.ErrNotFound
		}
		return change.apply(c.User, key, m.keys.limits)
	})
	if err != nil {
		return nil, err
	}
	return viewAdminKey(changed, user), nil
}

// readAdminKey reads the fields of a key, whose names are those of the Caddyfile. An empty
// expiry means never.
func readAdminKey(f *call.Form) (change keyChange, err error) {
	change.limitField = "limit"
	change.name, change.limit, change.disabled = f.Text("name"), f.Text("limit"), f.Flag("disabled")
	expires, models, from := f.Text("expires"), f.Texts("models"), f.Texts("from")
	if err := f.Err(); err != nil {
		return change, err
	}
	switch {
	case expires == nil:
	case *expires == "":
		change.expires = new(time.Time)
	default:
		date, err := aigateway.ParseDate(*expires)
		if err != nil {
			return change, answer.Invalid("expires must be YYYY-MM-DD or an RFC 3339 time, in the years 1970 to 9999 of UTC")
		}
		change.expires = &date
	}
	if models != nil {
		if change.models, err = patterns("models", models); err != nil {
			return change, err
		}
	}
	if from != nil {
		change.networks, err = networks("from", from)
	}
	return change, err
}

// removeKey answers DELETE /api/keys/{id} and DELETE /ai_gateway/keys/{id}.
func (m machine) removeKey(c *call.Call) (any, error) {
	key, user, err := m.managedKey(c)
	if err != nil {
		return nil, err
	}
	return nil, m.keys.store.DeleteKey(c.Context(), user.ID, key.ID)
}
