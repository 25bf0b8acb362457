package accounts

import (
	"errors"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// adminKey is an API key in answers for the administrator of the machine.
type adminKey struct {
	ID           int64      `json:"id"`
	User         string     `json:"user"`
	Name         string     `json:"name"`
	Key          string     `json:"key"` // shortened, except in the answer to its creation
	Models       []string   `json:"models"`
	From         []string   `json:"from"`
	Limit        string     `json:"limit"`
	Disabled     bool       `json:"disabled"`
	UserDisabled bool       `json:"user_disabled"` // the key is refused, whatever Disabled is
	Created      time.Time  `json:"created"`
	Expires      *time.Time `json:"expires"` // null: never
	Used         *time.Time `json:"used"`    // null: never
}

func viewAdminKey(k *aigateway.StoredKey, user *aigateway.User) adminKey {
	return adminKey{
		ID: k.ID, User: user.Name, Name: k.Name, Key: k.Hint, Models: append([]string{}, k.Models...), From: networkNames(k),
		Limit: k.Limit, Disabled: k.Disabled, UserDisabled: user.Disabled, Created: clampTime(k.Created), Expires: optionalTime(k.Expires), Used: optionalTime(k.Used),
	}
}

// listKeys answers GET /ai_gateway/keys. The query may restrict the list to the
// keys of one user (user), and to names that contain a text (search).
func (m machine) listKeys(c *call) (any, error) {
	owner := aigateway.AnyUser
	if name := c.URL.Query().Get("user"); name != "" {
		user, err := m.users.byName(c, name)
		if err != nil {
			return nil, err
		}
		owner = user.ID
	}
	list, userOf := []adminKey{}, m.users.byID(c.Context())
	err := eachPage(c, func(page aigateway.Page) (int, error) {
		found, _, err := m.keys.store.Keys(c.Context(), owner, page)
		for i := range found {
			user, err := userOf(found[i].UserID)
			if errors.Is(err, aigateway.ErrNotFound) {
				continue // the user was deleted after the page was read, with the keys
			}
			if err != nil {
				return 0, err
			}
			list = append(list, viewAdminKey(&found[i], user))
		}
		return len(found), err
	})
	return list, err
}

// addKey answers POST /ai_gateway/keys. Only this answer contains the key.
func (m machine) addKey(c *call) (any, error) {
	if err := c.form.require("user", "name"); err != nil {
		return nil, err
	}
	change, err := readAdminKey(c.form)
	if err != nil {
		return nil, err
	}
	user, err := m.users.byName(c, *c.form.text("user"))
	if err != nil {
		return nil, err
	}
	key := &aigateway.StoredKey{UserID: user.ID}
	if err := change.apply(nil, key, m.keys.limits); err != nil {
		return nil, err
	}
	secret, err := m.keys.create(c.Context(), nil, key)
	if err != nil {
		return nil, err
	}
	view := viewAdminKey(key, user)
	view.Key = string(secret)
	return view, nil
}

// readAdminKey reads the fields of a key, whose names are those of the Caddyfile.
func readAdminKey(f *form) (change keyChange, err error) {
	change.name, change.limit = f.text("name"), f.text("limit")
	expires, models, from := f.text("expires"), f.texts("models"), f.texts("from")
	if err := f.err(); err != nil {
		return change, err
	}
	if expires != nil {
		date, err := aigateway.ParseDate(*expires)
		if err != nil {
			return change, invalid("expires must be YYYY-MM-DD or an RFC 3339 time, in the years 1970 to 9999 of UTC")
		}
		change.expires = &date
	}
	if change.models, err = patterns("models", models); err != nil {
		return change, err
	}
	change.networks, err = networks("from", from)
	return change, err
}

// removeKey answers DELETE /ai_gateway/keys/{id}.
func (m machine) removeKey(c *call) (any, error) {
	key, err := m.keys.store.Key(c.Context(), aigateway.AnyUser, c.id())
	if err != nil {
		return nil, err
	}
	if err := m.keys.store.DeleteKey(c.Context(), aigateway.AnyUser, key.ID); err != nil {
		return nil, err
	}
	m.keys.audit("key deleted", nil, key.UserID, key.ID)
	return struct{}{}, nil
}
