package messages

import "github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"

type usage struct {
	InputTokens   int `json:"input_tokens"`
	CacheCreation int `json:"cache_creation_input_tokens"`
	CacheRead     int `json:"cache_read_input_tokens"`
	Created       struct {
		FiveMinutes int `json:"ephemeral_5m_input_tokens"`
		OneHour     int `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	OutputTokens  int `json:"output_tokens"`
	OutputDetails struct {
		Thinking int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
	ServiceTier string `json:"service_tier"`
}

// newUsage returns the usage of an answer. With the fault no-usage, all counts are 0.
func newUsage(a *reply.Answer) usage {
	count := a.Usage
	if a.Faults.Has(reply.NoUsage) {
		count = reply.Usage{}
	}
	u := usage{
		InputTokens: count.Input, CacheCreation: count.CacheWrite, CacheRead: count.CacheRead,
		OutputTokens: count.Output, ServiceTier: "standard",
	}
	u.Created.FiveMinutes = count.CacheWrite
	u.OutputDetails.Thinking = count.Reasoning
	return u
}
