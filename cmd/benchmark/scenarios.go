package main

// scenario is one kind of requests.
type scenario struct {
	name     string
	client   format // of the requests
	provider format // the gateway translates if it differs from client
	size     size   // of the requests
	streams  bool   // whether the answers are streams
	clients  int    // that send requests at the same time
}

// relayed returns the scenario for reverse_proxy, which translates nothing.
func (s scenario) relayed() scenario {
	s.provider = s.client
	return s
}

// model returns the name of the model, by which the gateway chooses the provider.
func (s scenario) model() string { return "bench-" + string(s.provider) }

// size is the size of a request: a conversation of turns, each with a text.
type size struct {
	turns, bytes int // bytes of each text
	tools        int // that the request defines; with tools, every second turn is a call and its result
}

var (
	small = size{turns: 1, bytes: 900}
	large = size{turns: 60, bytes: 1100, tools: 30}
	agent = size{turns: 120, bytes: 3600, tools: 40}
)

// scenarios are all scenarios, in the order of the table.
var scenarios = []scenario{
	{name: "chat 1 KB", client: chat, provider: chat, size: small, clients: 32},
	{name: "chat 100 KB", client: chat, provider: chat, size: large, clients: 16},
	{name: "messages 1 KB", client: messages, provider: messages, size: small, clients: 32},
	{name: "messages agent 500 KB", client: messages, provider: messages, size: agent, clients: 8},
	{name: "messages stream", client: messages, provider: messages, size: small, streams: true, clients: 16},
	{name: "responses stream", client: responses, provider: responses, size: small, streams: true, clients: 16},
	{name: "messages to chat 1 KB", client: messages, provider: chat, size: small, clients: 32},
	{name: "messages to chat 100 KB", client: messages, provider: chat, size: large, clients: 16},
	{name: "messages to chat agent 500 KB", client: messages, provider: chat, size: agent, clients: 8},
	{name: "messages to chat stream", client: messages, provider: chat, size: small, streams: true, clients: 16},
	{name: "responses to messages stream", client: responses, provider: messages, size: small, streams: true, clients: 16},
	{name: "messages to responses stream", client: messages, provider: responses, size: small, streams: true, clients: 16},
}
