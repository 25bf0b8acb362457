package aigateway

import (
	"context"
	"time"
)

// Device is a program, such as a coding agent, that asks to act for a person. The person confirms a
// code in a browser. A confirmed device has a key of the person, and ends when the key is deleted.
type Device struct {
	Digest  Digest    // of the device code, which only the program knows; unique
	Code    Digest    // of the code that the person types; zero once it is answered
	Agent   string    // the User-Agent header of the program, shortened
	Address string    // of the program, when it asked
	Created time.Time // set by the store
	Expires time.Time // of the code; of the whole sign-in once it is confirmed
	Denied  bool      // the person has refused
	Key     int64     // the ID of the key; 0: the code is not confirmed
	Tokens  DeviceTokens
}

// DeviceTokens identify the present tokens of a device. The tokens derive from the one that the
// program presented for them and from Salt, so that neither alone is worth anything.
type DeviceTokens struct {
	Refresh  Digest    // of the refresh token; zero: the program has none yet
	Replaced Digest    // of the refresh token before; zero: none
	Salt     Digest    // 256 random bits
	Rotated  time.Time // when the present tokens were issued; of a repeated first answer, when the first one was
}

// DeviceStore is an optional interface of a Store. The sign-in of agents needs it.
type DeviceStore interface {
	// Devices returns the devices of the store. It does no I/O.
	Devices() Devices
}

// Devices are the devices of a Store. Methods return ErrNotFound for one that the store does not have.
type Devices interface {
	// Create adds a device, and sets Created. It deletes devices that ended without a key.
	// It returns ErrTooMany if limit codes wait for an answer.
	Create(ctx context.Context, device *Device, limit int) error

	// Waiting returns the device whose code has this digest, has no answer, and has not
	// expired.
	Waiting(ctx context.Context, code Digest) (*Device, error)

	// Confirm adds a key, as CreateKey does, and gives it to the device whose code waits, which
	// ends at the time expires. It deletes the keys of the user whose devices have ended.
	Confirm(ctx context.Context, code Digest, expires time.Time, key *StoredKey, limit int) error

	// Deny refuses the device whose code waits.
	Deny(ctx context.Context, code Digest) error

	// Find returns the device with this digest, and the user of its key, nil without one.
	Find(ctx context.Context, digest Digest) (*Device, *User, error)

	// Poll is Find for a program that waits for the answer of the person. It records the time
	// of the poll, and returns ErrBusy if the poll before is not as long ago as pause.
	Poll(ctx context.Context, digest Digest, moment time.Time, pause time.Duration) (*Device, *User, error)

	// Rotate calls rotate with a confirmed device and its key within a transaction, and
	// stores the tokens and the key as rotate leaves them. An error of rotate is returned
	// unchanged, and nothing is stored.
	Rotate(ctx context.Context, digest Digest, rotate func(*Device, *StoredKey, *User) error) error

	// TokenUsed reports whether a request to this process had the access token with this digest. It does
	// no I/O, and knows nothing of other processes: StoredKey.Used has their uses, a minute late.
	TokenUsed(digest Digest) bool
}
