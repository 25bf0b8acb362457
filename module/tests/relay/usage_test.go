package relay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

func TestG088UsageIsReadWhileEveryByteIsRelayed(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p))
		p.Script(gatewaytest.Chunks(gatewaytest.EventStream, site.Streams[site.MessagesPath]...))
		whole := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "hello", true))
		assert.Equal(t, strings.Join(site.Streams[site.MessagesPath], ""), whole.Body)
		record := s.Record(whole.ID())
		assert.Equal(t, 9.0, record["usage.input_tokens"])
		assert.Equal(t, 4.0, record["usage.output_tokens"])
		assert.Equal(t, "x", record["answered_by"])
	})
}

const usageChunk = "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"x\",\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3,\"total_tokens\":10}}\n\n"

func TestG003UsageOfChatStreamsIsAskedForAndWithheld(t *testing.T) {
	const head = `{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true`
	cases := []struct {
		name, sent, received string
		shown                bool
	}{
		{"absent", head + `}`, head + `,"stream_options":{"include_usage":true}}`, false},
		{"absent, spaces", head + ` } `, head + ` ,"stream_options":{"include_usage":true}} `, false},
		{"null", head + `,"stream_options": null }`, head + `,"stream_options": {"include_usage":true} }`, false},
		{"empty", head + `,"stream_options":{ },"n":1}`, head + `,"stream_options":{"include_usage":true},"n":1}`, false},
		{"another member", head + `,"stream_options":{"include_obfuscation":false}}`, head + `,"stream_options":{"include_usage":true,"include_obfuscation":false}}`, false},
		{"false", head + `,"stream_options":{"include_usage":false}}`, head + `,"stream_options":{"include_usage":true}}`, false},
		{"include_usage null", head + `,"stream_options":{"include_usage": null}}`, head + `,"stream_options":{"include_usage": true}}`, false},
		{"asked for by the client", head + `,"stream_options":{"include_usage":true}}`, head + `,"stream_options":{"include_usage":true}}`, true},
	}
	events := site.Streams[site.ChatPath]
	last := len(events) - 1
	plain := strings.Join(events, "")
	full := strings.Join(events[:last], "") + usageChunk + events[last]
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p, never := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "models m"), w.Provider("never", never, "models never", "include_usage off"))
		for _, c := range cases {
			for _, oneByOne := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, one by one: %t", c.name, oneByOne), func(t *testing.T) {
					step := gatewaytest.Chunks(gatewaytest.EventStream, full)
					if oneByOne {
						step = gatewaytest.Chunks(gatewaytest.EventStream, strings.SplitAfter(full, "\n\n")...)
					}
					p.Script(step)
					whole := s.Ask(site.ChatPath, c.sent)
					want := plain
					if c.shown {
						want = full
					}
					assert.Equal(t, want, whole.Body)
					requests := p.Requests()
					assert.Equal(t, c.received, string(requests[len(requests)-1].Body))
					record := s.Record(whole.ID())
					assert.Equal(t, 7.0, record["usage.input_tokens"])
					assert.Equal(t, 3.0, record["usage.output_tokens"])
				})
			}
		}
		never.Script(gatewaytest.Chunks(gatewaytest.EventStream, full))
		body := strings.Replace(cases[0].sent, `"m"`, `"never"`, 1)
		assert.Equal(t, full, s.Ask(site.ChatPath, body).Body, "nothing is withheld that was not asked for")
		assert.Equal(t, body, string(never.Requests()[0].Body), "include_usage off leaves the body alone")
	})
}
