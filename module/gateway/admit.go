package gateway

import (
	"bytes"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
)

// admit asks the limit of the key, if it has one, whether the request may be
// served, and tells the client in headers what is left. From then on every way
// out of the exchange settles what was reserved.
func (h *Handler) admit(m *model, s *sink, r *http.Request) *translate.Fault {
	key := s.ex.Key
	if key.Limit == "" {
		return nil
	}
	limiter := h.resolved.limiters[key.Limit]
	if limiter == nil {
		h.logRefusedKey(s, key, "its limit '"+clip(key.Limit)+"' is not configured")
		return translate.LimitUnknown()
	}
	tokens := expectedTokens(s.ex, m)
	decision := limiter.Admit(r.Context(), key, tokens)
	s.ex.Reservation = decision.Reservation
	s.showQuotas(decision)
	if decision.Reservation != nil {
		return nil
	}
	return s.refuseLimited(decision, tokens)
}

// refuseLimited tells the client when to come again, or that there is no use in
// that.
func (s *sink) refuseLimited(decision exchange.Admission, tokens int64) *translate.Fault {
	s.retryAfter(int(max(1, wholeSeconds(decision.RetryAfter))))
	if decision.TooLarge {
		s.w.Header()["X-Should-Retry"] = []string{"false"}
		return translate.RequestTooCostly(tokens, decision.Tokens.Limit)
	}
	return translate.LimitReached(decision.Reached)
}

// wholeSeconds rounds up: whoever comes again then is not too early.
func wholeSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// expectedTokens is what a request may use: its prompt, as estimated, and all
// that its answers may have. A count of tokens uses none.
func expectedTokens(ex *exchange.Exchange, m *model) int64 {
	if ex.Operation == translate.CountTokens {
		return 0
	}
	v := &ex.View
	most := v.MaxTokens
	if most == 0 {
		most = m.targets[0].traits.MaxTokens()
	}
	for _, times := range [...]int64{v.Answers, v.Prompts} {
		if times > 1 {
			most = timesAtMost(most, times)
		}
	}
	prompt := promptTokens(ex.Body)
	return prompt + min(most, math.MaxInt64-prompt)
}

// timesAtMost multiplies positive numbers, up to the largest there is.
func timesAtMost(a, b int64) int64 {
	if a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}

// unbroken is from how many bytes on a string is looked at more closely.
const unbroken = 4 << 10

// promptTokens estimates the tokens of a body by its length, without reading it:
// a long string that looks like a file counts as an image, whatever its size.
func promptTokens(body []byte) int64 {
	text, files := len(body), 0
	for at := 0; len(body)-at > unbroken; {
		if quote := bytes.LastIndexByte(body[at:at+unbroken], '"'); quote >= 0 {
			at += quote + 1
			continue
		}
		rest := bytes.IndexByte(body[at+unbroken:], '"')
		if rest < 0 {
			break // there are no strings any more
		}
		end := at + unbroken + rest
		if looksEncoded(body[at : at+unbroken]) {
			files++
			text -= end - at
		}
		at = end
	}
	return int64(text)/messages.DefaultBytesPerToken + int64(files)*messages.TokensOfImage + 1
}

// looksEncoded reports whether a part of a string has only characters of base64
// and of the beginning of a data URL: no language goes without others for long.
func looksEncoded(part []byte) bool {
	for _, b := range part {
		letter := b|0x20 >= 'a' && b|0x20 <= 'z'
		if !letter && !(b >= '+' && b <= ';') && b != '=' && b != '_' && b != '\\' {
			return false
		}
	}
	return true
}

// usedTokens is what the exchange has used, as far as is known now that it is
// over. What was cut off may have used more than the provider has said.
func (s *sink) usedTokens() int64 {
	ex, a := s.ex, s.ex.Attempt
	switch {
	case a == nil || ex.Attempts == 0 || ex.Operation == translate.CountTokens:
		return 0
	case a.Finished && a.Usage.Known:
		return max(0, a.Usage.TotalInput()) + max(0, a.Usage.Output)
	case !s.content && unspent(a):
		return 0
	}
	return exchange.UnknownTokens
}

// unspent reports whether a failed attempt has used nothing: the provider has
// refused the request, or was never asked.
func unspent(a *exchange.Attempt) bool {
	return a.Refused || a.Status >= http.StatusBadRequest || a.Status == 0 && a.Fault != nil && a.Fault.Kind != translate.Timeout
}

// settle replaces what was reserved by what was used. Where the answer is whole
// that is done before its last bytes go out: a client that has read those may
// send its next request before this one has returned. The caller holds the lock.
func (s *sink) settle() {
	if s.ex.Reservation != nil {
		s.ex.Reservation.Settle(s.usedTokens())
		s.ex.Reservation = nil
	}
}

// quotaHeaders are the names of the headers that tell of a quota.
type quotaHeaders struct{ limit, remaining, reset string }

// The names as the client's family of SDKs knows them (wire format E.5).
var (
	messagesRequests = quotaHeaders{"Anthropic-Ratelimit-Requests-Limit", "Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset"}
	messagesTokens   = quotaHeaders{"Anthropic-Ratelimit-Tokens-Limit", "Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset"}
	otherRequests    = quotaHeaders{"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"}
	otherTokens      = quotaHeaders{"X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"}
)

// showQuotas sets what tells the client how much is left, on whatever answer.
func (s *sink) showQuotas(decision exchange.Admission) {
	if s.ex.Format == translate.Messages {
		s.showQuota(messagesRequests, decision.Requests)
		s.showQuota(messagesTokens, decision.Tokens)
		return
	}
	s.showQuota(otherRequests, decision.Requests)
	s.showQuota(otherTokens, decision.Tokens)
}

func (s *sink) showQuota(names quotaHeaders, q exchange.Quota) {
	if q.Limit == 0 {
		return
	}
	h := s.w.Header()
	h[names.limit] = []string{strconv.FormatInt(q.Limit, 10)}
	h[names.remaining] = []string{strconv.FormatInt(q.Remaining, 10)}
	h[names.reset] = []string{s.resetAt(q.Reset)}
}

// resetAt is a moment for messages clients, and how long it takes for others.
func (s *sink) resetAt(in time.Duration) string {
	if s.ex.Format != translate.Messages {
		return (time.Duration(wholeSeconds(in)) * time.Second).String()
	}
	return time.Now().Add(in + time.Second - 1).UTC().Format(time.RFC3339)
}
