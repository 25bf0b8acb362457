package responses

import "github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"

type usage struct {
	InputTokens  int `json:"input_tokens"`
	InputDetails struct {
		Cached     int `json:"cached_tokens"`
		CacheWrite int `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputTokens  int `json:"output_tokens"`
	OutputDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	TotalTokens int `json:"total_tokens"`
}

// newUsage returns the usage of an answer, nil for the fault no-usage.
func newUsage(a *reply.Answer) *usage {
	if a.Faults.Has(reply.NoUsage) {
		return nil
	}
	u := &usage{
		InputTokens: a.Usage.TotalInput(), OutputTokens: a.Usage.Output,
		TotalTokens: a.Usage.TotalInput() + a.Usage.Output,
	}
	u.InputDetails.Cached, u.InputDetails.CacheWrite = a.Usage.CacheRead, a.Usage.CacheWrite
	u.OutputDetails.Reasoning = a.Usage.Reasoning
	return u
}
