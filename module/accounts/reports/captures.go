package reports

import (
	"errors"
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/capture"
)

// Captures are the captures of a session. It alone can make and read them: a user with two
// sessions, or an administrator, cannot read those of the other.
type Captures struct{ Disabled bool }

// captureToken is a token in an answer.
type captureToken struct {
	Token   string    `json:"token"`
	Header  string    `json:"header"` // of the requests that the token captures
	Expires time.Time `json:"expires"`
}

var errCaptureOff = answer.Refuse(http.StatusNotFound, "capture is off")

// Start answers POST /api/v1/captures with a token for requests of the session.
func (captures Captures) Start(c *call.Call) (any, error) {
	if captures.Disabled {
		return nil, errCaptureOff
	}
	token, expires, err := capture.Process.Token(c.Session.Digest, c.Session.UserID)
	if errors.Is(err, capture.ErrManyTokens) {
		return nil, answer.Later(http.StatusServiceUnavailable, time.Minute, "too many sessions capture at once")
	}
	return captureToken{token, capture.Header, expires.UTC().Truncate(time.Second)}, err
}

// List answers GET /api/v1/captures.
func (captures Captures) List(c *call.Call) (any, error) {
	if captures.Disabled {
		return nil, errCaptureOff
	}
	return api.List(answer.Views(capture.Process.Of(c.Session.Digest), func(ex **capture.Exchange) capture.Head { return (*ex).Head() })), nil
}

// Show answers GET /api/v1/captures/{request}.
func (captures Captures) Show(c *call.Call) (any, error) {
	if captures.Disabled {
		return nil, errCaptureOff
	}
	ex := capture.Process.Find(c.Session.Digest, c.PathValue("request"))
	if ex == nil {
		return nil, aigateway.ErrNotFound
	}
	return ex.View(), nil
}
