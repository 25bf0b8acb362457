package completions

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// Request holds the members of a request body, each as it is written in the
// body; nil where it is absent or null.
type Request struct {
	Model            []byte `member:"model"`
	Prompt           []byte `member:"prompt"`
	Suffix           []byte `member:"suffix"`
	MaxTokens        []byte `member:"max_tokens"`
	Temperature      []byte `member:"temperature"`
	TopP             []byte `member:"top_p"`
	N                []byte `member:"n"`
	BestOf           []byte `member:"best_of"`
	Stream           []byte `member:"stream"`
	StreamOptions    []byte `member:"stream_options"`
	Stop             []byte `member:"stop"`
	Echo             []byte `member:"echo"`
	Logprobs         []byte `member:"logprobs"`
	PresencePenalty  []byte `member:"presence_penalty"`
	FrequencyPenalty []byte `member:"frequency_penalty"`
	LogitBias        []byte `member:"logit_bias"`
	Seed             []byte `member:"seed"`
	User             []byte `member:"user"`
}

// Read takes a body that has passed Inspect apart; other is told of members
// that are not null and that Request has no place for. Of another body it may
// return an error.
func Read(body []byte, r *Request, other func(name, value []byte)) error {
	c := jsonscan.Again(body)
	if !c.EnterObject() {
		c.Skip()
		return c.Finish()
	}
	for c.Member() {
		if c.Null() {
			continue
		}
		name := c.Name()
		value := c.Skip()
		if slot := r.slot(name); slot != nil {
			*slot = value
		} else if value != nil {
			other(name, value)
		}
	}
	return c.Finish()
}

// slot is where a member is kept, nil for one that has no place.
func (r *Request) slot(name []byte) *[]byte {
	switch string(name) {
	case "model":
		return &r.Model
	case "prompt":
		return &r.Prompt
	case "suffix":
		return &r.Suffix
	case "max_tokens":
		return &r.MaxTokens
	case "temperature":
		return &r.Temperature
	case "top_p":
		return &r.TopP
	case "n":
		return &r.N
	case "best_of":
		return &r.BestOf
	case "stream":
		return &r.Stream
	case "stream_options":
		return &r.StreamOptions
	case "stop":
		return &r.Stop
	case "echo":
		return &r.Echo
	}
	return r.option(name)
}

// option is the slot of a member that shapes sampling or accounting.
func (r *Request) option(name []byte) *[]byte {
	switch string(name) {
	case "logprobs":
		return &r.Logprobs
	case "presence_penalty":
		return &r.PresencePenalty
	case "frequency_penalty":
		return &r.FrequencyPenalty
	case "logit_bias":
		return &r.LogitBias
	case "seed":
		return &r.Seed
	case "user":
		return &r.User
	}
	return nil
}
