package translation_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// The responses format has no stop texts, and clients such as Claude Code rely on them.
func TestR007AnAnswerOfAFormatWithoutStopsIsCut(t *testing.T) {
	c := answering{
		Lane:    "m>r",
		Request: json.RawMessage(`{"stop_sequences":["</b>"]}`),
		Answer: json.RawMessage(`{"id":"resp_1","object":"response","created_at":1,"model":"x","status":"completed","output":[` +
			`{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"<b>yes</b> and no","annotations":[]}]},` +
			`{"id":"fc_1","type":"function_call","call_id":"call_1","name":"f","arguments":"{}","status":"completed"}]}`),
		Want: json.RawMessage(`{"content":[{"type":"text","text":"<b>yes"}],"stop_reason":"stop_sequence","stop_sequence":"</b>"}`),
	}
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startConforming(t, w, [2]string{c.Lane, ""})
		for _, streaming := range []bool{false, true} {
			s.answering(t, c, streaming)
			assert.NotContains(t, s.last(), "stop")
		}
	})
}

// The list of tools is open: agents send types that are newer than the gateway.
func TestR026ToolsThatNobodyKnowsReachProvidersOfTheFormat(t *testing.T) {
	const body = `{"model":"m","input":"hi","tools":[{"type":"telepathy_2031","range": 3},{"type":"function","name":"f","parameters":{}}]}`
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p))
		p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(`{"id":"r","object":"response","status":"completed","output":[]}`)))
		requireAnswered(t, s.Ask(site.ResponsesPath, body))
		assert.Equal(t, body, string(p.Requests()[0].Body))
	})
}

// responseOf returns the member of an event that is about a response with these members.
func responseOf(members string) string {
	return `,"response":{"id":"resp_1","object":"response","created_at":1,"model":"x","output":[],"usage":null,` + members + `}`
}

// A response announces itself before the model runs. If the announcement were sent, a
// failure behind it could neither have a status nor be made good by another target.
func TestR035AResponseThatFailsBeforeContentIsNotSent(t *testing.T) {
	overloaded := gatewaytest.ResponseStream(
		"response.created "+responseOf(`"status":"in_progress","error":null`),
		"response.in_progress "+responseOf(`"status":"in_progress","error":null`),
		"response.failed "+responseOf(`"status":"failed","error":{"code":"server_is_overloaded","message":"too busy"}`))
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		onLanes(t, w, site.Lanes, func(t *testing.T, s site.Failover, r site.Lane) {
			if r.Upstream != site.ResponsesPath {
				return
			}
			s.First.Always(overloaded)
			seen := s.Ask(r.Path, site.BodyFor(r.Path, "m", "hello", true)).Read(t, r.Path)
			assert.True(t, seen.Complete)
			assert.Equal(t, []int{1, 1}, []int{s.First.Count(), s.Second.Count()})
			alone := s.Ask(r.Path, site.BodyFor(r.Path, "1", "hello", true))
			explained(translatedStatuses[http.StatusServiceUnavailable], "too busy", "").Assert(t, r.Path, alone)
		})
	})
}

// Codex gives up a stream after a time without events, and comments are none.
func TestR038SilenceInACallIsFilledWithEmptyDeltas(t *testing.T) {
	const body = `{"model":"m","stream":true,"input":"hi","tools":[{"type":"custom","name":"apply_patch"}]}`
	block := func(kind, members string) string {
		return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\",\"index\":0," + members + "}\n\n"
	}
	argument := func(text string) string {
		return block("content_block_delta", `"delta":{"type":"input_json_delta","partial_json":"`+text+`"}`)
	}
	whole := site.Streams[site.MessagesPath]
	begin := whole[0] + block("content_block_start", `"content_block":{"type":"tool_use","id":"a","name":"apply_patch","input":{}}`) + argument(`{\"input\":\"*** Be`)
	end := argument(`gin Patch\"}`) + strings.Join(whole[len(whole)-3:], "")
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startTranslated(t, w, site.NewLane(translate.Responses, translate.Messages), "keep_alive 5ms")
		s.First.Script(gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, begin), gatewaytest.Stall(s.Gate, gatewaytest.More(end))))
		answer := s.Open(site.ResponsesPath, body)
		answer.NextUntil("response.output_item.added")
		for range 3 {
			event := answer.Next()
			assert.Contains(t, event, "event: response.custom_tool_call_input.delta\n")
			assert.Contains(t, event, `"delta":""`)
		}
		s.Gate.Open()
		reply := answer.Rest()
		require.True(t, reply.Read(t, site.ResponsesPath).Complete, reply.Body)
		assert.Contains(t, reply.Body, `"input":"*** Begin Patch"`)
		assert.NotContains(t, reply.Body, ": keep-alive")
	})
}
