package chat

// Request holds the members of a request body beside its messages, each as it
// is written in the body; nil where it is absent or null.
type Request struct {
	Model               []byte `member:"model"`
	MaxTokens           []byte `member:"max_tokens"`
	MaxCompletionTokens []byte `member:"max_completion_tokens"`
	Temperature         []byte `member:"temperature"`
	TopP                []byte `member:"top_p"`
	TopK                []byte `member:"top_k"`
	N                   []byte `member:"n"`
	Stop                []byte `member:"stop"`
	Stream              []byte `member:"stream"`
	StreamOptions       []byte `member:"stream_options"`
	PresencePenalty     []byte `member:"presence_penalty"`
	FrequencyPenalty    []byte `member:"frequency_penalty"`
	LogitBias           []byte `member:"logit_bias"`
	Logprobs            []byte `member:"logprobs"`
	TopLogprobs         []byte `member:"top_logprobs"`
	Seed                []byte `member:"seed"`
	Verbosity           []byte `member:"verbosity"`
	Prediction          []byte `member:"prediction"`
	Tools               []byte `member:"tools"`
	ToolChoice          []byte `member:"tool_choice"`
	ParallelToolCalls   []byte `member:"parallel_tool_calls"`
	Functions           []byte `member:"functions"`
	FunctionCall        []byte `member:"function_call"`
	ResponseFormat      []byte `member:"response_format"`
	ReasoningEffort     []byte `member:"reasoning_effort"`
	User                []byte `member:"user"`
	SafetyIdentifier    []byte `member:"safety_identifier"`
	ServiceTier         []byte `member:"service_tier"`
	Modalities          []byte `member:"modalities"`
	Audio               []byte `member:"audio"`
	WebSearchOptions    []byte `member:"web_search_options"`
}

func (r *Request) slot(name []byte) *[]byte {
	switch string(name) {
	case "model":
		return &r.Model
	case "max_tokens":
		return &r.MaxTokens
	case "max_completion_tokens":
		return &r.MaxCompletionTokens
	case "n":
		return &r.N
	case "stop":
		return &r.Stop
	case "stream":
		return &r.Stream
	case "stream_options":
		return &r.StreamOptions
	case "tools":
		return &r.Tools
	case "tool_choice":
		return &r.ToolChoice
	case "parallel_tool_calls":
		return &r.ParallelToolCalls
	case "functions":
		return &r.Functions
	case "function_call":
		return &r.FunctionCall
	case "response_format":
		return &r.ResponseFormat
	}
	if slot := r.sampling(name); slot != nil {
		return slot
	}
	return r.option(name)
}

// sampling is the slot of a member that shapes sampling.
func (r *Request) sampling(name []byte) *[]byte {
	switch string(name) {
	case "temperature":
		return &r.Temperature
	case "top_p":
		return &r.TopP
	case "top_k":
		return &r.TopK
	case "presence_penalty":
		return &r.PresencePenalty
	case "frequency_penalty":
		return &r.FrequencyPenalty
	case "logit_bias":
		return &r.LogitBias
	case "logprobs":
		return &r.Logprobs
	case "top_logprobs":
		return &r.TopLogprobs
	case "seed":
		return &r.Seed
	}
	return nil
}

// option is the slot of any other member.
func (r *Request) option(name []byte) *[]byte {
	switch string(name) {
	case "verbosity":
		return &r.Verbosity
	case "prediction":
		return &r.Prediction
	case "reasoning_effort":
		return &r.ReasoningEffort
	case "user":
		return &r.User
	case "safety_identifier":
		return &r.SafetyIdentifier
	case "service_tier":
		return &r.ServiceTier
	case "modalities":
		return &r.Modalities
	case "audio":
		return &r.Audio
	case "web_search_options":
		return &r.WebSearchOptions
	}
	return nil
}

