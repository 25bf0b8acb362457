package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The bounds of an answer: its time, and its size in bytes. A check delays each printed token.
const (
	loginTime = 30 * time.Second
	checkTime = 5 * time.Second
	maxAnswer = 64 << 10
)

// oauthAnswer is any answer of the sign-in.
type oauthAnswer struct {
	Device      string `json:"device_code"`
	Code        string `json:"user_code"`
	Page        string `json:"verification_uri"`
	Interval    int    `json:"interval"`
	Lasts       int64  `json:"expires_in"`
	Access      string `json:"access_token"`
	Refresh     string `json:"refresh_token"`
	Account     string `json:"email"`
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// errAway is the reason of failures that may pass.
var errAway = errors.New("the gateway does not answer at the moment")

// post sends a form, and returns the answer. Only errors of OAuth that last are part of the answer.
func (s *signedIn) post(ctx context.Context, path string, form url.Values) (*oauthAnswer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("User-Agent", "caddy-ai-gateway")
	res, err := s.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errAway, err)
	}
	defer res.Body.Close()
	if res.StatusCode >= http.StatusInternalServerError {
		return nil, fmt.Errorf("%w: %s answered with status %d", errAway, s.base, res.StatusCode)
	}
	answer := new(oauthAnswer)
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err == nil {
		err = json.Unmarshal(body, answer)
	}
	if err != nil || res.StatusCode >= http.StatusBadRequest && answer.Error == "" {
		return nil, fmt.Errorf("%s answered with status %d: its accounts need the word agents", s.base, res.StatusCode)
	}
	return answer, nil
}

// isRefused reports whether the gateway answers that it does not know an access token. It does not if the
// gateway is away, or refuses it for another reason.
func (s *signedIn) isRefused(ctx context.Context, access string) bool {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/managed/settings", nil)
	if err != nil {
		return false
	}
	r.Header.Set("Authorization", "Bearer "+access)
	r.Header.Set("User-Agent", "caddy-ai-gateway")
	res, err := s.client.Do(r)
	if err != nil {
		return false
	}
	_ = res.Body.Close() // a failure changes nothing
	return res.StatusCode == http.StatusUnauthorized
}

// poll asks for tokens until there are some, or the context ends, as the code does.
func (s *signedIn) poll(ctx context.Context, begun *oauthAnswer) (*oauthAnswer, error) {
	pause := time.Duration(max(begun.Interval, 1)) * time.Second
	var last error // nil while the gateway answers
	for {
		if err := s.wait(ctx, pause); errors.Is(err, context.DeadlineExceeded) {
			return nil, errors.Join(errors.New("nobody has confirmed the code in time"), last)
		} else if err != nil {
			return nil, err
		}
		got, err := s.post(ctx, "/oauth/token", url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {begun.Device}})
		last = err
		switch {
		case errors.Is(err, errAway) || err == nil && got.Error == "slow_down":
			pause += 5 * time.Second
		case err != nil:
			return nil, err
		case got.Error == "":
			return got, nil
		case got.Error != "authorization_pending":
			return nil, errors.New(got.Description)
		}
	}
}
