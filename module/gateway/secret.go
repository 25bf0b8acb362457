package gateway

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routes"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/realtime"
)

// secret is a client secret: a key for some minutes, which opens WebSockets of an API with a configuration.
// It is sealed in the text that the client has, and stored nowhere: it is valid as long as the key with its
// digest is.
type secret struct {
	Key     aigateway.Digest `json:"key"`
	Expires int64            `json:"expires"`        // in seconds since 1970: when no more WebSocket can be opened
	Ends    int64            `json:"ends,omitempty"` // when open ones end; 0 for never
	Session json.RawMessage  `json:"session,omitempty"`
	ID      string           `json:"id,omitempty"`   // of one that opens a number of WebSockets
	Uses    int              `json:"uses,omitempty"` // the number; 0 for any
}

// secretForm is how clients of an API ask for a client secret.
type secretForm struct {
	read   func(body []byte, s *secret, now time.Time) *fault.Fault
	setup  func(s *secret) []byte // the message that configures the session; nil for any session
	answer func(s *secret, text string) []byte
}

// secretForms are those of each beginning of a secret.
var secretForms = map[string]secretForm{
	realtime.OpenAI.Secret: {readSecret, (*secret).update, appendSecret},
	realtime.Gemini.Secret: {readToken, (*secret).fixed, appendToken},
}

// The bounds of client secrets: of their configuration in bytes, and of their lifetime in seconds, as at
// the vendors. Servers of others bound the headers of requests, which have the secret.
const (
	maxSession      = 8 << 10
	leastLifetime   = 10
	usualLifetime   = 600
	longestLifetime = 7200

	usualOpening = 60
	usualEnd     = 30 * 60
	longestEnd   = 20 * 60 * 60
)

// digest returns the digest of the key of a secret; nil has none.
func (s *secret) digest() (d aigateway.Digest) {
	if s != nil {
		d = s.Key
	}
	return d
}

// expired reports whether no more WebSocket can be opened; nil never expires. Open ones stay open.
func (s *secret) expired(now time.Time) bool { return s != nil && now.Unix() >= s.Expires }

// update returns the message that configures the session.
func (s *secret) update() []byte { return realtime.Update(s.Session) }

// model returns the name of the model of the session, "" if the session is not valid.
func (s *secret) model() string {
	message := s.update()
	r, err := realtime.Read(message)
	kind := jsonscan.MemberOf(s.Session, "type")
	if err != nil || kind != nil && jsonscan.TextOf(kind) != "realtime" {
		return ""
	}
	return textAt(message, r.Model)
}

// secretKey is the key of the secret in the context of a request that has one in place of a key.
const secretKey caddy.CtxKey = "ai_gateway_client_secret"

func secretOf(r *http.Request) *secret {
	s, _ := r.Context().Value(secretKey).(*secret)
	return s
}

// sealSecret returns the text of a secret, and openSecret the secret of a text that begins as those of an API
// do, nil for others.
func sealSecret(h *Handler, prefix string, s *secret) string {
	text, _ := json.Marshal(s) // the session is valid
	return prefix + base64.RawURLEncoding.EncodeToString(h.providers.Seals().Vault("client secrets").Seal(prefix, text))
}

func openSecret(h *Handler, prefix, text string) *secret {
	sealed, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(text, prefix))
	if err != nil {
		return nil
	}
	plain, ok := h.providers.Seals().Vault("client secrets").Open(prefix, sealed)
	s := new(secret)
	if !ok || json.Unmarshal(plain, s) != nil {
		return nil
	}
	return s
}

// withSecret returns a request that has a client secret of an API in place of a key with the secret in its
// context: as a bearer token, or as web pages and clients of Gemini send it.
func withSecret(h *Handler, d *realtime.Dialect, r *http.Request) *http.Request {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if scheme != "Bearer" && scheme != "Token" {
		text = r.URL.Query().Get("access_token")
	}
	if d.Secret == "" || !strings.HasPrefix(text, d.Secret) {
		return r
	}
	if s := openSecret(h, d.Secret, text); s != nil {
		r = r.WithContext(context.WithValue(r.Context(), secretKey, s))
	}
	return r
}

