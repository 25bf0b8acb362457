// Package outbound has what all HTTP calls of the gateway have in common: an answer is final, or
// it is an error.
//
// It promises that a call and the reading of its answer end with the context of the request. A
// test of the whole module checks that no other package sends requests without it.
package outbound

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// ErrInformational is the error of an answer whose status announces another answer.
var ErrInformational = errors.New("the answer has an informational status")

// Final takes the result of a round trip, and returns an error in place of an answer with an
// informational status, whose connection it closes. net/http returns 101 as an answer whose body
// is the connection itself: neither a context nor a timeout ends a read of it.
func Final(res *http.Response, err error) (*http.Response, error) {
	if err != nil || res.StatusCode >= http.StatusOK {
		return res, err
	}
	_ = res.Body.Close()
	return nil, fmt.Errorf("%w: %d", ErrInformational, res.StatusCode)
}

// Client returns a client whose calls end within a time. Redirects are not followed, because they
// would repeat secrets at another host. A nil carrier is http.DefaultTransport.
func Client(timeout time.Duration, carrier http.RoundTripper) *http.Client {
	if carrier == nil {
		carrier = http.DefaultTransport
	}
	return &http.Client{
		Timeout: timeout, Transport: final{carrier},
		CheckRedirect: refuseRedirect,
	}
}

func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Dialer returns a client for requests that ask for another protocol. An answer with status 101 is
// final for it: its body is the connection, which its user has to close. build returns the request
// that is sent in place of one.
func Dialer(carrier http.RoundTripper, build func(*http.Request) (*http.Request, error)) *http.Client {
	return &http.Client{Transport: dialer{carrier, build}, CheckRedirect: refuseRedirect}
}

type dialer struct {
	carrier http.RoundTripper
	build   func(*http.Request) (*http.Request, error)
}

// RoundTrip implements http.RoundTripper.
func (d dialer) RoundTrip(r *http.Request) (*http.Response, error) {
	built, err := d.build(r)
	if err != nil {
		return nil, err
	}
	res, err := d.carrier.RoundTrip(built)
	if err == nil && res.StatusCode == http.StatusSwitchingProtocols {
		return res, nil
	}
	return Final(res, err)
}

// final is a carrier whose answers are final.
type final struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (f final) RoundTrip(r *http.Request) (*http.Response, error) {
	return Final(f.RoundTripper.RoundTrip(r))
}
