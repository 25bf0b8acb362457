package agents

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/throttle"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

const (
	codeFor     = 10 * time.Minute // the time in which a person must confirm a code
	pause       = 5 * time.Second  // between two polls
	tolerance   = time.Second      // by which a poll may be early
	mostWaiting = 10_000           // codes that wait for an answer

	// grace is how long after its use a secret returns tokens again, because the answer may have been lost:
	// a device code other ones, and a refresh token the same, since several processes of a program may
	// refresh at once.
	grace = time.Minute

	// overlap is how long an access token is valid after it was replaced, for requests that
	// another process of the program has begun with it.
	overlap = 2 * time.Minute

	// unseen is the time after a rotation until which the use of the key that the store has may be one of
	// the access token before: the store writes uses a minute late. Uses in this process are known at once.
	unseen = overlap + time.Minute
)

// The beginnings of the secrets, by which a person recognises them.
const (
	devicePrefix  = "device_"
	accessPrefix  = aigateway.AccessTokenPrefix
	refreshPrefix = "refresh_"
)

// codeLetters are the letters of the codes that people type: no vowels, so that there are no
// words, and nothing that looks like a digit.
const codeLetters = "BCDFGHJKLMNPQRSTVWXZ"

// codeLength is the number of letters of a code: 34 bits. A user may guess five codes, and one more
// each minute.
const codeLength = 8

func newCode() string {
	code := make([]byte, 0, codeLength)
	const fair = 256 / len(codeLetters) * len(codeLetters)
	for len(code) < codeLength {
		var random [2 * codeLength]byte
		_, _ = rand.Read(random[:]) // never fails
		for _, b := range random {
			if int(b) < fair && len(code) < codeLength {
				code = append(code, codeLetters[int(b)%len(codeLetters)])
			}
		}
	}
	return string(code)
}

// shownCode returns a code as it is shown: "BCDF-GHJK".
func shownCode(code string) string { return code[:codeLength/2] + "-" + code[codeLength/2:] }

// codeDigest returns the digest of a code as a person types it, in any case and with any signs
// between the letters.
func codeDigest(typed string) aigateway.Digest {
	return call.Digest("code " + strings.Map(func(r rune) rune {
		if !strings.ContainsRune(codeLetters, r) {
			return -1
		}
		return r
	}, strings.ToUpper(typed)))
}

