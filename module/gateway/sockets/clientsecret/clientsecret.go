// Package clientsecret contains client secrets: keys for some minutes, with which a web page opens WebSockets of
// a Realtime API or a Live API without the key of its server.
//
// It promises that a secret is valid as long as the key that has made it is, on each gateway with the same seal
// keys, and that nobody can change one: it is sealed in the text that the client has, and stored nowhere.
//
// It refuses a lifetime and a session beyond its bounds. How often a secret with a number of uses was used is known
// to one process alone.
package clientsecret

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/realtime"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// Secret is a key for some minutes, which opens WebSockets of an API with a configuration.
type Secret struct {
	Key     aigateway.Digest `json:"key"`            // of the key that has made it
	Expires int64            `json:"expires"`        // in seconds since 1970: when no more WebSocket can be opened
	Ends    int64            `json:"ends,omitempty"` // when open ones end; 0 for never
	Session json.RawMessage  `json:"session,omitempty"`
	ID      string           `json:"id,omitempty"`   // of one that opens a number of WebSockets
	Uses    int              `json:"uses,omitempty"` // the number; 0 for any
}

// ContextKey is the key of the secret in the context of a request.
const ContextKey caddy.CtxKey = "ai_gateway_client_secret"

// Of returns the secret that With has put into the context of a request; nil for a request with a key.
func Of(r *http.Request) *Secret {
	s, _ := r.Context().Value(ContextKey).(*Secret)
	return s
}

// With returns a request that has a client secret of an API in place of a key with the secret in its context: as a
// bearer token, or as web pages and clients of Gemini send it. It returns any other request as it is.
func With(ring *seal.Ring, d *realtime.Dialect, r *http.Request) *http.Request {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if scheme != "Bearer" && scheme != "Token" {
		text = r.URL.Query().Get("access_token")
	}
	if d.Secret == "" || !strings.HasPrefix(text, d.Secret) {
		return r
	}
	if s := open(ring, d.Secret, text); s != nil {
		r = r.WithContext(context.WithValue(r.Context(), ContextKey, s))
	}
	return r
}

// purpose is that of the seals of secrets.
const purpose = "client secrets"

// open returns the secret of a text that begins with a prefix, nil for another text.
func open(ring *seal.Ring, prefix, text string) *Secret {
	sealed, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(text, prefix))
	if err != nil {
		return nil
	}
	plain, ok := ring.Vault(purpose).Open(prefix, sealed)
	s := new(Secret)
	if !ok || json.Unmarshal(plain, s) != nil {
		return nil
	}
	return s
}

// Read returns the secret of a key for which a client of an API asks with a body, which may be empty. It refuses
// what is beyond the bounds of secrets.
func Read(d *realtime.Dialect, key aigateway.Digest, body []byte, now time.Time) (*Secret, *fault.Fault) {
	s := &Secret{Key: key}
	return s, forms[d.Secret].read(body, s, now)
}

// Answer returns the answer of an API to the client that has asked for the secret, with its sealed text.
func (s *Secret) Answer(ring *seal.Ring, d *realtime.Dialect) []byte {
	plain, _ := json.Marshal(s) // the session is valid
	sealed := ring.Vault(purpose).Seal(d.Secret, plain)
	return forms[d.Secret].answer(s, d.Secret+base64.RawURLEncoding.EncodeToString(sealed))
}

// Setup returns the message of an API that configures the session of the secret; nil if that may be any.
func (s *Secret) Setup(d *realtime.Dialect) []byte { return forms[d.Secret].setup(s) }

// Model returns the name of the model of the session, "" if the session is not valid.
func (s *Secret) Model() string {
	message := realtime.Update(s.Session)
	r, err := realtime.Read(message)
	kind := jsonscan.MemberOf(s.Session, "type")
	if err != nil || kind != nil && jsonscan.TextOf(kind) != "realtime" {
		return ""
	}
	return jsonscan.TextOf(message[r.Model.Start:r.Model.End])
}

// First returns the first message of a conversation with the setup of a token, and the session that the
// client resumes.
func (s *Secret) First(message []byte) []byte {
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
func (s *Secret) fixed() []byte { return s.First(nil) }

// valid reports whether the setup of a token is one.
func (s *Secret) valid() bool {
	r, err := realtime.Gemini.Read(s.fixed())
	return err == nil && r.Model.End > 0 && r.Handle.End == 0
}
