package module_test

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// nameMembers are the files and packages below module that may name members of requests, or
// have the same words for something else, with the reason.
var nameMembers = map[string]string{
	"module/command/doctor/...":                   "asks the gateway as clients do, so that it depends on nothing that it tests",
	"module/providers/presets.go":                 "the values of traits are names of members",
	"module/providers/azure/azure.go":             "the same",
	"module/providers/vertex/vertex.go":           "the members that the service has in the path",
	"module/providers/bedrock/bedrock.go":         "the members that the service has in the path, or demands",
	"module/providers/claude/claude.go":           "the members that services refuse",
	"module/gateway/request/affinity/affinity.go": "the default of an option, which operators replace",
	"module/gateway/limits/expected.go":           "the fields with which a provider may summarize",
	"module/gateway/routing/upstream/address.go":  "the beginning of Caddy's placeholders of the system",
	"module/aigateway/guard.go":                   "the kinds of texts",
	"module/aigateway/accounting/record.go":       "the reasons why answers end",
	"module/telemetry/tracing/contents.go":        "the words of the conventions of OpenTelemetry",
	"module/command/usage.go":                     "columns of a table",
	"module/providers/models/columns.go":          "columns of facts, and the traits that follow from them",
	"module/command/catalogfile/list.go":          "a column of facts",
	"module/gateway/routing/catalog/abilities.go": "the same",
	"module/ledger/prices/...":                    "columns of prices",
	"module/command/migration/litellm/...":        "words of another product's configuration",
	"module/gateway/routing/conditions/values.go": "placeholders of conditions",
	"module/command/migration/newapi/...":         "columns of prices",
}

// plainWords are members of requests that are the words of other subjects as well.
var plainWords = []string{"n", "reasoning", "store", "stream", "text", "user"}

// Code that reads a member of requests by its name ignores the formats that have another
// one, without an error.
func TestMembersOfRequestsAreNamedByTheirFormats(t *testing.T) {
	words, used := membersOfSomeFormats(), make(map[string]bool)
	for _, word := range []string{"messages", "instructions", "max_tokens", "input", "prompt", "system"} {
		assert.True(t, words[word], word)
	}
	for _, file := range sources(t) {
		if !strings.HasPrefix(file.pkg, "module") || matchesAny(onlyForTests, file.pkg) {
			continue
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(literal.Value)
			if first, _, _ := strings.Cut(text, "."); !words[first] {
				return true
			}
			for name := range nameMembers {
				if name == file.name || matches(name, file.pkg) {
					used[name] = true
					return true
				}
			}
			assert.Fail(t, "a member of requests outside its format, or a word for plainWords", "%s names %q", file.name, text)
			return true
		})
	}
	for name := range nameMembers {
		assert.True(t, used[name], "%s names no member", name)
	}
}

// membersOfSomeFormats returns the members of requests that not all formats have.
func membersOfSomeFormats() map[string]bool {
	count := make(map[string]int)
	for _, f := range formats.All() {
		p := f.Requests.Prefix
		own := map[string]bool{f.Requests.Bound: true, p.Rules: true, p.Turns: true, p.Text: true}
		for _, field := range core.Join(f.Requests.Source, f.Requests.Target) {
			end := strings.IndexAny(field.Name+".", ".[=+")
			own[field.Name[:end]] = true
		}
		for word := range own {
			count[word]++
		}
	}
	words := make(map[string]bool)
	for word, n := range count {
		words[word] = n < len(formats.All())
	}
	for _, word := range append(plainWords, "") {
		delete(words, word)
	}
	return words
}
