package aigateway

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate"

// Preset is the interface of the modules in the namespace ai_gateway.providers. A preset
// describes a service, so that a configuration needs only its name.
//
// A preset that also implements http.RoundTripper answers in-process. It receives
// the requests that would go to the service, from many goroutines at once, and
// returns answers in the format of the request's path. A RoundTripper reads and
// closes the body of a request, and returns when the context of the request is
// cancelled.
type Preset interface {
	// Defaults returns the properties of the service. It is called while the
	// configuration is provisioned.
	Defaults() Defaults
}

// Defaults are the properties of a provider that its configuration need not
// repeat. The configuration overrides each of them.
type Defaults struct {
	// BaseURL is the address of the service, in the form in which its SDKs take
	// it: https://api.openai.com/v1, https://api.anthropic.com. If it is empty,
	// the configuration has to set base_url.
	BaseURL string

	// Formats are the wire formats of the service, the preferred one first. At
	// least one is needed, here or in the configuration.
	Formats []translate.Format

	// ModelFormats are the formats of single models, by the service's own model names, in
	// place of Formats. The first pattern that matches a name applies. They have no effect
	// if the configuration sets formats.
	ModelFormats []ModelFormats

	// Header is the name of the header that carries the credential. Default:
	// "Authorization", with a bearer token; any other header has the credential
	// alone as its value.
	Header string

	// KeyRequired makes a provider without api_key an error of the configuration.
	KeyRequired bool

	// Traits are the traits of the service, by name; see Upstream.Traits.
	Traits map[string]string

	// ModelTraits are the traits of single models, by the service's own model
	// names. The first pattern that matches a name applies; its traits override
	// Traits.
	ModelTraits []ModelTraits

	// AnswerBounds restrict the answers of the service. Default, for each zero
	// field: DefaultAnswerBounds.
	AnswerBounds AnswerBounds

	// ListsModels is true if the service documents a list of its models, such as
	// GET /v1/models. The gateway reads the list when a client asks for models.
	ListsModels bool

	// Protocol is what calls of the service need beyond its formats. Default: nothing.
	Protocol Protocol

	// Listing is where the tables of models and prices have the models. Default: below the name
	// of the preset, by the service's own names.
	Listing Listing

	// Models are models that the service is known to have. GET /v1/models shows
	// them if the gateway does not read the service's own list.
	Models []string
}

// Listing is where tables list the models of a service. Its functions may be nil, and keep no name.
type Listing struct {
	// As is the name of the service in the tables. Default: the name of the preset.
	As string

	// Plain returns the name of the same model in the tables, such as that behind an ARN.
	Plain func(model string) string

	// Base returns the name of the model of which a model is a variant that takes the same
	// requests: a model that was fine-tuned, or the profile of a region. Its facts apply, and not
	// its prices. For other models, Base returns the name unchanged.
	Base func(model string) string

	// Priced returns the name under which the tables have the price of a model that they do not
	// have by its own name.
	Priced func(model string) string
}

// ModelFormats are formats of the models whose names match a pattern, the preferred one first.
// All of them are among the Formats of the service.
type ModelFormats struct {
	Pattern Pattern
	Formats []translate.Format
}

// ModelTraits are traits of the models whose names match a pattern.
type ModelTraits struct {
	Pattern Pattern
	Traits  map[string]string
}
