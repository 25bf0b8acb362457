package service

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// The services, which are the first segments of paths.
const (
	OpenAI     = "openai"
	Azure      = "azure"
	Anthropic  = "anthropic"
	Vertex     = "vertex"
	Bedrock    = "bedrock"
	GoogleAI   = "gemini"
	XAI        = "xai"
	Mistral    = "mistral"
	DeepSeek   = "deepseek"
	Groq       = "groq"
	CohereAI   = "cohere"
	Together   = "together"
	OpenRouter = "openrouter"

	Moonshot    = "moonshot"
	DashScope   = "dashscope"
	ZAI         = "zai"
	MiniMax     = "minimax"
	SiliconFlow = "siliconflow"
	Fireworks   = "fireworks"
	DeepInfra   = "deepinfra"
	Cerebras    = "cerebras"
	NVIDIA      = "nvidia"
)

// formats are the formats of the services.
var formats = map[string]string{
	OpenAI: "chat completions responses", Azure: "chat completions responses messages", Anthropic: "messages", Vertex: "gemini messages",
	Bedrock: "converse messages", GoogleAI: "gemini", XAI: "chat completions responses", Mistral: "chat recordings", DeepSeek: "chat messages",
	Groq: "chat responses", CohereAI: "cohere chat", Together: "chat completions", OpenRouter: "chat messages responses",
	Moonshot: "chat responses", DashScope: "chat", ZAI: "chat", MiniMax: "chat responses", SiliconFlow: "chat",
	Fireworks: "chat completions messages responses", DeepInfra: "chat completions", Cerebras: "chat completions", NVIDIA: "chat completions",
}

// Server has all services at one address, each below its name.
type Server struct {
	// URL has no path.
	URL string

	mu   sync.Mutex // guards both
	last *Request
	rule *Rule
}

// Start starts the services for a test.
func Start(t testing.TB) *Server {
	s := new(Server)
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// tokenPath gives tokens of Google.
const tokenPath = "/token"

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == tokenPath {
		write(w, http.StatusOK, `{"access_token":"ya29.token","expires_in":3599,"token_type":"Bearer"}`)
		return
	}
	q, err := Read(r)
	if err != nil {
		write(w, http.StatusNotFound, `{"error":{"message":"`+err.Error()+`"}}`)
		return
	}
	rule := Refusal(q)
	s.mu.Lock()
	s.last, s.rule = q, rule
	s.mu.Unlock()
	if rule != nil {
		rule.refuse(w, q)
		return
	}
	q.answer(w)
}

// Last returns the last request since the last call, nil if there was none, and the rule that
// has refused it.
func (s *Server) Last() (*Request, *Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, rule := s.last, s.rule
	s.last, s.rule = nil, nil
	return q, rule
}