// serveSecret makes a client secret for the key of a request, which counts as a request and uses nothing.
func serveSecret(h *Handler, to *reply.Reply, r *http.Request, route *routes.Route) *fault.Fault {
	ex, prefix := to.Exchange, route.Format.Client.DialectOf(translate.Realtime).Secret
	s, form := &secret{Key: ex.Key.Digest}, secretForms[prefix]
	refused := request.ReadObject(ex, r, h.MaxBody, func([]byte) *fault.Fault { return nil })
	if refused == nil {
		refused = form.read(ex.Body, s, time.Now())
	}
	if refused != nil {
		return refused
	}
	if h.resolved.sources.Find(s.Key) == nil {
		return fault.SecretOfToken()
	}
	if refused := refuseSetup(h, ex, r, route, form.setup(s)); refused != nil {
		return refused
	}
	chain := h.resolved.limits.Of(ex.Key)
	if chain == nil {
		return fault.LimitUnknown()
	}
	admitted, refused := chain.Admit(to, r, nil, h.resolved.catalog)
	to.Charge(meter.New(admitted.Estimate, admitted.Reservation, nil))
	if refused != nil {
		return refused
	}
	to.WriteJSON(form.answer(s, sealSecret(h, prefix, s)))
	return nil
}

// refuseSetup refuses the setup of a client secret that no conversation of its key could have.
func refuseSetup(h *Handler, ex *exchange.Exchange, r *http.Request, route *routes.Route, setup []byte) *fault.Fault {
	if setup == nil {
		return nil
	}
	dialect := route.Format.Client.DialectOf(translate.Realtime)
	asked, err := dialect.Read(setup)
	if err != nil {
		return fault.NotRealtimeEvent()
	}
	c := &conversation{openSocket: &openSocket{request: r, route: route, handler: h, key: ex.Key}}
	c.partner.dialect, c.partner.model = dialect, strings.TrimPrefix(textAt(setup, asked.Model), dialect.ModelPrefix)
	if _, refused := c.openNamed(setup, &asked); refused != nil {
		return refused
	}
	if refused := c.choose(h, ex); refused != nil {
		return refused
	}
	return c.check(setup, &asked)
}

// readSecret reads what a client secret of OpenAI is to be.
func readSecret(body []byte, s *secret, now time.Time) *fault.Fault {
	var asked struct {
		ExpiresAfter struct {
			Anchor  string `json:"anchor"`
			Seconds int64  `json:"seconds"`
		} `json:"expires_after"`
	}
	asked.ExpiresAfter.Anchor, asked.ExpiresAfter.Seconds = "created_at", usualLifetime
	lifetime := &asked.ExpiresAfter
	if err := json.Unmarshal(body, &asked); len(body) > 0 && err != nil || lifetime.Anchor != "created_at" || lifetime.Seconds < leastLifetime || lifetime.Seconds > longestLifetime {
		return fault.SecretLifetime(leastLifetime, longestLifetime)
	}
	s.Expires = now.Unix() + lifetime.Seconds
	if s.Session = jsonscan.MemberOf(body, "session"); len(s.Session) > maxSession || s.model() == "" {
		return fault.SecretSession(maxSession)
	}
	return nil
}

func appendSecret(s *secret, text string) []byte {
	answer := jsonscan.AppendString([]byte(`{"value":`), text)
	answer = jsonscan.AppendCount(answer, `,"expires_at":`, s.Expires)
	answer = jsonscan.AppendString(append(answer, `,"session":{"object":"realtime.session","id":`...), exchange.NewID("sess_"))
	return append(append(append(answer, ','), s.Session[len("{"):]...), '}')
}

