package agents

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Settings are settings that Claude Code gets from the gateway, and that its user cannot change.
type Settings struct {
	// File is a JSON file with the object of a managed-settings.json of Claude Code, at most
	// 256 KiB. It is read when the configuration is loaded.
	File string `json:"file"`

	// Groups are the groups of an issuer, and the teams, whose members get the settings.
	// Default: everybody gets them.
	Groups []string `json:"groups,omitempty"`

	document []byte // the answer
	checksum string
}

const maxSettings = 256 << 10

// provision reads the file.
func (s *Settings) provision() error {
	if s.File == "" {
		return errors.New("agents: settings need a file")
	}
	content, err := os.ReadFile(s.File)
	if err != nil {
		return fmt.Errorf("agents: reading settings: %w", err)
	}
	if len(content) > maxSettings {
		return fmt.Errorf("agents: settings %s: the file must be at most %d bytes", s.File, maxSettings)
	}
	settings, err := decodeSettings(content)
	if err != nil {
		return fmt.Errorf("agents: settings %s: the file must be one JSON object: %w", s.File, err)
	}
	var plain bytes.Buffer // with sorted keys and without spaces, as Claude Code computes the checksum
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(settings); err != nil {
		return fmt.Errorf("agents: settings %s: %w", s.File, err)
	}
	sorted := bytes.TrimSpace(plain.Bytes())
	sum := sha256.Sum256(sorted)
	s.checksum = "sha256:" + hex.EncodeToString(sum[:])
	s.document = fmt.Appendf(nil, `{"uuid":%q,"checksum":%q,"settings":%s}`, s.checksum, s.checksum, sorted)
	return nil
}

// decodeSettings returns the object of a file, in which each name must be unique: of two members with one
// name, the client could use another one than the operator looks at.
func decodeSettings(content []byte) (settings map[string]any, err error) {
	c := jsonscan.New(content)
	kind := c.Kind()
	readUnique(&c)
	if err := c.Finish(); err != nil {
		return nil, err
	}
	if kind != jsonscan.Object {
		return nil, fmt.Errorf("it has the kind %s", kind)
	}
	return settings, json.Unmarshal(content, &settings)
}

// readUnique consumes a value, with an error of the cursor for a name that occurs twice in an object.
func readUnique(c *jsonscan.Cursor) {
	switch {
	case c.EnterMap():
		for c.Member() {
			readUnique(c)
		}
	case c.EnterArray():
		for c.Element() {
			readUnique(c)
		}
	default:
		c.Skip()
	}
}

// isFor reports whether a person with these groups gets the settings.
func (s *Settings) isFor(groups []string) bool {
	return len(s.Groups) == 0 || slices.ContainsFunc(s.Groups, func(g string) bool { return slices.Contains(groups, g) })
}

// managedSettings answers GET /managed/settings with the settings of the person whose key the request
// has.
func (a *Agents) managedSettings(w http.ResponseWriter, c *call.Call) {
	var groups []string
	key, err := a.key(c)
	if err == nil {
		groups, err = a.groups(c, key)
	}
	if err != nil {
		a.refuseKey(w, err)
		return
	}
	for _, s := range a.Settings {
		if !s.isFor(groups) {
			continue
		}
		w.Header().Set("ETag", `"`+s.checksum+`"`)
		if c.Header.Get("If-None-Match") == `"`+s.checksum+`"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		answer.Document{ContentType: "application/json", Caching: "no-store", Body: s.document}.Write(w)
		return
	}
	writeFault(w, http.StatusNotFound, "not_found_error", "this gateway has no settings for you")
}

// writeFault writes an error in the format of the messages API.
func writeFault(w http.ResponseWriter, status int, kind, message string) {
	answer.WriteStatus(w, status, map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": message}})
}

// errNetwork is the reason for which a key gets nothing from this address; requests of models have the same text.
var errNetwork = errors.New("this key may not be used from this address")

// refuseKey writes the reason for which a request with a key gets nothing.
func (a *Agents) refuseKey(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, aigateway.ErrNotFound):
		w.Header().Set("X-Should-Retry", "false") // without it, Claude Code tries for minutes
		w.Header().Set("WWW-Authenticate", aigateway.Challenge)
		writeFault(w, http.StatusUnauthorized, "authentication_error", "the key is unknown or has expired: sign in again")
	case errors.Is(err, errNetwork):
		w.Header().Set("X-Should-Retry", "false")
		writeFault(w, http.StatusForbidden, "permission_error", err.Error())
	default:
		problem := answer.ProblemOf(a.people.Logger, err)
		answer.SetHeaders(w, problem)
		writeFault(w, problem.Status, "api_error", problem.Message)
	}
}

// key returns the key that a request has.
func (a *Agents) key(c *call.Call) (*aigateway.Key, error) {
	scheme, secret, _ := strings.Cut(c.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return nil, aigateway.ErrNotFound
	}
	secret = strings.TrimSpace(secret)
	key := a.people.Store.Lookup(call.Digest(secret))
	if shared, ok := a.people.Store.(aigateway.SharedKeySource); ok && key == nil {
		key = shared.LookupIssued(c.Context(), secret)
	}
	switch {
	case key == nil || key.Disabled || key.Expired(a.clock()):
		return nil, aigateway.ErrNotFound
	case !key.AllowsFrom(c.Address()):
		return nil, errNetwork
	}
	return key, nil
}

// groups returns the groups and the teams of the person with a key.
func (a *Agents) groups(c *call.Call, key *aigateway.Key) ([]string, error) {
	user, err := a.people.Store.UserByName(c.Context(), key.Owner)
	if err != nil {
		return nil, err
	}
	var groups []string
	if store, ok := a.people.Store.(aigateway.IdentityStore); ok {
		identities, err := store.IdentitiesOf(c.Context(), user.ID)
		if err != nil {
			return nil, err
		}
		for i := range identities {
			groups = append(groups, identities[i].Groups...)
		}
	}
	teams, err := a.people.Store.Teams().Of(c.Context(), user.ID)
	for i := range teams {
		groups = append(groups, teams[i].Team.Name)
	}
	return groups, err
}