// Message is a message: its members as they are written in the body, nil where
// they are absent or null.
type Message struct {
	Role             []byte `member:"role"`
	Content          []byte `member:"content"`
	ToolCallID       []byte `member:"tool_call_id"`
	ToolCalls        []byte `member:"tool_calls"`
	FunctionCall     []byte `member:"function_call"`
	Refusal          []byte `member:"refusal"`
	Audio            []byte `member:"audio"`
	ReasoningContent []byte `member:"reasoning_content"`
	Reasoning        []byte `member:"reasoning"`
	ThinkingBlocks   []byte `member:"thinking_blocks"`
}

func (m *Message) slot(name []byte) *[]byte {
	switch string(name) {
	case "role":
		return &m.Role
	case "content":
		return &m.Content
	case "tool_call_id":
		return &m.ToolCallID
	case "tool_calls":
		return &m.ToolCalls
	case "function_call":
		return &m.FunctionCall
	case "refusal":
		return &m.Refusal
	case "audio":
		return &m.Audio
	case "reasoning_content":
		return &m.ReasoningContent
	case "reasoning":
		return &m.Reasoning
	case "thinking_blocks":
		return &m.ThinkingBlocks
	}
	return nil
}

// Part is a content part, or an element of thinking_blocks: its members as they
// are written in the body, nil where they are absent or null.
type Part struct {
	Type         []byte `member:"type"`
	Text         []byte `member:"text"`
	Refusal      []byte `member:"refusal"`
	ImageURL     []byte `member:"image_url"`
	File         []byte `member:"file"`
	Thinking     []byte `member:"thinking"`
	Signature    []byte `member:"signature"`
	Data         []byte `member:"data"`
	CacheControl []byte `member:"cache_control"`
	Breakpoint   []byte `member:"prompt_cache_breakpoint"`
}

func (p *Part) slot(name []byte) *[]byte {
	switch string(name) {
	case "type":
		return &p.Type
	case "text":
		return &p.Text
	case "refusal":
		return &p.Refusal
	case "image_url":
		return &p.ImageURL
	case "file":
		return &p.File
	case "thinking":
		return &p.Thinking
	case "signature":
		return &p.Signature
	case "data":
		return &p.Data
	case "cache_control":
		return &p.CacheControl
	case "prompt_cache_breakpoint":
		return &p.Breakpoint
	}
	return nil
}

// Media is the object of a part that holds an image or a file.
type Media struct {
	URL      []byte `member:"url"`
	Detail   []byte `member:"detail"`
	FileData []byte `member:"file_data"`
	FileID   []byte `member:"file_id"`
	Filename []byte `member:"filename"`
}

func (m *Media) slot(name []byte) *[]byte {
	switch string(name) {
	case "url":
		return &m.URL
	case "detail":
		return &m.Detail
	case "file_data":
		return &m.FileData
	case "file_id":
		return &m.FileID
	case "filename":
		return &m.Filename
	}
	return nil
}

// Tool is an entry of the tools, or of an assistant's tool_calls.
type Tool struct {
	Type         []byte `member:"type"`
	ID           []byte `member:"id"`
	Function     []byte `member:"function"`
	CacheControl []byte `member:"cache_control"`
}

func (t *Tool) slot(name []byte) *[]byte {
	switch string(name) {
	case "type":
		return &t.Type
	case "id":
		return &t.ID
	case "function":
		return &t.Function
	case "cache_control":
		return &t.CacheControl
	}
	return nil
}

// Function is the function of a tool, or of a call.
type Function struct {
	Name        []byte `member:"name"`
	Description []byte `member:"description"`
	Parameters  []byte `member:"parameters"`
	Strict      []byte `member:"strict"`
	Arguments   []byte `member:"arguments"`
}

func (f *Function) slot(name []byte) *[]byte {
	switch string(name) {
	case "name":
		return &f.Name
	case "description":
		return &f.Description
	case "parameters":
		return &f.Parameters
	case "strict":
		return &f.Strict
	case "arguments":
		return &f.Arguments
	}
	return nil
}