// readToken reads what a token of Gemini is to be. All of its setup is fixed, as without a fieldMask.
func readToken(body []byte, s *secret, now time.Time) *fault.Fault {
	asked := struct {
		Uses       *int            `json:"uses"`
		ExpireTime *time.Time      `json:"expireTime"`
		Opening    *time.Time      `json:"newSessionExpireTime"`
		FieldMask  string          `json:"fieldMask"`
		Setup      json.RawMessage `json:"bidiGenerateContentSetup"`
	}{}
	if err := json.Unmarshal(body, &asked); len(body) > 0 && err != nil || asked.FieldMask != "" {
		return fault.SecretToken(maxSession)
	}
	s.Expires, s.Ends = now.Unix()+usualOpening, now.Unix()+usualEnd
	if asked.ExpireTime != nil {
		s.Ends = asked.ExpireTime.Unix()
	}
	if asked.Opening != nil {
		s.Expires = asked.Opening.Unix()
	}
	s.Expires = min(s.Expires, s.Ends)
	if s.Uses = 1; asked.Uses != nil {
		s.Uses = *asked.Uses
	}
	s.ID, s.Session = exchange.NewID("tok_"), asked.Setup
	latest := now.Unix() + longestEnd
	if s.Uses < 0 || s.Expires > latest || s.Ends > latest || s.Ends <= now.Unix() || len(s.Session) > maxSession || len(s.Session) > 0 && !s.valid() {
		return fault.SecretToken(maxSession)
	}
	return nil
}

func appendToken(s *secret, text string) []byte {
	at := func(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }
	answer := jsonscan.AppendString([]byte(`{"name":`), text)
	answer = jsonscan.AppendString(append(answer, `,"expireTime":`...), at(s.Ends))
	answer = jsonscan.AppendString(append(answer, `,"newSessionExpireTime":`...), at(s.Expires))
	return append(jsonscan.AppendCount(answer, `,"uses":`, int64(s.Uses)), '}')
}

// setup returns the first message of a conversation with the setup of a token, and the session that the
// client resumes.
func (s *secret) setup(message []byte) []byte {
	if len(s.Session) == 0 {
		return message
	}
	fixed := append([]byte(`{"setup":`), s.Session...)
	first := jsonscan.MemberOf(message, "setup")
	for _, name := range []string{"sessionResumption", "session_resumption"} {
		if resumed := jsonscan.MemberOf(first, name); resumed != nil && jsonscan.MemberOf(s.Session, "sessionResumption") == nil {
			fixed = append(fixed[:len(fixed)-1], `,"sessionResumption":`...)
			return append(append(fixed, resumed...), '}', '}')
		}
	}
	return append(fixed, '}')
}

// fixed returns the message with the setup of a token; nil for any setup.
func (s *secret) fixed() []byte { return s.setup(nil) }

// valid reports whether the setup of a token is one.
func (s *secret) valid() bool {
	r, err := realtime.Gemini.Read(s.fixed())
	return err == nil && r.Model.End > 0 && r.Handle.End == 0
}

// used counts the WebSockets that secrets with a number of uses have opened, by their ids.
var used = struct {
	mu     sync.Mutex
	counts map[string]*useOf
}{counts: make(map[string]*useOf)}

type useOf struct {
	opened  int
	expires int64
}

// spend counts a WebSocket. It reports whether the secret has been used as often as it may be; nil never is.
func (s *secret) spend(now time.Time) (spent bool) {
	if s == nil || s.Uses == 0 {
		return false
	}
	used.mu.Lock()
	defer used.mu.Unlock()
	maps.DeleteFunc(used.counts, func(_ string, u *useOf) bool { return u.expires < now.Unix() })
	u := used.counts[s.ID]
	if u == nil {
		u = &useOf{expires: s.Expires}
		used.counts[s.ID] = u
	}
	if u.opened >= s.Uses {
		return true
	}
	u.opened++
	return false
}
