package clientsecret

import (
	"encoding/json"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/realtime"
)

// form is how clients of an API ask for a client secret.
type form struct {
	read   func(body []byte, s *Secret, now time.Time) *fault.Fault
	setup  func(s *Secret) []byte // the message that configures the session; nil for any session
	answer func(s *Secret, text string) []byte
}

// forms are those of each beginning of a secret.
var forms = map[string]form{
	realtime.OpenAI.Secret: {readSecret, (*Secret).update, appendSecret},
	realtime.Gemini.Secret: {readToken, (*Secret).fixed, appendToken},
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

// readSecret reads what a client secret of OpenAI is to be.
func readSecret(body []byte, s *Secret, now time.Time) *fault.Fault {
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
	if s.Session = jsonscan.MemberOf(body, "session"); len(s.Session) > maxSession || s.Model() == "" {
		return fault.SecretSession(maxSession)
	}
	return nil
}

func appendSecret(s *Secret, text string) []byte {
	answer := jsonscan.AppendString([]byte(`{"value":`), text)
	answer = jsonscan.AppendCount(answer, `,"expires_at":`, s.Expires)
	answer = jsonscan.AppendString(append(answer, `,"session":{"object":"realtime.session","id":`...), exchange.NewID("sess_"))
	return append(append(append(answer, ','), s.Session[len("{"):]...), '}')
}

// readToken reads what a token of Gemini is to be. All of its setup is fixed, as without a fieldMask.
func readToken(body []byte, s *Secret, now time.Time) *fault.Fault {
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

func appendToken(s *Secret, text string) []byte {
	timestamp := func(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }
	answer := jsonscan.AppendString([]byte(`{"name":`), text)
	answer = jsonscan.AppendString(append(answer, `,"expireTime":`...), timestamp(s.Ends))
	answer = jsonscan.AppendString(append(answer, `,"newSessionExpireTime":`...), timestamp(s.Expires))
	return append(jsonscan.AppendCount(answer, `,"uses":`, int64(s.Uses)), '}')
}

// update returns the message that configures the session of a client secret of OpenAI.
func (s *Secret) update() []byte { return realtime.Update(s.Session) }
