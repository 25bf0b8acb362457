package aigateway

import "net/url"

// View returns a part of the state of the gateway for administrators: a value that can be
// written as JSON, and contains no secret. The query has the parameters of the view. An
// error of the type caddy.APIError has the status and the message of the answer.
type View func(query url.Values) (any, error)

// ViewAccounts is an optional interface of Accounts that show administrators the state of
// the gateway.
type ViewAccounts interface {
	// UseViews sets the views of all sites with these accounts, by their names. It is called
	// at most once, while the configuration is provisioned.
	UseViews(map[string]View)
}
