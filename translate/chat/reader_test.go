package chat_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat"
)

// notes writes down what a Reader tells.
type notes struct {
	lines []string
	list  chat.List
}

func (n *notes) add(format string, args ...any) {
	n.lines = append(n.lines, fmt.Sprintf(format, args...))
}

func (n *notes) Other(level chat.Level, name, value []byte) {
	n.add("other %d %s=%s", level, name, value)
}

func (n *notes) Message(index int, m *chat.Message) {
	n.add("%d %s %s", index, m.Role, m.Content)
	n.list.Begin(m.Content, n)
	for p := n.list.Part(chat.InPart); p != nil; p = n.list.Part(chat.InPart) {
		n.add("part %s %s %s", p.Type, p.Text, n.list.Media(p.ImageURL, n).URL)
	}
	n.list.Begin(m.ToolCalls, n)
	for t := n.list.Tool(chat.InCall); t != nil; t = n.list.Tool(chat.InCall) {
		f := n.list.Function(t.Function, chat.InCallFunction, n)
		n.add("call %s %s %s", t.ID, f.Name, f.Arguments)
	}
}

func TestARequestIsReadInTheOrderOfItsBody(t *testing.T) {
	body := `{"stream":true,"messages":[{"content":"a","role":"user","name":"n"},` +
		`{"role":"user","content":[{"type":"image_url","image_url":{"url":"u","x":1}},{"type":"text","text":"b","y":null}]},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"},"index":0}]}],"model":"m","z":2,"stop":null}`
	var n notes
	var request chat.Request
	var reader chat.Reader
	require.NoError(t, reader.Walk([]byte(body), &request, &n))
	assert.Equal(t, []string{
		`other 1 name="n"`, `0 "user" "a"`,
		`1 "user" [{"type":"image_url","image_url":{"url":"u","x":1}},{"type":"text","text":"b","y":null}]`,
		`other 3 x=1`, `part "image_url"  "u"`, `part "text" "b" `,
		`2 "assistant" `, `other 5 index=0`, `call "c" "f" "{}"`,
		`other 0 z=2`,
	}, n.lines)
	assert.Equal(t, chat.Request{Model: []byte(`"m"`), Stream: []byte("true")}, request)
}

func TestWhatIsNoRequestIsNotMisread(t *testing.T) {
	for _, body := range []string{`[]`, `1`, `{"messages":1}`, `{"messages":[1,"a",null]}`} {
		var n notes
		var reader chat.Reader
		_ = reader.Walk([]byte(body), new(chat.Request), &n)
		assert.Empty(t, n.lines, body)
	}
	var list chat.List
	assert.Nil(t, list.Part(chat.InPart))
	assert.False(t, list.Begin([]byte(`"a"`), nil))
	assert.Nil(t, list.Tool(chat.InTool))
}
