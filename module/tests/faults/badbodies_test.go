package faults_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

var update = flag.Bool("update", false, "write the golden files")

// badBody is a body that no provider may get.
type badBody struct {
	name string
	make func(path string) string
}

// malformed are bodies that are no request of any format.
var malformed = []badBody{
	text("empty", ""),
	text("white space", " \r\n\t"),
	text("null", "null"),
	text("an array", "[]"),
	text("a number", "42"),
	text("a string", `"hello"`),
	text("a brace", "{"),
	text("an empty object", "{}"),
	text("a form", "model=m&prompt=hello"),
	text("XML", "<request/>"),
	text("YAML", "model: m\nprompt: hello\n"),
	text("UTF-16", "\xff\xfe{\x00}\x00"),
	changed("cut off", func(body string) string { return body[:len(body)-1] }),
	changed("followed by another", func(body string) string { return body + body }),
	changed("followed by garbage", func(body string) string { return body + " x" }),
	changed("in an array", func(body string) string { return "[" + body + "]" }),
	changed("as a string", func(body string) string { raw, _ := json.Marshal(body); return string(raw) }),
	changed("with a trailing comma", func(body string) string { return strings.TrimSuffix(body, "}") + ",}" }),
	changed("with a leading comma", func(body string) string { return strings.Replace(body, "{", "{,", 1) }),
	changed("with single quotes", func(body string) string { return strings.ReplaceAll(body, `"`, `'`) }),
	changed("with names without quotes", func(body string) string { return strings.Replace(body, `"model"`, `model`, 1) }),
	changed("with a comment", func(body string) string { return strings.Replace(body, "{", "{/* hi */", 1) }),
	withMembers("no colon", `"x" 1`),
	withMembers("no value", `"x":`),
	withMembers("NaN", `"x":NaN`),
	withMembers("infinity", `"x":-Infinity`),
	withMembers("a plus", `"x":+1`),
	withMembers("a leading zero", `"x":01`),
	withMembers("a hexadecimal number", `"x":0x10`),
	withMembers("a number that ends with a point", `"x":1.`),
	withMembers("a number without an exponent", `"x":1e`),
	withMembers("an upper case literal", `"x":TRUE`),
	withMembers("a literal cut off", `"x":tru`),
	withMembers("a control character", "\"x\":\"a\x01b\""),
	withMembers("a line break in a string", "\"x\":\"a\nb\""),
	withMembers("an unknown escape", `"x":"\q"`),
	withMembers("a short escape", `"x":"\u12"`),
	withMembers("bytes that are not UTF-8", "\"x\":\"\xc3\x28\""),
	withMembers("an overlong encoding", "\"x\":\"\xc0\xaf\""),
	withMembers("an encoded surrogate", "\"x\":\"\xed\xa0\x80\""),
	withMembers("a name twice", `"x":1,"x":2`),
	withMembers("the model twice", `"model":"other"`),
	withMembers("the model twice, escaped", `"mod\u0065l":"other"`),
	withMembers("the model in upper case", `"MODEL":"other"`),
	withMembers("names that differ in case", `"foo":1,"FOO":2`),
	withMembers("depth", `"x":`+strings.Repeat("[", 200)+strings.Repeat("]", 200)),
	withMembers("great depth", `"x":`+strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)),
	withMembers("brackets that do not match", `"x":[1}`),
}

// mistyped are members with values that no format has.
var mistyped = []badBody{
	withoutMember("no model", "model"),
	member("a model that is null", "model", "null"),
	member("a model that is a number", "model", "5"),
	member("a model that is empty", "model", `""`),
	member("a model that is an array", "model", `["m"]`),
	member("a model with a line break", "model", `"m\nX-Injected: 1"`),
	member("a model with a zero byte", "model", `"m\u0000"`),
	member("a model of a kilobyte", "model", `"`+strings.Repeat("m", 1000)+`"`),
	member("a model of another host", "model", `"http://169.254.169.254/latest"`),
	member("a model that is a path", "model", `"../../etc/passwd"`),
	member("an unknown model", "model", `"nobody"`),
	member("stream as a string", "stream", `"true"`),
	member("stream as a number", "stream", "1"),
	member("stream as an object", "stream", "{}"),
	withoutMember("no conversation", conversation),
	member("a conversation that is null", conversation, "null"),
	member("a conversation that is a number", conversation, "5"),
	member("a conversation that is an object", conversation, "{}"),
	member("a conversation that is true", conversation, "true"),
	member("a conversation that is empty", conversation, "[]"),
	member("a conversation of nulls", conversation, "[null]"),
	member("a conversation of arrays", conversation, "[[[]]]"),
	member("a conversation of booleans", conversation, "[true,false]"),
}

// conversation is replaced by the name that the member has in a format.
const conversation = "conversation"

var conversations = map[string]string{
	site.MessagesPath: "messages", site.ChatPath: "messages", site.CompletionsPath: "prompt", site.ResponsesPath: "input", site.GeminiPath: "contents",
}

// inPath matches the cases about what gemini clients state in the path.
var inPath = regexp.MustCompile("^(the model twice|no model|a model that is null|stream as .*)$")

func text(name, body string) badBody { return badBody{name, func(string) string { return body }} }

func changed(name string, change func(body string) string) badBody {
	return badBody{name, func(path string) string { return change(site.BodyFor(path, "m", "hello", false)) }}
}

// withMembers adds text behind the last member of a request.
func withMembers(name, members string) badBody {
	return changed(name, func(body string) string { return strings.TrimSuffix(body, "}") + "," + members + "}" })
}

// member replaces the value of a member.
func member(name, target, value string) badBody {
	return badBody{name, func(path string) string { return edited(path, target, json.RawMessage(value)) }}
}

func withoutMember(name, target string) badBody {
	return badBody{name, func(path string) string { return edited(path, target, nil) }}
}

func edited(path, name string, value json.RawMessage) string {
	if name == conversation {
		name = conversations[path]
	}
	members := make(map[string]json.RawMessage)
	_ = json.Unmarshal([]byte(site.BodyFor(path, "m", "hello", false)), &members) // it is valid
	members[name] = value
	if value == nil {
		delete(members, name)
	}
	raw, _ := json.Marshal(members) // all values are valid
	return string(raw)
}

// Each body is refused with exactly the answer that the golden file has, in the format
// of the endpoint, and reaches no provider.
func TestBadBodies(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("p", p, "models m"))
	cases := 0
	for _, path := range site.ClientPaths {
		var golden strings.Builder
		for _, bad := range append(malformed, mistyped...) {
			cases++
			if path == site.GeminiPath && inPath.MatchString(bad.name) {
				continue
			}
			before := p.Count()
			answer := s.Ask(path, bad.make(path))
			assert.GreaterOrEqual(t, answer.Status, http.StatusBadRequest, "%s: %s", path, bad.name)
			assert.Equal(t, before, p.Count(), "%s: %s reaches the provider", path, bad.name)
			fmt.Fprintf(&golden, "# %s\n%s\n", bad.name, shown(answer))
		}
		compare(t, "bodies/"+fileOf(path), golden.String())
	}
	assert.Equal(t, len(site.ClientPaths)*(len(malformed)+len(mistyped)), cases)
}

// fileOf returns the name of the golden file of an endpoint.
func fileOf(path string) string {
	return strings.NewReplacer("/", "-", "{model}:", "").Replace(strings.Trim(path, "/")) + ".txt"
}

// compare compares a text with a golden file below testdata.
func compare(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}
