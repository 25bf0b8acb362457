package mcp_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/mcp"
)

func TestMessagesAreRead(t *testing.T) {
	for body, want := range map[string]mcp.Message{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`:                                               {Method: "tools/list", ID: []byte(`1`)},
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x"}}`:                       {Method: "tools/call", ID: []byte(`"a"`), Uses: []mcp.Element{{mcp.Tool, "x"}}},
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"\u0070"}}`:                   {Method: "prompts/get", ID: []byte(`1`), Uses: []mcp.Element{{mcp.Prompt, "p"}}},
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///a"}}`:              {Method: "resources/read", ID: []byte(`1`), Uses: []mcp.Element{{mcp.Resource, "file:///a"}}},
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`:                                       {Method: "notifications/initialized"},
		`{"jsonrpc":"2.0","id":7,"result":{"roots":[]}}`:                                               {ID: []byte(`7`)},
		`{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no"}}`:                                  {ID: []byte(`7`)},
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"` + versionIn + `":"2026"}}}`:     {Method: "ping", ID: []byte(`1`), Version: "2026"},
		`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"name":"p"}}}`:        {Method: "completion/complete", ID: []byte(`1`), Uses: []mcp.Element{{mcp.Prompt, "p"}}},
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"f":{` + subscribed + `}}}`: {Method: "subscriptions/listen", ID: []byte(`1`), Uses: []mcp.Element{{mcp.Resource, "u:1"}, {mcp.Resource, "u:2"}}},
	} {
		m, refused := mcp.Read([]byte(body))
		require.Nil(t, refused, body)
		assert.Equal(t, &want, m, body)
	}
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":1}}}`
	m, refused := mcp.Read([]byte(call))
	require.Nil(t, refused)
	assert.Equal(t, `{"a":1}`, call[m.Arguments.Start:m.Arguments.End])
	assert.True(t, m.IsCall())
	assert.True(t, m.IsRequest())
}

const (
	versionIn  = "io.modelcontextprotocol/protocolVersion"
	subscribed = `"resourceSubscriptions":["u:1","u:2"]`
)

// A server that reads the last of two members, or names in any letters, would make another call than the one
// that was allowed.
func TestX093MessagesWithTwoReadingsAreRefused(t *testing.T) {
	for _, body := range []string{
		``, `null`, `"x"`, `{`, `[]`, `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `{"jsonrpc":"2.0","id":1,"method":"ping"}{}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","\u006dethod":"tools/list"}`,
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"result":{},"Method":"tools/call","params":{"name":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{},"method":"tools/call","params":{"name":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","Name":"b"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"b"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"path":"/a","path":"/b"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":[{"y":1,"y":2}]}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":""}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["a"]}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["a"]}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"a"}}`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}`,
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`, `{"id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1}`, `{"jsonrpc":"2.0","result":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":7}`, `{"jsonrpc":"2.0","id":1,"method":"tasks/list"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/List"}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","extra":1}`,
		`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 300) + `","method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat(`{"a":`, 300) + `1` + strings.Repeat(`}`, 300) + `}`,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"\xff\"}}",
	} {
		_, refused := mcp.Read([]byte(body))
		if assert.NotNil(t, refused, body) {
			assert.Contains(t, []int{400, 404}, refused.Status(), body)
		}
	}
}

// The error of a message whose id is none has the id null (JSON-RPC 2.0, section 5): it had the value of any
// kind and length that the client had sent.
func TestWhatIsNoIDIsNotRepeated(t *testing.T) {
	for _, id := range []string{`{"a":1}`, `["a"]`, `true`, `null`, `"` + strings.Repeat("x", 300) + `"`} {
		m, refused := mcp.Read([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`))
		require.NotNil(t, refused, id)
		assert.Nil(t, m.ID, id)
	}
}

