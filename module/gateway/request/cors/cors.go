// Package cors lets scripts of web pages of other origins call the gateway.
//
// The gateway ignores the cookies of such a script, and answers it like a program. The
// package refuses an origin that no browser sends.
package cors

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Origins lists the origins of web pages whose scripts may call the gateway, in the form
// in which browsers send them. "*" means all origins.
type Origins []string

const anyOrigin = "*"

var errOrigin = errors.New("an origin is *, or a scheme, a host and a port unless it is the default, in lower case and without a path: https://chat.example.com")

// Check returns an error for a text that no browser sends as an origin, because such a
// text would never match.
func Check(origin string) error {
	if origin == anyOrigin {
		return nil
	}
	u, err := url.Parse(origin)
	usualPort := map[string]string{"http": "80", "https": "443"}
	switch {
	case err != nil, u.Hostname() == "", u.Scheme+"://"+u.Host != strings.ToLower(origin), strings.Contains(origin, "*"):
		return errOrigin
	case origin != strings.ToLower(origin), u.Port() != "" && u.Port() == usualPort[u.Scheme]:
		return errOrigin
	}
	return nil
}

// Check returns an error for the first origin that no browser sends.
func (o Origins) Check() error {
	for _, origin := range o {
		if err := Check(origin); err != nil {
			return fmt.Errorf("cors: %w", err)
		}
	}
	return nil
}

// allows reports whether scripts of an origin may call the gateway.
func (o Origins) allows(origin string) bool {
	return origin != "" && (slices.Contains(o, anyOrigin) || slices.Contains(o, origin))
}

// Refuses reports whether a request for a WebSocket is of a script of an origin that may not call the
// gateway. Browsers leave the check of that to the server.
func (o Origins) Refuses(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	return origin != "" && !o.allows(origin) && aigateway.CrossOrigin(r)
}

// corsHeaders are added to answers to scripts of other origins. They let a script read
// every header of the answer.
var corsHeaders = map[string]string{"Access-Control-Expose-Headers": "*"}

// preflightHeaders are the headers of the answer to a preflight request. They allow every
// header; Authorization is listed because "*" does not include it.
var preflightHeaders = map[string]string{
	"Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, DELETE",
	"Access-Control-Allow-Headers": "authorization, *",
	"Access-Control-Max-Age":       "7200",
}

// Share sets the headers by which the browser gives the answer to a script of an allowed
// origin. It returns the request to answer: r itself, or for a script of another origin
// a copy without cookies. It returns nil for a preflight request, which it has answered.
func (o Origins) Share(w http.ResponseWriter, r *http.Request) *http.Request {
	if len(o) == 0 {
		return r
	}
	w.Header().Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if !o.allows(origin) || !aigateway.CrossOrigin(r) {
		return r
	}
	w.Header().Set("Access-Control-Allow-Origin", origin)
	if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
		setAll(w.Header(), preflightHeaders)
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	setAll(w.Header(), corsHeaders)
	return asProgram(r)
}

func setAll(h http.Header, values map[string]string) {
	for name, value := range values {
		h.Set(name, value)
	}
}

// asProgram returns a copy of the request without the headers that only browsers add.
func asProgram(r *http.Request) *http.Request {
	r = r.WithContext(r.Context()) // a copy
	r.Header = r.Header.Clone()
	for _, name := range [...]string{"Origin", "Cookie", "Sec-Fetch-Site"} {
		r.Header.Del(name)
	}
	return r
}
