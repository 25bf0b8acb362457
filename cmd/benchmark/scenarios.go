package main

import (
	"fmt"
	"time"
)

// scenario is one kind of requests.
type scenario struct {
	name     string
	client   format        // of the requests
	provider format        // the gateway translates if it differs from client
	size     size          // of the requests
	events   int           // texts of a stream; 0 for a JSON answer
	pace     time.Duration // between two texts
	rate     int           // requests in a second, of all clients; 0 for as many as possible
	clients  int           // that send requests at the same time
	setting  setting
}

// setting is what a scenario needs of the processes. Scenarios of one setting share them.
type setting struct {
	clientTLS   bool   // clients use HTTP/2 over TLS
	providerTLS string // the version of HTTP over TLS to the provider; empty for HTTP/1.1 without TLS
	keepAlive   string // how long gateways keep idle connections to the provider; empty for their default
	keys        int    // that clients use in turn; 0 for one
	models      int    // that clients use in turn, with a block each; 0 for none
	providers   int    // that the models use in turn; 0 for one
	server      server // that the gateways need
	gateways    int    // behind a plain Caddy that balances; 0 for one without it
	held        bool   // each client holds one stream open, and each measurement has a new process
}

// server is a further server. Scenarios whose server does not run are left out.
type server string

const (
	redis    server = "Redis"
	postgres server = "PostgreSQL"
	shared   server = "Redis and PostgreSQL"
)

// relayed returns the scenario for reverse_proxy, which translates nothing, and has one key.
func (s scenario) relayed() scenario {
	s.provider, s.setting.keys, s.setting.models = s.client, 0, 0
	return s
}

// model returns the name of the model, by which the gateway chooses the provider, and the
// provider the form of its answer.
func (s scenario) model() string {
	return fmt.Sprintf("bench-%s/%d/%s", s.provider, s.events, s.pace)
}

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
	{name: "chat 1 KB, 300 a second", client: chat, provider: chat, size: small, rate: 300, clients: 32},
	{name: "chat 100 KB", client: chat, provider: chat, size: large, clients: 16},
	{name: "messages 1 KB", client: messages, provider: messages, size: small, clients: 32},
	{name: "messages agent 500 KB", client: messages, provider: messages, size: agent, clients: 8},
	{name: "messages stream", client: messages, provider: messages, size: small, events: 100, clients: 16},
	{name: "responses stream", client: responses, provider: responses, size: small, events: 100, clients: 16},
	{name: "messages to chat 1 KB", client: messages, provider: chat, size: small, clients: 32},
	{name: "messages to chat 100 KB", client: messages, provider: chat, size: large, clients: 16},
	{name: "messages to chat agent 500 KB", client: messages, provider: chat, size: agent, clients: 8},
	{name: "messages to chat stream", client: messages, provider: chat, size: small, events: 100, clients: 16},
	{name: "responses to messages stream", client: responses, provider: messages, size: small, events: 100, clients: 16},
	{name: "messages to responses stream", client: messages, provider: responses, size: small, events: 100, clients: 16},

	{name: "TLS provider, HTTP/1.1", client: chat, provider: chat, size: small, clients: 32, setting: setting{providerTLS: "1.1"}},
	{name: "TLS provider, HTTP/1.1, stream", client: messages, provider: messages, size: small, events: 100, clients: 16, setting: setting{providerTLS: "1.1"}},
	{name: "TLS provider, HTTP/2", client: chat, provider: chat, size: small, clients: 32, setting: setting{providerTLS: "2"}},
	{name: "TLS provider, HTTP/2, stream", client: messages, provider: messages, size: small, events: 100, clients: 16, setting: setting{providerTLS: "2"}},
	{name: "TLS client, HTTP/2", client: chat, provider: chat, size: small, clients: 32, setting: setting{clientTLS: true}},
	{name: "TLS client, HTTP/2, stream", client: messages, provider: messages, size: small, events: 100, clients: 16, setting: setting{clientTLS: true}},

	{name: "10000 keys, 1000 models, 200 providers", client: chat, provider: chat, size: small, clients: 32, setting: setting{keys: 10_000, models: 1000, providers: 200}},
	{name: "counters in Redis", client: chat, provider: chat, size: small, clients: 32, setting: setting{server: redis}},
	{name: "ledger in PostgreSQL", client: chat, provider: chat, size: small, clients: 32, setting: setting{server: postgres}},

	{name: "1 gateway, Redis and PostgreSQL", client: chat, provider: chat, size: small, clients: 32, setting: setting{server: shared, gateways: 1}},
	{name: "2 gateways, Redis and PostgreSQL", client: chat, provider: chat, size: small, clients: 32, setting: setting{server: shared, gateways: 2}},
	{name: "3 gateways, Redis and PostgreSQL", client: chat, provider: chat, size: small, clients: 32, setting: setting{server: shared, gateways: 3}},

	{name: "1000 slow streams", client: messages, provider: messages, size: small, events: 100, pace: 100 * time.Millisecond, clients: 1000, setting: setting{held: true}},
	{name: "1000 slow streams, translated", client: messages, provider: chat, size: small, events: 100, pace: 100 * time.Millisecond, clients: 1000, setting: setting{held: true}},
	{name: "2000 streams, 20 events a second", client: messages, provider: messages, size: small, events: 200, pace: 50 * time.Millisecond, clients: 2000, setting: setting{held: true}},
	{name: "4000 idle streams", client: messages, provider: messages, size: small, events: 10, pace: time.Second, clients: 4000, setting: setting{held: true}},
}
