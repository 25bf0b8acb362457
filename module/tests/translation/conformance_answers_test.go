package translation_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

// answering is a case about an answer; testdata/conformance/README.md describes
// its members.
type answering struct {
	Name, Lane string
	Request    json.RawMessage
	Answer     json.RawMessage
	Plain      bool
	Events     []json.RawMessage
	Want       json.RawMessage
	Told       []string
	Failure    *struct {
		Status     int
		Type, Code string
	}
}

func readAnswerings(t *testing.T) (cases []answering) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(site.Root(t), "testdata", "conformance", "answers.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &cases))
	return cases
}

// TestConformanceOfAnswers plays the cases that the vendors' clients read too.
// What a client reads is added up by the laws that those enforce.
func TestConformanceOfAnswers(t *testing.T) {
	cases := readAnswerings(t)
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		var pairs [][2]string
		for _, c := range cases {
			pairs = append(pairs, [2]string{c.Lane, ""})
		}
		s := startConforming(t, w, pairs...)
		for _, c := range cases {
			t.Run(c.Name+" "+c.Lane, func(t *testing.T) {
				if c.Events == nil {
					s.answering(t, c, false)
				}
				if !c.Plain {
					s.answering(t, c, true)
				}
			})
		}
	})
}

func (s conforming) answering(t *testing.T, c answering, streaming bool) {
	route := conformingLanes[c.Lane]
	body := c.request(t, route.Path, s.models[c.Lane], streaming)
	if c.Failure != nil && c.Failure.Status == 0 {
		c.assertCutOff(t, route, s.cutOff(route, body, c.stream(route.Upstream)))
		return
	}
	s.p.Always(c.step(route.Upstream))
	defer s.p.Always(nil)
	answer := s.Ask(route.Path, body)
	if c.Failure != nil {
		assert.Equal(t, c.Failure.Status, answer.Status, answer.Body)
		c.assertFailure(t, answer.Failure(t))
		return
	}
	require.Equal(t, http.StatusOK, answer.Status, answer.Body)
	if !streaming {
		assertHolds(t, string(c.Want), answer.Body)
		return
	}
	assertHolds(t, string(c.Want), c.added(t, route, answer))
	if c.Told != nil {
		assert.Equal(t, c.Told, inShort(t, answer.Body))
	}
	if route.IsBytes() && c.Events != nil {
		assert.Equal(t, strings.Join(c.stream(route.Upstream), ""), answer.Body)
	}
}

// step is what the provider does.
func (c answering) step(upstream string) gatewaytest.Step {
	if c.Events == nil {
		return gatewaytest.Body(http.StatusOK, "application/json", c.Answer)
	}
	return gatewaytest.Chunks(gatewaytest.EventStream, c.stream(upstream)...)
}

// stream is the provider's stream, event by event.
func (c answering) stream(upstream string) (events []string) {
	for _, raw := range c.Events {
		var view struct{ Type string }
		text := string(raw)
		if json.Unmarshal(raw, &view) != nil {
			_ = json.Unmarshal(raw, &text) // what is no object is a text
		}
		event := "data: " + text + "\n\n"
		if upstream == site.MessagesPath {
			event = "event: " + view.Type + "\n" + event
		}
		events = append(events, event)
	}
	return events
}

// cutOff plays a stream whose end comes once the client has read its words,
// "Hi".
func (s conforming) cutOff(route site.Lane, body string, events []string) site.Reply {
	s.T.Helper()
	end := slices.IndexFunc(events, func(e string) bool { return strings.Contains(e, `"error"`) })
	if end < 0 {
		end = len(events)
	}
	gate := gatewaytest.NewGate(s.T)
	s.p.Script(gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, events[:end]...), gatewaytest.Stall(gate, gatewaytest.More(events[end:]...))))
	answer := s.Open(route.Path, body)
	for !strings.Contains(answer.Next(), `i"`) {
	}
	gate.Open()
	return answer.Rest()
}

func (c answering) assertCutOff(t *testing.T, route site.Lane, answer site.Reply) {
	t.Helper()
	assert.Equal(t, http.StatusOK, answer.Status)
	assertUnfinished(t, route, answer) // nothing may stand behind the error
	c.assertFailure(t, *answer.Read(t, route.Path).Failure)
}

func (c answering) assertFailure(t *testing.T, got client.Failure) {
	t.Helper()
	assert.Equal(t, c.Failure.Type, got.Type)
	assert.Equal(t, c.Failure.Code, got.Code)
}

// request puts the members of the case over those of a plain turn.
func (c answering) request(t *testing.T, path, model string, streaming bool) string {
	body := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(site.BodyFor(path, model, "hello", streaming)), &body))
	if c.Request != nil {
		require.NoError(t, json.Unmarshal(c.Request, &body))
	}
	if !streaming {
		delete(body, "stream_options")
	}
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	return string(raw)
}

// added is the answer that a stream adds up to. The bytes of a provider of the
// client's own format may say what the gateway never would.
func (c answering) added(t *testing.T, route site.Lane, answer site.Reply) string {
	t.Helper()
	got := answer.Read(t, route.Path).Object
	if !route.IsBytes() {
		var err error
		got, err = site.Clients[route.Path].Emitted([]byte(answer.Body))
		require.NoError(t, err, answer.Body)
		if _, stated := got["usage"]; route.Path != site.MessagesPath {
			assert.Equal(t, bytes.Contains(c.Request, []byte("include_usage")), stated, answer.Body)
		}
	}
	raw, err := json.Marshal(got)
	require.NoError(t, err)
	return string(raw)
}