func TestX092HeadersMustRepeatTheMessage(t *testing.T) {
	m, refused := mcp.Read([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"größe","_meta":{"` + versionIn + `":"2026-07-28"}}}`))
	require.Nil(t, refused)
	assert.Equal(t, [][2]string{{"Mcp-Method", "tools/call"}, {"Mcp-Name", "=?base64?Z3LDtsOfZQ==?="}}, m.Named())
	good := mcp.Headers{"Mcp-Method": {"tools/call"}, "Mcp-Name": {"=?base64?Z3LDtsOfZQ==?="}, "Mcp-Protocol-Version": {"2026-07-28"}}
	assert.Nil(t, m.Check(good))
	assert.Nil(t, m.Check(nil))
	for name, values := range map[string][]string{
		"Mcp-Method": {"tools/list"}, "Mcp-Name": {"a"}, "Mcp-Protocol-Version": {"2025-11-25"},
	} {
		refused := m.Check(mcp.Headers{name: values})
		if assert.NotNil(t, refused, name) {
			assert.Equal(t, 400, refused.Status())
			assert.Contains(t, string(mcp.FormatFor(m.ID).Errors.Append(nil, refused, "req_1")), `"id":1,"error":{"code":-32020,`)
		}
	}
	assert.NotNil(t, m.Check(mcp.Headers{"Mcp-Name": {"größe", "größe"}}), "two values")
	assert.NotNil(t, m.Check(mcp.Headers{"Mcp-Name": {"=?base64?*?="}}), "no base64")
}

const manyTools = `{"jsonrpc":"2.0","id":1,"result":{"ttlMs":5,"cacheScope":"public","tools":[ {"name":"a", "x":1.0},{"name":"b"} , {"description":"no name"},{"name":"a","name":"b"},{"name":"c"}],"nextCursor":"n"}}`

func TestX090ListsAreCut(t *testing.T) {
	shows := func(e mcp.Element) bool { return e.Kind == mcp.Tool && (e.Name == "a" || e.Name == "c") }
	a, err := mcp.ReadAnswer([]byte(manyTools), mcp.View{Method: "tools/list", Shows: shows})
	require.NoError(t, err)
	assert.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{"ttlMs":5,"cacheScope":"private","tools":[{"name":"a", "x":1.0},{"name":"c"}],"nextCursor":"n"}}`, string(a.Body))
	assert.Equal(t, "1", string(a.ID))

	a, err = mcp.ReadAnswer([]byte(manyTools), mcp.View{Method: "tools/list", Shows: func(mcp.Element) bool { return false }})
	require.NoError(t, err)
	assert.Contains(t, string(a.Body), `"tools":[],`)

	a, err = mcp.ReadAnswer([]byte(manyTools), mcp.View{Method: "", Shows: shows})
	require.NoError(t, err)
	assert.NotContains(t, string(a.Body), `{"name":"b"}`, "a list that a client gets again is one, too")

	for _, member := range []string{"prompts", "resources", "resourceTemplates"} {
		body := strings.Replace(manyTools, `"tools"`, `"`+member+`"`, 1)
		a, err = mcp.ReadAnswer([]byte(body), mcp.View{Method: member + "/list", Shows: shows})
		require.NoError(t, err)
		if member == "prompts" {
			assert.Contains(t, string(a.Body), `[]`, "an element of another kind is another one")
		}
	}
}

func TestOtherAnswersKeepTheirBytes(t *testing.T) {
	hidden := func(mcp.Element) bool { return false }
	for body, failed := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"result":{},"error":null}`:                                                             false,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[ ],"tools":[{"name":"a"}]}}`:                                      false,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}`:                                               true,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}`:                                                   true,
		`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"x\u0041","inputRequests":[]}}`: false,
	} {
		a, err := mcp.ReadAnswer([]byte(body), mcp.View{Method: "tools/call", Shows: hidden})
		require.NoError(t, err)
		assert.Equal(t, body, string(a.Body))
		assert.Equal(t, failed, a.Failed, body)
	}
	a, err := mcp.ReadAnswer([]byte(`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}`), mcp.View{Method: "tools/call", Shows: hidden})
	require.NoError(t, err)
	assert.Nil(t, a.ID, "a request of the server has an id of its own")
	for body, answers := range map[string]bool{
		`{"id":1,"result":null}`: true, `{"id":1,"error":{"code":1}}`: true, `{"error":{}}`: true, `{"id":1,"error":null}`: false, `{"id":1}`: false,
		`{"id":1,"error":"down"}`: false, `{"error":503}`: false, `{"id":1,"result":{},"method":"ping"}`: false, `{"method":"ping","id":1,"error":{}}`: false,
	} {
		a, err := mcp.ReadAnswer([]byte(body), mcp.View{Method: "tools/call", Shows: hidden})
		require.NoError(t, err)
		assert.Equal(t, answers, a.Answers, body)
	}
	for _, body := range []string{``, `[]`, `{"result":{"tools":[],"tools":[{"name":"b"}]}}`, `{"id":1}x`, "{\"id\":\"\xff\"}"} {
		_, err := mcp.ReadAnswer([]byte(body), mcp.View{Method: "tools/list", Shows: hidden})
		assert.Error(t, err, body)
	}
}

