package mcp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/mcp"
)

func TestJoinedNamesLeadBackToTheirServer(t *testing.T) {
	for joined, e := range map[string]mcp.Element{
		"docs__a__b": {mcp.Tool, "a__b"}, "d__": {mcp.Prompt, ""}, "docs+file:///a+b": {mcp.Resource, "file:///a+b"}, "d__+": {mcp.Tool, "+"},
		"ui://docs/a/b.html": {mcp.Resource, "ui://a/b.html"},
	} {
		server, name := mcp.Element{e.Kind, joined}.Split()
		assert.Equal(t, e.Name, name)
		assert.Equal(t, joined, e.Joined(server))
	}
	for _, e := range []mcp.Element{{mcp.Tool, "a_b"}, {mcp.Resource, "file:///a"}, {mcp.Tool, ""}} {
		server, name := e.Split()
		assert.Empty(t, server, e)
		assert.Equal(t, e.Name, name, "which the log of a refusal has")
	}
}

func TestAMessageGetsTheNameThatItsServerHas(t *testing.T) {
	for body, want := range map[string]string{
		` {"jsonrpc":"2.0","id":1,"params":{"arguments":{"name":"x"},"name" : "d__\u0061"},"method":"tools/call"}`:                    ` {"jsonrpc":"2.0","id":1,"params":{"arguments":{"name":"x"},"name" : "new"},"method":"tools/call"}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"d+a:b"}}`:                                                 `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"new"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"x","name":"d__p"},"argument":{"name":"a"}}}`: `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"x","name":"new"},"argument":{"name":"a"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"uri":"d+p"}}}`:                                      `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"uri":"new"}}}`,
	} {
		m, refused := mcp.Read([]byte(body))
		require.Nil(t, refused, body)
		assert.Equal(t, want, string(m.WithName([]byte(body), "new")))
	}
}

func TestAnAnswerHasTheNamesThatTheClientSees(t *testing.T) {
	v := mcp.View{Shows: func(mcp.Element) bool { return true }, Rename: func(e mcp.Element) string { return e.Joined("d") }}
	for body, want := range map[string]string{
		`{"id":1,"result":{"tools":[{"name":"a","x":{"name":"b"}}, {"title":"t","name":"c"}]}}`:                                                                          `{"id":1,"result":{"tools":[{"name":"d__a","x":{"name":"b"}},{"title":"t","name":"d__c"}]}}`,
		`{"id":1,"result":{"resources":[{"uri":"a:b"}]}}`:                                                                                                                `{"id":1,"result":{"resources":[{"uri":"d+a:b"}]}}`,
		`{"id":1,"result":{"content":[{"type":"resource_link","uri":"a:b"},{"type":"resource","resource":{"uri":"c:d","text":"uri"}}],"structuredContent":{"uri":"e"}}}`: `{"id":1,"result":{"content":[{"type":"resource_link","uri":"d+a:b"},{"type":"resource","resource":{"uri":"d+c:d","text":"uri"}}],"structuredContent":{"uri":"e"}}}`,
		// Clients found no page of an app: its address led to no server, or was no address of an app.
		`{"id":1,"result":{"tools":[{"_meta":{"ui":{"resourceUri":"ui://a/b","uri":"c"},"ui/resourceUri":"ui://a/b"},"name":"a"}]}}`: `{"id":1,"result":{"tools":[{"_meta":{"ui":{"resourceUri":"ui://d/a/b","uri":"c"},"ui/resourceUri":"ui://d/a/b"},"name":"d__a"}]}}`,
		`{"id":1,"result":{"content":[],"_meta":{"ui":{"resourceUri":"ui://a/b"}}}}`:                                                 `{"id":1,"result":{"content":[],"_meta":{"ui":{"resourceUri":"ui://d/a/b"}}}}`,
		`{"id":1,"result":{"resources":[{"uri":"ui://a/b"}]}}`:                                                                       `{"id":1,"result":{"resources":[{"uri":"ui://d/a/b"}]}}`,
	} {
		a, err := mcp.ReadAnswer([]byte(body), v)
		require.NoError(t, err)
		assert.Equal(t, want, string(a.Body))
	}
}

