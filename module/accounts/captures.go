package accounts

import (
	"errors"
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/capture"
)

// captures are the captures of a session. It alone can make and read them: a user with two
// sessions, or an administrator, cannot read those of the other.
type captures struct{ off bool }

// captureToken is a token in an answer.
type captureToken struct {
	Token   string    `json:"token"`
	Header  string    `json:"header"` // of the requests that the token captures
	Expires time.Time `json:"expires"`
}

var errCaptureOff = refuse(http.StatusNotFound, "capture is off")

// start answers POST /api/captures with a token for requests of the session.
func (of captures) start(c *call) (any, error) {
	if of.off {
		return nil, errCaptureOff
	}
	token, expires, err := capture.Process.Token(c.session.Digest)
	if errors.Is(err, capture.ErrManyTokens) {
		return nil, later(http.StatusServiceUnavailable, time.Minute, "too many sessions capture at once")
	}
	return captureToken{token, capture.Header, expires.UTC().Truncate(time.Second)}, err
}

// list answers GET /api/captures.
func (of captures) list(c *call) (any, error) {
	if of.off {
		return nil, errCaptureOff
	}
	return views(capture.Process.Of(c.session.Digest), func(ex **capture.Exchange) capture.Head { return (*ex).Head() }), nil
}

// show answers GET /api/captures/{name}. The name is the id of a request.
func (of captures) show(c *call) (any, error) {
	if of.off {
		return nil, errCaptureOff
	}
	ex := capture.Process.Find(c.session.Digest, c.pathValue)
	if ex == nil {
		return nil, aigateway.ErrNotFound
	}
	return ex.View(), nil
}
