package api

import "github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"

// Usage is a sum over records of one currency, with the values of the dimensions of the request.
type Usage struct {
	Start    string `json:"from,omitempty"` // the beginning of the hour, day or month
	Key      string `json:"key,omitempty"`
	User     string `json:"user,omitempty"`
	Limit    string `json:"limit,omitempty"`
	Model    string `json:"model,omitempty"`
	Provider string `json:"provider,omitempty"`
	Upstream string `json:"upstream_model,omitempty"`
	Outcome  string `json:"outcome,omitempty"`
	Tag      string `json:"tag,omitempty"` // the value
	Customer string `json:"customer,omitempty"`
	Label    string `json:"label,omitempty"` // a dimension: customer or tag:NAME

	Others int64 `json:"others,omitempty"` // number of values that are not among the largest, if the sum is theirs

	Requests int64 `json:"requests"`
	Calls    int64 `json:"calls"`
	Tokens

	CostMicro int64  `json:"cost_micro"` // rounded half up
	Currency  string `json:"currency"`
	Estimated int64  `json:"estimated"` // calls with tokens that the gateway estimated
	Unpriced  int64  `json:"unpriced"`  // calls whose cost is unknown, or known in part
	Floor     bool   `json:"floor"`     // CostMicro is a lower bound, because some calls are unpriced

	SavedMicro int64 `json:"saved_micro,omitempty"`   // by the cache of answers
	FirstByte  int64 `json:"first_byte_ms,omitempty"` // the mean of the answers; 0 without any
}

// Tokens are the numbers of tokens and of searches of a sum or a call.
type Tokens struct {
	Input      int64 `json:"input_tokens"` // without tokens read from or written to a cache
	CacheRead  int64 `json:"cache_read_tokens"`
	CacheWrite int64 `json:"cache_write_tokens"`
	Output     int64 `json:"output_tokens"` // includes Reasoning
	Reasoning  int64 `json:"reasoning_tokens"`
	Searches   int64 `json:"searches"`
}

// Record is the usage of one exchange.
type Record struct {
	ID        string `json:"id"` // a number beyond the exact integers of JavaScript
	Admitted  string `json:"at"`
	Request   string `json:"request"`
	Key       string `json:"key"`
	User      string `json:"user"`
	Limit     string `json:"limit"`
	Model     string `json:"model"`
	Operation string `json:"operation"`
	Format    string `json:"format"`
	Stream    bool   `json:"stream"`
	Status    int    `json:"status"` // 0: none was sent
	Outcome   string `json:"outcome"`
	FirstByte int64  `json:"first_byte_ms"` // 0: there was no answer
	Duration  int64  `json:"duration_ms"`
	Calls     []Call `json:"calls"` // the last one decided the outcome

	Attempts     []Attempt       `json:"attempts"`
	Choice       string          `json:"choice"` // why the last one was asked; empty for the first of the configuration
	Losses       []string        `json:"losses"`
	AnswerLosses []string        `json:"answer_losses"`
	Unchecked    []string        `json:"unchecked"` // by guards
	Batch        *BatchCounts    `json:"batch,omitempty"`
	Tags         []aigateway.Tag `json:"tags"`
	Customer     string          `json:"customer"`
	Reason       string          `json:"reason"` // why it was not answered
}

// Attempt is a target, which was called or passed over.
type Attempt struct {
	Provider string `json:"provider"`
	Model    string `json:"upstream_model"`
	Format   string `json:"format"` // empty: the target was passed over
	End      string `json:"end"`
	Status   int    `json:"status"` // 0: the provider has not answered
	Duration int64  `json:"duration_ms"`
	Repeated bool   `json:"repeated"`
}

// Call is one call of a provider. Amounts are in billionths of the unit of the currency.
type Call struct {
	Provider string `json:"provider"`
	Model    string `json:"upstream_model"`
	Answered string `json:"answered_model"` // as the provider names it
	Format   string `json:"format"`
	Status   int    `json:"status"` // 0: it has not answered
	Source   string `json:"source"`
	Finish   string `json:"finish"` // why a whole answer ended; empty: unknown

	Tokens
	CacheWriteLong int64 `json:"cache_write_1h_tokens"` // of CacheWrite
	Images         int64 `json:"images"`
	Seconds        int64 `json:"seconds"`
	Characters     int64 `json:"characters"`
	Queries        int64 `json:"queries"`
	ImageInput     int64 `json:"image_input_tokens"`      // of Input and CacheRead
	ImageCacheRead int64 `json:"image_cache_read_tokens"` // of CacheRead
	ImageOutput    int64 `json:"image_output_tokens"`     // of Output
	AudioInput     int64 `json:"audio_input_tokens"`      // of Input and CacheRead
	AudioCacheRead int64 `json:"audio_cache_read_tokens"` // of CacheRead
	AudioOutput    int64 `json:"audio_output_tokens"`     // of Output

	Price      string `json:"price"`       // empty: none was used
	CostSource string `json:"cost_source"` // see accounting.Costing
	CostNano   int64  `json:"cost_nano"`
	Currency   string `json:"currency"`
	HeldNano   int64  `json:"held_nano"`            // what budgets count, in addition, for what is unknown of the cost
	SavedNano  int64  `json:"saved_nano,omitempty"` // by the cache of answers
	Corrected  bool   `json:"corrected"`
}

// Savings is what caches have saved.
type Savings struct {
	Items []Saving `json:"items"`
	Floor bool     `json:"floor"` // more was saved, by reads whose price is unknown
}

// Saving is what was saved in a currency.
type Saving struct {
	SavedMicro   int64  `json:"saved_micro"`   // by caches of prompts
	AnswersMicro int64  `json:"answers_micro"` // by the cache of answers
	Currency     string `json:"currency"`
}

// BatchCounts are the requests of a batch, by how they ended.
type BatchCounts struct {
	Succeeded int64 `json:"succeeded"`
	Errored   int64 `json:"errored"`
	Canceled  int64 `json:"canceled"`
	Expired   int64 `json:"expired"`
}
