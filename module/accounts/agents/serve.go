package agents

import (
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// The paths of the protocol. Claude Code knows those without the metadata, too.
const (
	metadataPath = "/.well-known/oauth-authorization-server"
	protocolPath = "/protocol"
	beginPath    = "/oauth/device_authorization"
	tokenPath    = "/oauth/token"
	revokePath   = "/oauth/revoke"
	devicePath   = "/device" // which a person types
	settingsPath = "/managed/settings"
	usagePath    = "/api/oauth/usage"
)

// Console is the page of the console on which a person types a code, below the address of the gateway.
const Console = "/console/device"

// endpoint is what answers one of the paths.
type endpoint struct {
	method string
	serve  func(*Agents, http.ResponseWriter, *call.Call)
}

var endpoints = map[string]endpoint{
	metadataPath: {http.MethodGet, (*Agents).metadata},
	protocolPath: {http.MethodGet, (*Agents).protocol},
	beginPath:    {http.MethodPost, (*Agents).authorize},
	tokenPath:    {http.MethodPost, (*Agents).token},
	revokePath:   {http.MethodPost, (*Agents).revocation},
	devicePath:   {http.MethodGet, (*Agents).device},
	settingsPath: {http.MethodGet, (*Agents).managedSettings},
	usagePath:    {http.MethodGet, (*Agents).usage},
}

// Serves reports whether a path is one of the protocol. Without agents, none is.
func (a *Agents) Serves(path string) bool { return a != nil && endpoints[path].serve != nil }

// Serve answers a call whose path Serves accepts.
func (a *Agents) Serve(w http.ResponseWriter, c *call.Call) {
	e := endpoints[c.URL.Path]
	if c.Method != e.method && (c.Method != http.MethodHead || e.method != http.MethodGet) {
		w.Header().Set("Allow", e.method)
		writeError(w, http.StatusMethodNotAllowed, "invalid_request", "this path accepts "+e.method)
		return
	}
	e.serve(a, w, c)
}

// metadata answers GET /.well-known/oauth-authorization-server with the document of RFC 8414. For
// clients of servers of tools, which name their protocol, there is none: their sign-in needs an
// authorization endpoint.
func (a *Agents) metadata(w http.ResponseWriter, c *call.Call) {
	if c.Header.Get("Mcp-Protocol-Version") != "" {
		writeError(w, http.StatusNotFound, "invalid_request", "clients of MCP servers do not sign in here: send a key of the gateway")
		return
	}
	base := c.PublicURL()
	answer.WriteJSON(w, map[string]any{
		"issuer": base, "device_authorization_endpoint": base + beginPath, "token_endpoint": base + tokenPath, "revocation_endpoint": base + revokePath,
		"grant_types_supported": []string{deviceGrant, refreshGrant}, "response_types_supported": []string{}, "token_endpoint_auth_methods_supported": []string{"none"},
	})
}

// protocolText is what a person reads who looks for the protocol.
const protocolText = `# The protocol of this gateway

Claude Code and other programs sign in here without a key:

- GET ` + metadataPath + ` names the endpoints (RFC 8414).
- POST ` + beginPath + ` begins a sign-in (RFC 8628). A person who is logged in types the code at ` + devicePath + `.
- POST ` + tokenPath + ` returns tokens for the device code, and for a refresh token.
- POST ` + revokePath + ` ends the sign-in of a refresh token or an access token (RFC 7009).
- GET ` + settingsPath + ` returns the settings of Claude Code for the person, with the prices of models, 404 if there are none.
- GET ` + usagePath + ` returns the budgets of the person for Claude Code, or what was spent if there are none.

The access token is a key: send it as "Authorization: Bearer <token>" to /v1/messages and all other paths. GET /api/openapi.json describes them.
`

// protocol answers GET /protocol.
func (a *Agents) protocol(w http.ResponseWriter, _ *call.Call) {
	answer.Document{ContentType: "text/markdown; charset=utf-8", Caching: "no-cache", Body: []byte(protocolText)}.Write(w)
}

// device answers GET /device: it sends a browser to the page of the console. A code in the address
// is left out, so that no link contains one.
func (a *Agents) device(w http.ResponseWriter, _ *call.Call) { answer.Redirect(Console[1:]).Write(w) }

// authorize answers POST /oauth/device_authorization.
func (a *Agents) authorize(w http.ResponseWriter, c *call.Call) {
	if _, err := readForm(w, c); err != nil {
		a.refuse(w, err)
		return
	}
	started, err := a.begin(c)
	if err != nil {
		a.refuse(w, err)
		return
	}
	answer.WriteJSON(w, map[string]any{
		"device_code": started.device, "user_code": shownCode(started.code), "verification_uri": c.PublicURL() + devicePath,
		"expires_in": int(codeFor.Seconds()), "interval": int(pause.Seconds()),
	})
}

// The grants.
const (
	deviceGrant  = "urn:ietf:params:oauth:grant-type:device_code"
	refreshGrant = "refresh_token"
)

// tokenView is the answer with tokens. Claude Code shows the account, and asks the person to confirm it.
type tokenView struct {
	Access  string `json:"access_token"`
	Type    string `json:"token_type"`
	Expires int64  `json:"expires_in"` // seconds
	Refresh string `json:"refresh_token"`
	Account string `json:"email"`
}

// token answers POST /oauth/token.
func (a *Agents) token(w http.ResponseWriter, c *call.Call) {
	next, err := a.exchange(w, c)
	if err != nil {
		a.refuse(w, err)
		return
	}
	lasts := max(1, int64(math.Ceil(next.Expires.Sub(a.clock()).Seconds()))) // some clients read 0 as forever
	answer.WriteJSON(w, tokenView{next.Access, "Bearer", lasts, next.Refresh, next.User})
}

// grants are the secrets for which programs get tokens, by grant_type.
var grants = map[string]struct {
	parameter string
	tokens    func(a *Agents, c *call.Call, presented string) (*tokens, error)
}{
	deviceGrant:  {"device_code", (*Agents).redeem},
	refreshGrant: {"refresh_token", (*Agents).refresh},
}

var errUnknownGrant = errors.New("grant_type must be " + deviceGrant + " or " + refreshGrant)

// exchange returns tokens for the form of a call. Secrets that do not exist are not counted: nobody
// guesses 256 bits, each costs one read, and a count of a network would hold up its programs.
func (a *Agents) exchange(w http.ResponseWriter, c *call.Call) (*tokens, error) {
	form, err := readForm(w, c)
	if err != nil {
		return nil, err
	}
	grant, known := grants[form.Get("grant_type")]
	if !known {
		return nil, errUnknownGrant
	}
	presented := form.Get(grant.parameter)
	if presented == "" {
		return nil, answer.Invalid("%s is required", grant.parameter)
	}
	return grant.tokens(a, c, presented)
}

// revocation answers POST /oauth/revoke. The answer is the same for a token that does not exist.
func (a *Agents) revocation(w http.ResponseWriter, c *call.Call) {
	form, err := readForm(w, c)
	if err == nil && form.Get("token") == "" {
		err = answer.Invalid("token is required")
	}
	if err == nil {
		err = a.revoke(c, form.Get("token"))
	}
	if err != nil {
		a.refuse(w, err)
		return
	}
	answer.WriteJSON(w, struct{}{})
}

const (
	maxForm  = 16 << 10 // bytes
	formTime = 10 * time.Second
)

// readForm reads the form of a call, in which each parameter may occur once. It ignores parameters
// that it does not know, as RFC 6749 requires.
func readForm(w http.ResponseWriter, c *call.Call) (url.Values, error) {
	media, _, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	if err != nil || media != "application/x-www-form-urlencoded" {
		return nil, answer.Invalid("the body must be a form: Content-Type: application/x-www-form-urlencoded")
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(formTime)) // fails where there is no connection
	body, err := io.ReadAll(io.LimitReader(c.Body, maxForm+1))
	if err != nil || len(body) > maxForm {
		return nil, answer.Invalid("the body must be at most %d bytes, within %d seconds", maxForm, int(formTime.Seconds()))
	}
	_ = control.SetReadDeadline(time.Time{})
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, answer.Invalid("the body is not a valid form")
	}
	for name, values := range form {
		if len(values) > 1 {
			return nil, answer.Invalid("%.40q is given twice", name)
		}
	}
	return form, nil
}

