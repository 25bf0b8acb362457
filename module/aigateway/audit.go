package aigateway

import (
	"context"
	"encoding/hex"
	"time"
)

// Actor is who makes a change, for the audit log of a [Store].
type Actor struct {
	// Name is the kind of the actor, and a name after a slash if there is one:
	// "user/alice"; "command/root", a command of this machine with the account of the
	// operating system; "admin_api"; "config/host1", a gateway that starts with a
	// configuration; "issuer/company", a way to sign in; "anonymous", a client without a
	// login.
	Name    string
	Role    Role   // of a user; 0 for other actors
	Address string // of the client; "" if there is none
	Request string // the id of the request; "" if there is none
	Session int64  // the ID of the session of the request; 0 if there is none
}

// The actors without a name of their own, and the kinds of the others.
const (
	ActorAnonymous = "anonymous"
	ActorAdminAPI  = "admin_api"
	ActorUser      = "user/"
	ActorCommand   = "command/"
	ActorConfig    = "config/"
	ActorIssuer    = "issuer/"
)

type actorKey struct{}

// WithActor returns a context for the methods of a Store. Rows of the audit log about the
// changes that these methods make contain the actor.
func WithActor(ctx context.Context, actor Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

// ActorOf returns the actor of a context, and false if it has none.
func ActorOf(ctx context.Context) (Actor, bool) {
	actor, ok := ctx.Value(actorKey{}).(Actor)
	return actor, ok
}

// AuditEntry is a row of an audit log.
type AuditEntry struct {
	ID int64 // larger than those of earlier rows; set by the log
	At time.Time
	Actor

	Action  string // what was done, such as "key.update"
	Object  string // what it was done to, such as "user/alice" or "key/7"; "" if there is none
	Changes []AuditChange
	Failed  bool // the action was refused, as a login with a wrong password
}

// AuditChange is a changed field of an object. Of a secret, it contains the beginning of a
// digest. A field that did not exist before, or does not any more, is "".
type AuditChange struct {
	Field  string `json:"field"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// ShortDigest returns the beginning of a digest for a row of an audit log: enough to see that a
// secret or a configuration differs, and too little to find the secret.
func ShortDigest(digest Digest) string {
	return "sha256:" + hex.EncodeToString(digest[:6])
}

// AuditOptions configure an audit log.
type AuditOptions struct {
	Keep    time.Duration // how long rows are kept; 0 for the default of 400 days
	Lenient bool          // a change whose row cannot be written is made nevertheless
}

// AuditQuery selects rows of an audit log. Empty fields select all.
type AuditQuery struct {
	From, To time.Time // the first moment, and the first moment after the last one
	Actor    string    // an actor, or its kind: "user/alice" or "user"
	Object   string    // an object, or its kind: "key/7" or "key"
	Action   string    // an action, or its kind: "key.update" or "key"
	Before   int64     // rows with a smaller id, 0 for the newest
	Limit    int       // the largest number of rows, from 1
}

// AuditAccounts is an optional interface of Accounts that configure the audit log of their
// store.
type AuditAccounts interface {
	AuditOptions() AuditOptions
}

// AuditLog is an optional interface of a Store that keeps a row about each of its changes.
// The row is written in the transaction of the change, with the actor of the context. The
// log has no method that deletes or changes rows: it deletes a row itself when its time is
// over.
type AuditLog interface {
	// UseAudit sets the options. The gateway calls it when a configuration starts. Before
	// that, no row is deleted, and the options are the defaults.
	UseAudit(AuditOptions)

	// Audit adds a row about what is no change of the store. The log sets ID, At and Actor.
	Audit(context.Context, AuditEntry) error

	// AuditLoad adds a row about the start of a configuration, with what differs from the
	// previous one of the same actor, or of any actor if this one is new. The map contains
	// digests of the parts of the configuration by their names.
	AuditLoad(ctx context.Context, parts map[string]string) error

	// AuditEntries returns rows, the newest first.
	AuditEntries(context.Context, AuditQuery) ([]AuditEntry, error)
}
