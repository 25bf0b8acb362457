package aigateway

import "net/url"

// State is the state of the gateway for administrators. Each method returns a value that can be
// written as JSON, and contains no secret. The query has the parameters of the request. An error
// of the type caddy.APIError has the status and the message of the answer.
type State interface {
	Status(url.Values) (any, error)         // whether it is ready, and what does not work
	Targets(url.Values) (any, error)        // of models, with their rests
	Configuration(url.Values) (any, error)  // that runs
	Caddyfile(url.Values) (any, error)      // the configuration that runs, as a Caddyfile
	Prices(url.Values) (any, error)         // of the targets
	ConfiguredKeys(url.Values) (any, error) // outside of the store
	Probe(url.Values) (any, error)          // asks a provider, and shows whether it answers
	Health(url.Values) (any, error)         // of providers, in the last hour
	MCPServers(url.Values) (any, error)     // with their tools whose definitions have changed

	// AcceptTools accepts changed definitions of tools. It calls audit before the change, with its row.
	AcceptTools(query url.Values, audit func(AuditEntry) error) (any, error)

	// Explain shows where the requests for a model go. request is the body of one of them, nil for none,
	// which decides about the conditions of targets.
	Explain(query url.Values, request []byte) (any, error)

	// CacheDiscount returns how much less a token costs now if it is read from a cache than if it is
	// fresh input, in trillionths of the currency, which is empty if no price is known. asked is the
	// client's name of the model, and model that of the provider.
	CacheDiscount(asked, provider, model string) (picos int64, currency string)

	// ModelPrices returns the prices that are known in US dollars of the models that allowed accepts, by the
	// names of clients; those of a pattern are left out.
	ModelPrices(allowed func(model string) bool) []ModelPrice
}

// ModelPrice is the price of the first target of a model, in US dollars for a million tokens. It lacks factors
// and the prices of long prompts.
type ModelPrice struct {
	Model    string // the name of the client
	Upstream string // that of the provider
	Builtin  bool   // the price is that of the table in the program

	Input, Output, CacheRead, CacheWrite float64
}

// StateAccounts is an optional interface of Accounts that show administrators the state of
// the gateway.
type StateAccounts interface {
	// UseState sets the state of all sites with these accounts. It is called at most once, while
	// the configuration is provisioned.
	UseState(State)
}
