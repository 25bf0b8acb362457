package messages

// Request holds the members of a request body beside its conversation and its
// tools, each as it is written in the body; nil where it is absent or null.
type Request struct {
	Model         []byte `member:"model"`
	System        []byte `member:"system"`
	MaxTokens     []byte `member:"max_tokens"`
	Temperature   []byte `member:"temperature"`
	TopP          []byte `member:"top_p"`
	TopK          []byte `member:"top_k"`
	StopSequences []byte `member:"stop_sequences"`
	Stream        []byte `member:"stream"`
	ToolChoice    []byte `member:"tool_choice"`
	Thinking      []byte `member:"thinking"`
	Metadata      []byte `member:"metadata"`
	OutputConfig  []byte `member:"output_config"`
	OutputFormat  []byte `member:"output_format"`
	ServiceTier   []byte `member:"service_tier"`
	CacheControl  []byte `member:"cache_control"`
	Container     []byte `member:"container"`
	MCPServers    []byte `member:"mcp_servers"`
	InferenceGeo  []byte `member:"inference_geo"`
	Thread        []byte `member:"thread"`
}

// slot is where a member is kept, nil for one that Other is told of.
func (r *Request) slot(name []byte) *[]byte {
	switch string(name) {
	case "model":
		return &r.Model
	case "system":
		return &r.System
	case "max_tokens":
		return &r.MaxTokens
	case "temperature":
		return &r.Temperature
	case "top_p":
		return &r.TopP
	case "top_k":
		return &r.TopK
	case "stop_sequences":
		return &r.StopSequences
	case "stream":
		return &r.Stream
	case "tool_choice":
		return &r.ToolChoice
	case "thinking":
		return &r.Thinking
	case "metadata":
		return &r.Metadata
	case "output_config":
		return &r.OutputConfig
	case "output_format":
		return &r.OutputFormat
	case "service_tier":
		return &r.ServiceTier
	case "cache_control":
		return &r.CacheControl
	case "container":
		return &r.Container
	case "mcp_servers":
		return &r.MCPServers
	case "inference_geo":
		return &r.InferenceGeo
	case "thread":
		return &r.Thread
	}
	return nil
}

// Message is what a message holds beside its content.
type Message struct {
	OutputConfig []byte `member:"output_config"`
	ClearAt      []byte `member:"clear_at"`
}

func (m *Message) slot(name []byte) *[]byte {
	switch string(name) {
	case "output_config":
		return &m.OutputConfig
	case "clear_at":
		return &m.ClearAt
	}
	return nil
}

// Block is a content block: its members as they are written in the body, nil
// where they are absent or null, except for Type, which is decoded.
type Block struct {
	Type         []byte `member:"type"`
	Text         []byte `member:"text"`
	Source       []byte `member:"source"`
	Title        []byte `member:"title"`
	Context      []byte `member:"context"`
	Thinking     []byte `member:"thinking"`
	Signature    []byte `member:"signature"`
	Data         []byte `member:"data"`
	ID           []byte `member:"id"`
	Name         []byte `member:"name"`
	Input        []byte `member:"input"`
	ToolUseID    []byte `member:"tool_use_id"`
	ToolName     []byte `member:"tool_name"`
	Content      []byte `member:"content"`
	IsError      []byte `member:"is_error"`
	Citations    []byte `member:"citations"`
	CacheControl []byte `member:"cache_control"`
}

func (b *Block) slot(name []byte) *[]byte {
	switch string(name) {
	case "type":
		return &b.Type
	case "text":
		return &b.Text
	case "source":
		return &b.Source
	case "title":
		return &b.Title
	case "context":
		return &b.Context
	case "thinking":
		return &b.Thinking
	case "signature":
		return &b.Signature
	case "data":
		return &b.Data
	case "id":
		return &b.ID
	case "name":
		return &b.Name
	case "input":
		return &b.Input
	case "tool_use_id":
		return &b.ToolUseID
	case "tool_name":
		return &b.ToolName
	case "content":
		return &b.Content
	case "is_error":
		return &b.IsError
	case "citations":
		return &b.Citations
	case "cache_control":
		return &b.CacheControl
	}
	return nil
}

// Source is where an image or a document comes from, as Block.
type Source struct {
	Type      []byte `member:"type"`
	MediaType []byte `member:"media_type"`
	Data      []byte `member:"data"`
	URL       []byte `member:"url"`
	Content   []byte `member:"content"`
}

func (s *Source) slot(name []byte) *[]byte {
	switch string(name) {
	case "type":
		return &s.Type
	case "media_type":
		return &s.MediaType
	case "data":
		return &s.Data
	case "url":
		return &s.URL
	case "content":
		return &s.Content
	}
	return nil
}

// Tool is an entry of the tools, as Block.
type Tool struct {
	Type           []byte `member:"type"`
	Name           []byte `member:"name"`
	Description    []byte `member:"description"`
	InputSchema    []byte `member:"input_schema"`
	Strict         []byte `member:"strict"`
	AllowedCallers []byte `member:"allowed_callers"`
}

func (t *Tool) slot(name []byte) *[]byte {
	switch string(name) {
	case "type":
		return &t.Type
	case "name":
		return &t.Name
	case "description":
		return &t.Description
	case "input_schema":
		return &t.InputSchema
	case "strict":
		return &t.Strict
	case "allowed_callers":
		return &t.AllowedCallers
	}
	return nil
}
