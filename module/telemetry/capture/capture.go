// Package capture keeps both sides of the wire of single exchanges, for the one who has sent
// their requests: the request of the client and the answer that the client gets, and the
// requests to providers with their answers.
//
// It promises that a request is captured only if it has a token of a session, and that only
// this session can read the capture; that a capture contains no credential, no host, and only
// listed headers; and that its memory is bounded: 1 MiB of each body, 4 MiB of an exchange, 16
// exchanges of a session, 64 of the process, for 10 minutes. Nothing is written to a disk.
//
// A request without a token costs the lookup of a header.
package capture

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Header is the header of a request with a token. Providers do not get it.
const Header = "X-Gateway-Capture"

// The bounds of a Store.
const (
	lifetime      = 10 * time.Minute // of an exchange
	tokenLifetime = time.Hour
	mostOfOwner   = 16 // exchanges
	mostExchanges = 64
	mostTokens    = 1024
	mostOfUser    = 64 // tokens
)

// Owner identifies a session: the digest of its token.
type Owner = [sha256.Size]byte

// Store keeps the captures of a process. Its methods may be called concurrently.
type Store struct {
	mu        sync.Mutex
	tokens    map[[sha256.Size]byte]token // by digest
	exchanges []*Exchange                 // the oldest first
}

type token struct {
	owner   Owner
	user    int64
	expires time.Time
}

// Process is the store of this process. Captures outlive a reload.
var Process = New()

// New returns an empty store.
func New() *Store { return &Store{tokens: make(map[[sha256.Size]byte]token)} }

// ErrManyTokens is returned by Token if there are too many.
var ErrManyTokens = errors.New("too many sessions capture at once")

// Token returns a new token for the requests of a session of a user, and when it expires. A user
// has a part of all tokens only, in however many sessions.
func (s *Store) Token(owner Owner, user int64) (text string, expires time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, own := time.Now(), 0
	for digest, t := range s.tokens {
		switch {
		case !now.Before(t.expires):
			delete(s.tokens, digest)
		case t.user == user:
			own++
		}
	}
	if len(s.tokens) >= mostTokens || own >= mostOfUser {
		return "", expires, ErrManyTokens
	}
	text, expires = "cap_"+rand.Text(), now.Add(tokenLifetime)
	s.tokens[sha256.Sum256([]byte(text))] = token{owner, user, expires}
	return text, expires, nil
}

// Begin begins the capture of an exchange with this id, if its request has a token. Otherwise
// it returns nil.
func (s *Store) Begin(r *http.Request, id string) *Exchange {
	values := r.Header[Header]
	if len(values) != 1 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	t, known := s.tokens[sha256.Sum256([]byte(values[0]))]
	if !known || !now.Before(t.expires) {
		return nil
	}
	ex := newExchange(t.owner, id, now)
	ex.request.begin(now, r.Method, r.URL.Path, 0, r.Header)
	s.add(ex)
	time.AfterFunc(lifetime, s.sweep)
	return ex
}

// add adds an exchange, in place of the oldest one if there are too many.
func (s *Store) add(ex *Exchange) {
	own, oldest := 0, -1
	for i, other := range s.exchanges {
		if other.owner != ex.owner {
			continue
		}
		if own++; oldest < 0 {
			oldest = i
		}
	}
	switch {
	case own >= mostOfOwner:
		s.exchanges = slices.Delete(s.exchanges, oldest, oldest+1)
	case len(s.exchanges) >= mostExchanges:
		s.exchanges = slices.Delete(s.exchanges, 0, 1)
	}
	s.exchanges = append(s.exchanges, ex)
}

// sweep removes the exchanges that are too old.
func (s *Store) sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exchanges = slices.DeleteFunc(s.exchanges, (*Exchange).isOld)
}

// Of returns the captures of a session, the newest first.
func (s *Store) Of(owner Owner) (all []*Exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ex := range slices.Backward(s.exchanges) {
		if ex.owner == owner && !ex.isOld() {
			all = append(all, ex)
		}
	}
	return all
}

// Find returns the capture of a session with the id of its exchange, nil if there is none.
func (s *Store) Find(owner Owner, id string) *Exchange {
	for _, ex := range s.Of(owner) {
		if ex.id == id {
			return ex
		}
	}
	return nil
}
