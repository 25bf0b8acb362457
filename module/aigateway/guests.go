package aigateway

import (
	"iter"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// Preset is what a guest module in the namespace ai_gateway.providers
// implements: what a provider's name implies. It is asked once, while the
// configuration is provisioned.
//
// A preset that also implements http.RoundTripper answers in-process: it gets
// the requests itself and no address is needed.
type Preset interface {
	Defaults() Defaults
}

// Defaults are the properties of a provider that its configuration need not
// repeat. Whatever the configuration says wins.
type Defaults struct {
	// BaseURL is the address under which the provider serves its formats, as
	// its SDKs take it: https://api.openai.com/v1, https://api.anthropic.com.
	// Empty when an operator has to give it.
	BaseURL string
	// Formats that the provider speaks natively, the preferred one first.
	Formats []translate.Format
	// Header is the credential's header: "Authorization" (sent as a bearer
	// token; the default) or another one, sent bare.
	Header string
	// KeyRequired says that the provider answers no one without a key.
	KeyRequired bool
	// Traits that the provider has, by name; see Upstream.Traits.
	Traits map[string]string
	// ModelTraits are what is known of single models, by the provider's own names
	// for them. Of the patterns that match a name the first counts; its traits
	// overrule Traits.
	ModelTraits []ModelTraits
	// AnswerBounds bound the answers of the provider. A zero value stands for that
	// of DefaultAnswerBounds.
	AnswerBounds AnswerBounds
	// ListsModels says that the provider documents a list of its models, GET
	// /v1/models or the like of its format.
	ListsModels bool
	// Models are names that the provider is known to serve; GET /v1/models
	// lists them for a provider without a list of its own.
	Models []string
}

// ModelTraits are traits of the models whose names match a pattern.
type ModelTraits struct {
	Pattern Pattern
	Traits  map[string]string
}

// KeySource is what a guest module in the namespace ai_gateway.keys
// implements: where keys are looked up.
type KeySource interface {
	// Lookup returns the key with this digest, nil when there is none. It is
	// called on the path of every request, from many goroutines at once, and
	// must not do any I/O.
	Lookup(Digest) *Key
}

// PartialKeySource is what a KeySource implements that may not know all of its keys for
// a while. Until it does, an unknown key is answered with a request to come
// again, not as a wrong one.
type PartialKeySource interface {
	// Complete reports whether Lookup knows all keys.
	Complete() bool
}

// KeyLister is what a KeySource implements that can list its keys. Sources of one
// site that do are checked for keys of the same name or value.
type KeyLister interface {
	// All are the keys, in no particular order.
	All() iter.Seq[*Key]
}

// LiveKeyLister is what a KeyLister implements whose keys change without a reload of
// the configuration.
type LiveKeyLister interface {
	KeyLister
	// CheckChanges has new keys checked before they take effect. Keys that a
	// check refuses, with a KeyError where it is about one of them, must not. It
	// may be called more than once: all checks count.
	CheckChanges(check func(iter.Seq[*Key]) error)
}
