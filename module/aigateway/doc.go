// Package aigateway is the public API of the gateway: the interfaces of its guest
// modules, and the types that they use.
//
// A guest module is a Caddy module that the gateway loads. Its ID begins with one
// of these namespaces, and it implements the interface of the namespace:
//
//   - ai_gateway.providers: a [Preset] describes a service that answers requests,
//     or answers them itself.
//   - ai_gateway.keys: a [KeySource] looks up API keys.
//   - ai_gateway.counters: [Counters] count the requests, tokens and money that
//     limits restrict.
//   - ai_gateway.guards: a [Guard] checks the texts of requests and answers.
//   - ai_gateway.stores: a [Store] stores users, their sessions and their keys.
//
// The module with the ID ai_gateway.accounts is the only one of its kind in a
// build. It implements [Accounts], the HTTP API for users and administrators.
//
// The example of each interface is a complete module. A module that a Caddyfile
// can configure also implements caddyfile.Unmarshaler; its first token is the name
// of the module.
//
// # Compatibility
//
// A guest that compiles against this package compiles against later versions, too: exported
// names, fields and methods are added, but not removed or changed, and an interface that a
// guest implements gets no further method. What the gateway learns to ask becomes an
// interface of its own, which a guest may implement. Before version 1, an exception is
// possible; the changelog names it and says what to change.
//
// # Lifecycle
//
// The gateway loads guests while Caddy provisions a configuration. Loading must
// not fail because a service is down, and must not create files or open
// connections: "caddy validate" provisions a configuration, too, and never runs
// it. During a reload, the modules of the old and the new configuration exist at
// the same time, and requests of the old configuration may call its modules after
// their Cleanup.
//
// # Concurrency and I/O
//
// Methods may be called from several goroutines at once, except for those whose
// comments say that they are called while the configuration is provisioned.
//
// Methods with a context may do I/O, and return soon after the context is
// cancelled. Methods without a context do no I/O. In particular, every request
// waits for Lookup of each [KeySource], and for Settle and Release of its
// [Reservation]: counters on another machine settle in the background.
//
// Neither the gateway nor a guest changes a value that the guest has returned.
//
// # Errors and secrets
//
// The errors of guests are logged, and never sent to clients. An error must not contain a
// credential. [Secret] keeps a credential out of logs and JSON, and [ResolveSecret] reads
// one from the environment or from a file.
package aigateway