func TestEventsAreEdited(t *testing.T) {
	data, replace := mcp.Event([]byte("event: message\r\nid: 7\ndata: {\"a\":\ndata: 1}\n\n"))
	assert.Equal(t, "{\"a\":\n1}", string(data))
	assert.Equal(t, "event: message\r\nid: 7\ndata: {}\n\n", string(replace([]byte("{}"))))
	data, _ = mcp.Event([]byte(": ping\n\n"))
	assert.Empty(t, data)
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte(manyTools))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if m, refused := mcp.Read(body); refused == nil {
			assert.LessOrEqual(t, m.Arguments.End, len(body))
			_ = m.Named()
		}
		if a, err := mcp.ReadAnswer(body, mcp.View{Method: "tools/list", Shows: func(e mcp.Element) bool { return len(e.Name)%2 == 0 }}); err == nil {
			_, err = mcp.ReadAnswer(a.Body, mcp.View{Method: "tools/list", Shows: func(mcp.Element) bool { return true }})
			assert.NoError(t, err, "what is left is a message")
		}
	})
}

func TestTextsAreWhatModelsWriteAndRead(t *testing.T) {
	body := []byte(`{"jsonrpc":"2.0","id":"no","method":"tools/call","params":{"name":"no","_meta":{"a":"no"},"requestState":"no","arguments":{"name":"a","b":["c",{"type":"d"}],"n":1}}}`)
	m, refused := mcp.Read(body)
	require.Nil(t, refused)
	var texts []string
	for _, span := range m.Texts(body) {
		texts = append(texts, string(body[span.Start:span.End]))
	}
	assert.Equal(t, []string{`"a"`, `"c"`, `"d"`}, texts)

	answer := []byte(`{"jsonrpc":"2.0","id":"no","result":{"content":[{"type":"no","text":"a"},{"data":"no","mimeType":"no"}],"structuredContent":{"type":"b","data":"c"},"nextCursor":"no"}}`)
	texts = nil
	for _, span := range mcp.AnswerTexts(answer) {
		texts = append(texts, string(answer[span.Start:span.End]))
	}
	assert.Equal(t, []string{`"a"`, `"b"`, `"c"`}, texts)
}

// Clients began tasks whose results they could not read.
func TestTasksAreNoCapabilityOfAServer(t *testing.T) {
	const body = `{"id":1,"result":{"capabilities":{"tools":{"a": 1},"tasks":{"list":{}},"prompts":{}}}}`
	for method, want := range map[string]string{
		"initialize":      `{"id":1,"result":{"capabilities":{"tools":{"a": 1},"prompts":{}}}}`,
		"server/discover": `{"id":1,"result":{"capabilities":{"tools":{"a": 1},"prompts":{}}}}`,
		"tools/call":      body,
	} {
		answer, err := mcp.ReadAnswer([]byte(body), mcp.View{Method: method, Shows: func(mcp.Element) bool { return true }})
		require.NoError(t, err)
		assert.Equal(t, want, string(answer.Body), method)
	}
	const later = `{"id":1,"result":{"capabilities":{"extensions":{"io.modelcontextprotocol/t\u0061sks":{},"io.modelcontextprotocol/ui":{"a": 1}}}}}`
	answer, err := mcp.ReadAnswer([]byte(later), mcp.View{Method: "server/discover"})
	require.NoError(t, err)
	assert.Equal(t, `{"id":1,"result":{"capabilities":{"extensions":{"io.modelcontextprotocol/ui":{"a": 1}}}}}`, string(answer.Body), "the later versions have them among extensions")
}