func TestListsAreJoinedAndPaged(t *testing.T) {
	first := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},"cursor":null}}`)
	m, refused := mcp.Read(first)
	require.Nil(t, refused)
	cursors, ok := mcp.Cursors(first)
	assert.True(t, ok)
	assert.Nil(t, cursors)
	got := m.JoinLists([]mcp.Part{
		{Server: "a", Result: []byte(`{"tools":[{"name":"a__x"}, {"name":"a__y"}],"nextCursor":"p\u0032","ttlMs":70}`)},
		{Server: "b", Result: []byte(`{"tools":[],"ttlMs":50}`)}, {Server: "c", Result: []byte(`{"tools":[{"name":"c__x"}],"nextCursor":null}`)},
	}, nil)
	const next = "eyJhIjoicDIifQ"
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[{"name":"a__x"},{"name":"a__y"},{"name":"c__x"}],"nextCursor":"`+next+`","ttlMs":50,"cacheScope":"private"}}`, string(got))
	second := []byte(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"` + next + `"}}`)
	cursors, ok = mcp.Cursors(second)
	assert.True(t, ok)
	assert.Equal(t, map[string]string{"a": "p2"}, cursors)
	assert.Equal(t, `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"p2"}}`, string(mcp.WithCursor(second, "p2")))
	// Clients read the page of a server whose cursor does not advance for ever.
	again := m.JoinLists([]mcp.Part{{Server: "a", Result: []byte(`{"tools":[],"nextCursor":"p2"}`)}, {Server: "b", Result: []byte(`{"tools":[],"nextCursor":"p2"}`)}}, cursors)
	assert.Contains(t, string(again), `"nextCursor":"eyJiIjoicDIifQ"`, "b alone has a further page")
	for _, other := range []string{`"p2"`, `""`, `7`, `"e30"`} {
		_, ok = mcp.Cursors([]byte(`{"params":{"cursor":` + other + `}}`))
		assert.False(t, ok, other)
	}
}

func TestServersAreJoined(t *testing.T) {
	begin := []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"sampling":{}}}}`)
	m, refused := mcp.Read(begin)
	require.Nil(t, refused)
	assert.Contains(t, string(mcp.WithoutCapabilities(begin)), `"capabilities":{}}`)
	got := m.JoinServers(begin, []mcp.Part{
		{Server: "a", Result: []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"logging":{}},"instructions":"Be\nkind."}`)},
		{Server: "b", Result: []byte(`{"protocolVersion":"2025-06-18","capabilities":{"prompts":{}}}`)},
	})
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"caddy-ai-gateway","version":"1"},
		"capabilities":{"tools":{},"prompts":{}},"instructions":"Tools that begin with a__:\nBe\nkind."}}`, string(got))
	m, refused = mcp.Read([]byte(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`))
	require.Nil(t, refused)
	got = m.JoinServers(nil, []mcp.Part{
		{Server: "a", Result: []byte(`{"supportedVersions":["2026-07-28","2027-01-01"],"capabilities":{}}`)}, {Server: "b", Result: []byte(`{"supportedVersions":["2026-07-28"]}`)},
	})
	assert.Contains(t, string(got), `"supportedVersions":["2026-07-28"],`)
}

func TestWhatAServerHasAnsweredIsRead(t *testing.T) {
	for body, want := range map[string]mcp.Part{
		`{"result":{"tools":[]}}`: {Server: "a", Result: []byte(`{"tools":[]}`)}, `{"error":{"code":-32601}}`: {Server: "a", Code: -32601},
	} {
		p, ok := mcp.ReadPart("a", []byte(body))
		assert.True(t, ok)
		assert.Equal(t, want, p)
	}
	for _, body := range []string{``, `null`, `{`, `{"result":7}`, `{"error":"x"}`, `[]`, `{"error":{"code":"x"}}`} {
		_, ok := mcp.ReadPart("a", []byte(body))
		assert.False(t, ok, body)
	}
}
