package api

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// Build is the program that runs.
type Build struct {
	Version  string `json:"version"`  // "" for a build from a checkout
	Revision string `json:"revision"` // commit of a build from a checkout, "" if unknown
	Caddy    string `json:"caddy"`    // version
	Go       string `json:"go"`       // version
}

// CatalogAge is the age of the tables of models and prices.
type CatalogAge struct {
	AsOf string `json:"as_of"` // the date of the newest row, YYYY-MM-DD
	Old  bool   `json:"old"`   // more than 60 days ago
}

// Status is the state of the gateway.
type Status struct {
	Build
	Started time.Time  `json:"started"`
	Catalog CatalogAge `json:"catalog"`

	Ready     bool             `json:"ready"`  // for new requests
	Reason    string           `json:"reason"` // why the gateway is not ready
	Degraded  []DegradedPart   `json:"degraded"`
	Alerts    []Alert          `json:"alerts"`  // the newest first
	Running   int              `json:"running"` // exchanges at this moment, of all sites of the process
	Ended     int              `json:"ended"`   // exchanges within the last minute
	Providers []ProviderStatus `json:"providers"`

	// Lag is how many seconds the database is behind the ledger of this process, null if
	// there is no ledger or it is not known.
	Lag *int64 `json:"ledger_behind_seconds"`
}

// DegradedPart is a part that does not work, although the gateway serves requests.
type DegradedPart struct {
	Part   string `json:"part"`
	Reason string `json:"reason"`
}

// Alert is an event that needs somebody, and until when it did.
type Alert struct {
	Time  time.Time  `json:"time"`
	Event string     `json:"event"`
	Text  string     `json:"text"`
	Ended *time.Time `json:"over"` // null while it needs somebody
}

// ProviderStatus is the state of a provider.
type ProviderStatus struct {
	Name      string `json:"name"`
	Available bool   `json:"available"`
}

// Caddyfile is the configuration that runs, as a Caddyfile.
type Caddyfile struct {
	Text string `json:"text"`
}

// Target is a target with one of its API keys, and its state.
type Target struct {
	Provider string     `json:"provider"`
	Upstream string     `json:"upstream_model"`    // the provider's own name
	APIKey   string     `json:"api_key,omitempty"` // a reference
	Weight   int        `json:"weight"`            // its share of its step
	State    string     `json:"state"`             // one of the following
	RestEnd  *time.Time `json:"rest_until,omitempty"`
	Failure  string     `json:"last_failure,omitempty"` // class of the last failure
	Running  int        `json:"running"`                // calls at this moment
	Queue    string     `json:"queue,omitempty"`        // of the provider, as in the Caddyfile
	Waiting  int        `json:"waiting,omitempty"`      // requests in the queue
}

// The states of a target.
const (
	Available = "available"
	Failing   = "failing" // it has failed, but not often enough to rest
	Resting   = "resting"
)

// Explanation explains the requests for a model, and a key if the request names one.
type Explanation struct {
	Name     string           `json:"model"`
	Pattern  string           `json:"pattern"` // the configured name or pattern that matches the name
	Format   translate.Format `json:"format"`  // of the client
	Attempts int              `json:"attempts"`
	Order    string           `json:"order,omitempty"` // "cost" or "latency"; empty for that of the configuration
	SplitBy  string           `json:"split_by,omitempty"`
	Choice   string           `json:"choice,omitempty"` // why the first target is the first, as in records
	Mirror   string           `json:"mirror,omitempty"` // as in the Caddyfile
	Hedge    string           `json:"hedge,omitempty"`  // as in the Caddyfile; empty if guards or log_content exclude it
	Targets  []Choice         `json:"targets"`          // in the order in which they are asked
	Key      *ExplainedKey    `json:"key,omitempty"`
	Site     ExplainedSite    `json:"site"`
}

// ExplainedSite is the site of an explanation.
type ExplainedSite struct {
	Addresses []string `json:"addresses"` // as a Caddyfile has them
	Others    []string `json:"others"`    // of other sites that have the model, and the key if there is one
}

// Choice is a target with the treatment of a request there.
type Choice struct {
	Target
	Losses
	Total    int              `json:"step_weight"`      // the requests of which this target with this API key gets Weight
	Format   translate.Format `json:"format,omitempty"` // of the request to the provider, empty if it cannot be translated
	Lane     string           `json:"lane,omitempty"`   // "bytes" or "translated"
	Price    string           `json:"price,omitempty"`  // name of the price, empty if it is unknown
	Counting string           `json:"count_tokens,omitempty"`
	Facts    *Facts           `json:"facts,omitempty"`    // of the model, nil if nothing is known
	Measured string           `json:"measured,omitempty"` // by what the model is ordered, in words
	Warnings []string         `json:"warnings"`           // about the model: its end, its price, its name

	Restrictions
}

// Restrictions are what keeps requests from a target that could answer them.
type Restrictions struct {
	Condition  string `json:"condition,omitempty"`   // of the requests that the target takes; empty for all
	Unmet      bool   `json:"unmet,omitempty"`       // the example of a request does not meet the condition
	PassedOver string `json:"passed_over,omitempty"` // in words, which limit or budget has too little left; empty for none
}

// Losses are the fields of requests that a target does not get.
type Losses struct {
	Reported []string `json:"reported"` // that are left out, and reported
	Refused  []string `json:"refused"`  // for which the target is passed over
	LeftOut  []string `json:"left_out"` // members of the request to the provider that its preset leaves out
}

// Facts are what the tables state of a model.
type Facts struct {
	Values map[string]string `json:"values"` // by column
	AsOf   string            `json:"as_of"`
	Source string            `json:"source"`
	Own    bool              `json:"own"` // of the operator's file
}

// ExplainedKey explains a key for the requests of a model.
type ExplainedKey struct {
	ID      string           `json:"id"`
	Allowed bool             `json:"allowed"`          // to use the model
	Reason  string           `json:"reason,omitempty"` // in words, why it is not allowed
	Limits  []ExplainedLimit `json:"limits"`           // the innermost first

	Priority string `json:"priority"` // in queues
}

// ExplainedLimit is a limit that applies to a key.
type ExplainedLimit struct {
	Name  string          `json:"name"`
	Scope aigateway.Scope `json:"per"`
	Rules string          `json:"rules"` // in words
}

// Removed is how many cached answers were removed.
type Removed struct {
	Removed int `json:"removed"`
}

// MCPServer is a server of the Model Context Protocol.
type MCPServer struct {
	Name    string   `json:"name"`
	Era     string   `json:"era"`     // auto, legacy or modern
	Pin     string   `json:"pin"`     // warn or block; "" for none
	Tools   int      `json:"tools"`   // whose definitions are known; 0 without a pin
	Changed []string `json:"changed"` // the tools whose changed definitions nobody has accepted
}

// Accepted are the tools of a server whose changed definitions were accepted.
type Accepted struct {
	Accepted []string `json:"accepted"`
}

// Repriced are the calls of a model whose costs change from the same old price to the same new one.
type Repriced struct {
	Provider    string `json:"provider"`
	Model       string `json:"upstream_model"`
	OldPrice    string `json:"old_price"` // empty if it was unknown
	NewPrice    string `json:"new_price"`
	Calls       int64  `json:"calls"`
	OldMicro    int64  `json:"old_cost_micro"` // rounded half up
	OldCurrency string `json:"old_currency"`
	NewMicro    int64  `json:"new_cost_micro"`
	NewCurrency string `json:"new_currency"`
}