// inShort names the events of a stream, blocks by their types and deltas by theirs.
func inShort(t *testing.T, stream string) (names []string) {
	t.Helper()
	for _, e := range client.Events([]byte(stream)) {
		var view struct {
			Block struct{ Type string } `json:"content_block"`
			Delta struct{ Type string }
		}
		require.NoError(t, json.Unmarshal([]byte(e.Data), &view))
		switch e.Name {
		case "content_block_start":
			names = append(names, "open "+view.Block.Type)
		case "content_block_delta":
			names = append(names, view.Delta.Type)
		case "content_block_stop":
			names = append(names, "close")
		default:
			names = append(names, e.Name)
		}
	}
	return names
}

// spoiled are ways to send the bytes of a stream that do not change its content.
func spoiled(t *testing.T, stream string) map[string]gatewaytest.Step {
	whole := func(text string) gatewaytest.Step { return gatewaytest.Chunks(gatewaytest.EventStream, text) }
	split := func(text, mark string) gatewaytest.Step {
		return gatewaytest.Chunks(gatewaytest.EventStream, strings.SplitAfter(text, mark)...)
	}
	crlf := strings.ReplaceAll(stream, "\n", "\r\n")
	return map[string]gatewaytest.Step{
		"G089 CR LF":                      whole(crlf),
		"G089 lone CR":                    whole(strings.ReplaceAll(stream, "\n", "\r")),
		"G089 CR and LF in two reads":     split(crlf, "\r"),
		"G090 no space behind the colon":  whole(strings.ReplaceAll(stream, ": ", ":")),
		"G090 an event of two data lines": whole(strings.ReplaceAll(stream, `,"choices"`, ",\ndata: \"choices\"")),
		"G090 comments":                   whole(strings.ReplaceAll(stream, "data: {", ": a comment\n:\ndata: {")),
		"G091 byte by byte":               gatewaytest.Chunks(gatewaytest.EventStream, bytesOf(stream)...),
		"G094 compressed":                 gatewaytest.Body(http.StatusOK, gatewaytest.EventStream, []byte(site.Encoded(t, "gzip", stream)), "Content-Encoding", "gzip"),
	}
}

func bytesOf(text string) (list []string) {
	for i := range len(text) {
		list = append(list, text[i:i+1])
	}
	return list
}

func TestConformanceOfSpoiledStreams(t *testing.T) {
	chunk := func(delta, finish string) string {
		return fmt.Sprintf("data: {\"id\":\"c1\",\"model\":\"x\",\"choices\":[{\"index\":0,\"delta\":{%s},\"finish_reason\":%s}]}\n\n", delta, finish)
	}
	const said = "naïve 漢字 ✓ 🎉"
	stream := chunk(`"role":"assistant","content":""`, "null") + chunk(`"content":"naïve 漢"`, "null") + chunk(`"content":"字 ✓ 🎉"`, "null") + chunk("", `"stop"`) + "data: [DONE]\n\n"
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startConforming(t, w, [2]string{"m>c", ""}, [2]string{"t>c", ""}, [2]string{"c>c", ""})
		for name, step := range spoiled(t, stream) {
			t.Run(name, func(t *testing.T) {
				for lane, model := range s.models {
					s.p.Script(step)
					path := conformingLanes[lane].Path
					answer := s.Ask(path, site.BodyFor(path, model, "hello", true))
					require.Equal(t, http.StatusOK, answer.Status, answer.Body)
					if lane == "c>c" && strings.HasPrefix(name, "G094") {
						continue // the bytes are the provider's, its coding too
					}
					seen := answer.Read(t, path)
					assert.Equal(t, said, seen.Text(), lane)
					assert.True(t, seen.Complete, lane)
				}
			})
		}
	})
}

func TestG092AnEventOf5MiBIsDelivered(t *testing.T) {
	big := strings.Repeat("x", 5<<20)
	stream := strings.Join(site.Streams[site.ChatPath], "")
	stream = strings.Replace(stream, `"content":"Hi"`, `"content":"`+big+`"`, 1)
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startConforming(t, w, [2]string{"m>c", ""}, [2]string{"c>c", ""})
		for lane, model := range s.models {
			s.p.Script(gatewaytest.Chunks(gatewaytest.EventStream, stream))
			path := conformingLanes[lane].Path
			seen := s.Ask(path, site.BodyFor(path, model, "hello", true)).Read(t, path)
			assert.True(t, seen.Complete, lane)
			assert.Len(t, seen.Text(), len(big+" there"), lane)
		}
	})
}

// An answer may be large, one event may not: what is held back is bounded.
func TestG093AnEventBeyondTheBoundEndsTheStream(t *testing.T) {
	begin := strings.Join(site.Streams[site.ChatPath][:2], "")
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startConforming(t, w, [2]string{"m>c", ""}, [2]string{"c>c", ""})
		for lane, model := range s.models {
			sent := 0
			s.p.Script(gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, begin, `data: {"choices":[{"index":0,"delta":{"content":"`), func(c *gatewaytest.Call) {
				piece := slices.Repeat([]byte("x"), 1<<20)
				for ; sent < 256; sent++ {
					if _, err := c.Write(piece); err != nil {
						return
					}
				}
			}))
			path := conformingLanes[lane].Path
			answer := s.Ask(path, site.BodyFor(path, model, "hello", true))
			require.NoError(t, answer.Err)
			seen := answer.Read(t, path)
			assert.Equal(t, "Hi", seen.Text(), lane)
			assert.NotNil(t, seen.Failure, lane)
			require.NoError(t, s.p.WaitSettled(site.Waiting(t)))
			assert.Less(t, sent, 128, "the provider is not heard to the end")
		}
	})
}