// codes are the error codes of RFC 6749 and RFC 8628, by reason.
var codes = []struct {
	reason error
	status int
	code   string
}{
	{errPending, http.StatusBadRequest, "authorization_pending"},
	{errTooSoon, http.StatusBadRequest, "slow_down"},
	{aigateway.ErrBusy, http.StatusBadRequest, "slow_down"},
	{errDenied, http.StatusBadRequest, "access_denied"},
	{errExpired, http.StatusBadRequest, "expired_token"},
	{errReused, http.StatusUnauthorized, "invalid_grant"},
	{errGrant, http.StatusUnauthorized, "invalid_grant"}, // Claude Code signs in again after a 401 alone
	{errUnknownGrant, http.StatusBadRequest, "unsupported_grant_type"},
}

// refuse writes the reason for which a program gets nothing.
func (a *Agents) refuse(w http.ResponseWriter, err error) {
	for _, c := range codes {
		if errors.Is(err, c.reason) {
			writeError(w, c.status, c.code, c.reason.Error())
			return
		}
	}
	problem := answer.ProblemOf(a.people.Logger, err)
	code := "invalid_request"
	switch {
	case problem.Status == http.StatusTooManyRequests:
		code = "slow_down"
	case problem.Status >= http.StatusInternalServerError:
		code = "temporarily_unavailable"
	}
	answer.SetHeaders(w, problem)
	writeError(w, problem.Status, code, problem.Message)
}

// writeError writes an error of OAuth.
func writeError(w http.ResponseWriter, status int, code, description string) {
	answer.WriteStatus(w, status, map[string]string{"error": code, "error_description": description})
}
