package openai

import "github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"

// Usage is the usage of chat and completions.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
	PromptDetails    struct {
		Cached int `json:"cached_tokens"`
		Text   int `json:"text_tokens"`
		Audio  int `json:"audio_tokens"`
		Image  int `json:"image_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Text      int `json:"text_tokens"`
		Audio     int `json:"audio_tokens"`
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// NewUsage returns the usage of an answer, nil for the fault no-usage.
func NewUsage(a *reply.Answer) *Usage {
	if a.Faults.Has(reply.NoUsage) {
		return nil
	}
	count := a.Usage
	u := &Usage{
		PromptTokens: count.TotalInput(), CompletionTokens: count.Output,
		TotalTokens: count.TotalInput() + count.Output,
	}
	u.PromptDetails.Cached = count.CacheRead
	u.PromptDetails.Image = a.MediaTokens()
	u.PromptDetails.Text = u.PromptTokens - u.PromptDetails.Image
	u.CompletionDetails.Reasoning = count.Reasoning
	u.CompletionDetails.Text = count.Output - count.Reasoning
	return u
}
