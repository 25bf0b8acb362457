package agents

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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

	settings map[string]any // of the file
	plain    *settingsAnswer
}

// settingsAnswer is an answer with settings.
type settingsAnswer struct {
	document []byte
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
	s.settings = settings
	if s.plain, err = answerWith(settings); err != nil {
		return fmt.Errorf("agents: settings %s: %w", s.File, err)
	}
	return nil
}

// answerWith returns the answer with settings, whose keys must be sorted at every level.
func answerWith(settings map[string]any) (*settingsAnswer, error) {
	var plain bytes.Buffer // with sorted keys and without spaces, as Claude Code computes the checksum
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(settings); err != nil {
		return nil, err
	}
	sorted := bytes.TrimSpace(plain.Bytes())
	sum := sha256.Sum256(sorted)
	checksum := "sha256:" + hex.EncodeToString(sum[:])
	return &settingsAnswer{fmt.Appendf(nil, `{"uuid":%q,"checksum":%q,"settings":%s}`, checksum, checksum, sorted), checksum}, nil
}

// pricingMember is the member of settings with prices.
const pricingMember = "modelPricing"

// modelRates are the prices of a model as Claude Code reads them: US dollars for a million tokens, with sorted
// keys. It refuses those above highestRate.
type modelRates struct {
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
}

const highestRate = 10_000

// priced returns the answer with the prices of models, unless the file has prices, also if it has none but
// names them.
func (s *Settings) priced(prices []aigateway.ModelPrice) (*settingsAnswer, error) {
	if _, own := s.settings[pricingMember]; own {
		return s.plain, nil
	}
	rates := make(map[string]modelRates)
	for i := range prices {
		p := &prices[i]
		if !isListed(p) && max(p.Input, p.Output, p.CacheRead, p.CacheWrite) <= highestRate {
			rates[p.Model] = modelRates{p.CacheRead, p.CacheWrite, p.Input, p.Output}
		}
	}
	if len(rates) == 0 {
		return s.plain, nil
	}
	settings := maps.Clone(s.settings)
	settings[pricingMember] = map[string]any{"overrides": rates}
	return answerWith(settings)
}

// isListed reports whether a price is one that Claude Code has itself, with what this form leaves out: those
// of long prompts and of caches of an hour.
func isListed(p *aigateway.ModelPrice) bool {
	return p.Builtin && p.Model == p.Upstream && strings.HasPrefix(p.Model, "claude-")
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
// has, and the prices of the models that the key may use.
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
		var prices []aigateway.ModelPrice
		if a.prices != nil {
			prices = a.prices(key.Allows)
		}
		shown, err := s.priced(prices)
		if err != nil {
			a.refuseKey(w, err)
			return
		}
		w.Header().Set("ETag", `"`+shown.checksum+`"`)
		if c.Header.Get("If-None-Match") == `"`+shown.checksum+`"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		answer.Document{ContentType: "application/json", Caching: "no-store", Body: shown.document}.Write(w)
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
	key := find(c, a.people.Store, strings.TrimSpace(secret))
	switch {
	case key == nil || key.Disabled || key.Expired(a.clock()):
		return nil, aigateway.ErrNotFound
	case !key.AllowsFrom(c.Address()):
		return nil, errNetwork
	}
	return key, nil
}

// find returns the key of a store with a secret, nil if there is none.
func find(c *call.Call, store aigateway.Store, secret string) *aigateway.Key {
	key := store.Lookup(call.Digest(secret))
	if shared, ok := store.(aigateway.SharedKeySource); ok && key == nil {
		key = shared.LookupIssued(c.Context(), secret)
	}
	return key
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