func newSecret() string {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// derive returns what follows from a token and a salt, for a purpose.
func derive(token string, salt aigateway.Digest, purpose string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write(salt[:])
	mac.Write([]byte(purpose))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// tokens are what a program gets.
type tokens struct {
	Access  string
	Refresh string
	Expires time.Time // of the access token
	User    string
}

// tokensAfter returns the tokens for the one that a program has presented.
func tokensAfter(presented, family string, salt aigateway.Digest) *tokens {
	return &tokens{Access: accessPrefix + derive(presented, salt, "access"), Refresh: refreshPrefix + family + "." + derive(presented, salt, "refresh")}
}

// The reasons for which a program gets no tokens.
var (
	errPending = errors.New("the person has not confirmed the code yet")
	errTooSoon = errors.New("too many requests: wait five seconds longer between two")
	errDenied  = errors.New("the person has refused")
	errExpired = errors.New("the code has expired or was used already: begin again")
	errGrant   = errors.New("the sign-in has ended: sign in again")
	errReused  = errors.New("the refresh token was used before: sign in again")
)

// begun is a sign-in that waits for a person.
type begun struct{ device, code string }

// begin begins the sign-in of the program that makes a call.
func (a *Agents) begin(c *call.Call) (*begun, error) {
	store, err := a.store()
	if err == nil {
		err = a.people.CountSignIn(c)
	}
	if err != nil {
		return nil, err
	}
	b := &begun{devicePrefix + newSecret(), newCode()}
	err = store.Create(c.Context(), &aigateway.Device{
		Digest: call.Digest(b.device), Code: codeDigest(b.code), Agent: people.AgentOf(c),
		Address: c.Address().String(), Expires: a.clock().Add(codeFor),
	}, mostWaiting)
	if errors.Is(err, aigateway.ErrTooMany) {
		err = errTooSoon
	}
	return b, err
}

// ErrCode is the problem of a code that nothing waits for.
var ErrCode = answer.Invalid("code must be one that a program shows now: it may have expired, or was answered already")

// Waiting returns the program that waits for a code which the user of a call has typed. Wrong codes
// of a user are throttled.
func (a *Agents) Waiting(c *call.Call, typed string) (*aigateway.Device, error) {
	store, err := a.store()
	if err != nil {
		return nil, err
	}
	attempt, err := a.people.BeginCode(c)
	if err != nil {
		return nil, err
	}
	device, err := store.Waiting(c.Context(), codeDigest(typed))
	if errors.Is(err, aigateway.ErrNotFound) {
		attempt.End(throttle.Failed)
		return nil, ErrCode
	}
	attempt.End(throttle.Undecided)
	return device, err
}

// Confirm lets the program that waits for a code act for the user of a call, in a team if it is not
// empty.
func (a *Agents) Confirm(c *call.Call, typed, team string) error {
	device, err := a.Waiting(c, typed)
	if err != nil {
		return err
	}
	store, _ := a.store() // Waiting has found it
	err = a.people.ConfirmDevice(c, store, device.Code, keyName(device), team, a.clock().Add(time.Duration(a.Session)))
	if errors.Is(err, aigateway.ErrNotFound) { // answered meanwhile
		err = ErrCode
	}
	return err
}

// keyName returns the name of the key of a device: the product that its User-Agent names, and its
// address.
func keyName(d *aigateway.Device) string {
	const longest = 32
	name, _, _ := strings.Cut(d.Agent, " ")
	if runes := []rune(name); len(runes) > longest {
		name = string(runes[:longest])
	}
	if name == "" {
		name = "program"
	}
	return name + " at " + d.Address
}

// Deny refuses the program that waits for a code.
func (a *Agents) Deny(c *call.Call, typed string) error {
	device, err := a.Waiting(c, typed)
	if err != nil {
		return err
	}
	store, _ := a.store() // Waiting has found it
	if err = store.Deny(c.Context(), device.Code); errors.Is(err, aigateway.ErrNotFound) {
		err = ErrCode
	}
	return err
}

// redeem returns the first tokens of a device. If their answer was lost, it returns other ones, and those
// before end with it, so that there is one pair at any time.
func (a *Agents) redeem(c *call.Call, presented string) (*tokens, error) {
	store, err := a.store()
	if err != nil {
		return nil, err
	}
	digest := call.Digest(presented)
	device, user, err := store.Find(c.Context(), digest) // Poll writes, which is too much for invented codes
	if err == nil {
		device, user, err = store.Poll(c.Context(), digest, a.clock(), pause-tolerance)
	}
	switch {
	case errors.Is(err, aigateway.ErrNotFound):
		return nil, errExpired
	case errors.Is(err, aigateway.ErrBusy):
		return nil, errTooSoon
	case err != nil:
		return nil, err
	case device.Denied:
		return nil, errDenied
	case !a.clock().Before(device.Expires), !a.clock().Before(device.Created.Add(codeFor)):
		return nil, errExpired
	case user == nil:
		return nil, errPending
	}
	c.ActAs(user, 0)
	return a.rotate(c, store, presented, strings.TrimPrefix(presented, devicePrefix), func(d *aigateway.Device, key *aigateway.StoredKey) error {
		switch {
		case d.Tokens == aigateway.DeviceTokens{}:
			return nil
		case store.TokenUsed(key.Digest), !mayBeLost(c, d, key, a.clock()):
			return errExpired
		}
		d.Tokens = aigateway.DeviceTokens{Rotated: d.Tokens.Rotated} // rotate lets tokens live on after a refresh
		return a.people.CountChange(user)
	})
}

// mayBeLost reports whether the answer with the first tokens of a device may have been lost: the store knows of
// no use, and the program asks again within grace after the first answer, from where it began. Whoever finds
// the code elsewhere gets nothing.
func mayBeLost(c *call.Call, d *aigateway.Device, key *aigateway.StoredKey, now time.Time) bool {
	return d.Tokens.Replaced == aigateway.Digest{} && key.Used.IsZero() && now.Sub(d.Tokens.Rotated) <= grace &&
		d.Agent == people.AgentOf(c) && d.Address == c.Address().String()
}

// refresh returns tokens for a refresh token, at the pace of polls: each pair is a row of the audit
// log. One that was replaced returns the same tokens again during grace, or if no use of them is known
// yet; afterwards two programs have the token, of which one has stolen it, and the sign-in ends.
func (a *Agents) refresh(c *call.Call, presented string) (*tokens, error) {
	store, err := a.store()
	if err != nil {
		return nil, err
	}
	family, ok := familyOf(presented)
	if !ok {
		return nil, errGrant
	}
	device, user, err := store.Find(c.Context(), call.Digest(devicePrefix+family))
	if err == nil && user == nil {
		err = aigateway.ErrNotFound
	}
	if err != nil {
		return nil, grantError(err)
	}
	c.ActAs(user, 0)
	var again *tokens
	next, err := a.rotate(c, store, presented, family, func(d *aigateway.Device, key *aigateway.StoredKey) error {
		sent := call.Digest(presented)
		switch {
		case subtle.ConstantTimeCompare(sent[:], d.Tokens.Refresh[:]) == 1:
			return a.people.CountChange(user)
		case subtle.ConstantTimeCompare(sent[:], d.Tokens.Replaced[:]) != 1,
			a.clock().Sub(d.Tokens.Rotated) > grace && (store.TokenUsed(key.Digest) || key.Used.After(d.Tokens.Rotated.Add(unseen))):
			return errReused
		}
		again = tokensAfter(presented, family, d.Tokens.Salt)
		again.Expires, again.User = key.Expires, user.Name
		return errAgain
	})
	switch {
	case errors.Is(err, errAgain):
		return again, nil
	case errors.Is(err, errReused):
		a.people.RecordFailure(c, user, "device.reuse")
		return nil, errors.Join(err, end(c, a.people.Store, device.Key, user))
	}
	return next, grantError(err)
}

// errAgain ends a rotation that has taken place already.
var errAgain = errors.New("the tokens were rotated before")

// grantError returns the reason for which a device gets no other tokens.
func grantError(err error) error {
	if errors.Is(err, aigateway.ErrNotFound) {
		return errGrant
	}
	return err
}

// familyOf returns the part of a refresh token that all of a device have.
func familyOf(token string) (family string, ok bool) {
	rest, ok := strings.CutPrefix(token, refreshPrefix)
	family, _, both := strings.Cut(rest, ".")
	return family, ok && both
}

// rotate gives the key of a device another secret, if check agrees, and returns the tokens.
func (a *Agents) rotate(c *call.Call, store aigateway.Devices, presented, family string, check func(*aigateway.Device, *aigateway.StoredKey) error) (next *tokens, err error) {
	err = store.Rotate(c.Context(), call.Digest(devicePrefix+family), func(d *aigateway.Device, key *aigateway.StoredKey, user *aigateway.User) error {
		now := a.clock().UTC().Truncate(time.Millisecond)
		if user.Disabled || key.Disabled || !now.Before(d.Expires) {
			return errGrant
		}
		if err := check(d, key); err != nil {
			return err
		}
		refreshed, issued := d.Tokens.Refresh, now
		if refreshed == (aigateway.Digest{}) && !d.Tokens.Rotated.IsZero() {
			issued = d.Tokens.Rotated // of the first answer: repeating it must not prolong grace
		}
		d.Tokens = aigateway.DeviceTokens{Replaced: refreshed, Rotated: issued}
		_, _ = rand.Read(d.Tokens.Salt[:]) // never fails
		next = tokensAfter(presented, family, d.Tokens.Salt)
		next.Expires, next.User = now.Add(time.Duration(a.Access)), user.Name
		if d.Expires.Before(next.Expires) {
			next.Expires = d.Expires
		}
		d.Tokens.Refresh = call.Digest(next.Refresh)
		key.Replaced = aigateway.ReplacedSecret{}
		if end := now.Add(overlap); refreshed != (aigateway.Digest{}) && now.Before(key.Expires) {
			if key.Expires.Before(end) {
				end = key.Expires
			}
			key.Replaced = aigateway.ReplacedSecret{Digest: key.Digest, Until: end}
		}
		key.Digest, key.Hint, key.Expires = call.Digest(next.Access), aigateway.APIKeyHint(aigateway.Secret(next.Access)), next.Expires
		return nil
	})
	return next, err
}

// revoke ends the sign-in of a refresh token, an access token or a device code. Other tokens are none of a
// device.
func (a *Agents) revoke(c *call.Call, token string) error {
	store, err := a.store()
	if err != nil {
		return err
	}
	if strings.HasPrefix(token, accessPrefix) {
		return revokeAccess(c, a.people.Store, token)
	}
	secret := token
	if family, ok := familyOf(token); ok {
		secret = devicePrefix + family
	}
	device, user, err := store.Find(c.Context(), call.Digest(secret))
	if errors.Is(err, aigateway.ErrNotFound) || err == nil && user == nil {
		return nil
	}
	if err != nil {
		return err
	}
	c.ActAs(user, 0)
	return end(c, a.people.Store, device.Key, user)
}

// revokeAccess ends the sign-in of an access token, also of one that has expired.
func revokeAccess(c *call.Call, store aigateway.Store, token string) error {
	known := find(c, store, token)
	if known == nil {
		return nil
	}
	id, ok := aigateway.StoredKeyNumber(known.ID)
	if !ok {
		return nil // of another source of keys
	}
	key, err := store.Key(c.Context(), aigateway.AnyUser, id)
	if err == nil && key.Renewable.IsZero() {
		err = aigateway.ErrNotFound // no sign-in
	}
	var user *aigateway.User
	if err == nil {
		user, err = store.User(c.Context(), key.UserID)
	}
	if errors.Is(err, aigateway.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	c.ActAs(user, 0)
	return end(c, store, key.ID, user)
}

// end deletes the key of a device, and thereby the device.
func end(c *call.Call, store aigateway.Store, key int64, user *aigateway.User) error {
	err := store.DeleteKey(c.Context(), user.ID, key)
	if errors.Is(err, aigateway.ErrNotFound) {
		return nil
	}
	return err
}
