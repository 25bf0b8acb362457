package caddyfile_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// has are the features of which readers ask whether a gateway has them: how pages and reports of
// imports call them, the word of the grammar that proves each, and its page.
var has = []struct{ called, word, page string }{
	{`guards?|guardrails?`, "guard", "guards.md"},
	{`single sign-on|sso|openid|oidc|sign-in`, "oidc", "sign-in.md"},
	{`end users?|customers?`, "customer", "tags.md"},
	{`tags?`, "tags", "tags.md"},
	{`audit`, "audit", "audit.md"},
	{`caches?`, "cache", "cache.md"},
	{`mcp|servers of tools`, "mcp", "mcp.md"},
}

// lacks are the claims of compare.md that this gateway lacks something, and the words that a
// grammar with it would have.
var lacks = map[string][]string{
	"presets of many more services":                   {"sagemaker", "watsonx", "databricks"},
	"callbacks to other products":                     {"callbacks", "langfuse"},
	"ready-made rules of products that check content": {"presidio", "lakera", "bedrock_guardrail"},
	"top-ups":                 {"topup", "top_up"},
	"codes that users redeem": {"redeem", "codes"},
	"prices by call":          {"price_per_call"},
	"ratios of groups":        {"ratio", "ratios"},
	"route, fallback and retries in a header of each request":                {"routes_by_header"},
	"hosting by its company":                                                 nil,
	"agents that call each other by A2A":                                     {"a2a"},
	"REST services as tools":                                                 {"openapi"},
	"balancing by the queues of model servers":                               {"endpoint_picker", "inference_pool"},
	"objects of Kubernetes as the configuration":                             nil,
	"clients of the formats of Cohere and Bedrock":                           nil,
	"less memory and processor time, by its own figures":                     nil,
	"a cache for similar questions":                                          {"semantic", "similarity"},
	"weights of single API keys":                                             nil, // the key of a provider has no block
	"less to configure and to run, and less processor time for each request": nil,
}

// grammar returns all words of all blocks.
func grammar(t *testing.T) map[string]bool {
	t.Helper()
	words := make(map[string]bool)
	for block := range blocks {
		if strings.HasSuffix(block, "store LINE") {
			continue // its words are modules
		}
		for _, word := range wordsOf(t, block) {
			words[word] = true
		}
	}
	return words
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// part returns the part of a text between a line that begins with from and the next heading.
func part(t *testing.T, text, heading string) string {
	t.Helper()
	_, after, found := strings.Cut(text, heading)
	require.True(t, found, heading)
	section, _, _ := strings.Cut(after, "\n## ")
	return section
}

// TestTheComparisonIsTrue: the page said that this gateway has no guards, no single sign-on and no
// limits by tags, long after it had them.
func TestTheComparisonIsTrue(t *testing.T) {
	words := grammar(t)
	for _, feature := range has {
		assert.True(t, words[feature.word], "the grammar has %s", feature.word)
		assert.FileExists(t, "docs/"+feature.page)
	}
	compare := readPage(t, "docs/compare.md")
	claimed := make(map[string]bool)
	for _, line := range regexp.MustCompile(`(?m)^\| [^|]+ \| ([^|]+) \|$`).FindAllStringSubmatch(part(t, compare, "## What they do better"), -1)[1:] {
		for claim := range strings.SplitSeq(line[1], ";") {
			if claim = strings.TrimSpace(claim); strings.Trim(claim, "-") != "" {
				claimed[claim] = true
			}
		}
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(lacks)), slices.Collect(maps.Keys(claimed)), "each claim has a row in this test")
	for claim, absent := range lacks {
		for _, word := range absent {
			assert.False(t, words[word], "the grammar has %s, so that the claim is wrong: %s", word, claim)
		}
	}
	unserved := strings.Fields(readPage(t, "../module/gateway/request/routes/unserved.go"))
	for _, path := range []string{"batches", "files"} {
		assert.Contains(t, unserved, path, "the gateway serves it, so that a claim is wrong")
	}
}

// TestNoPageDeniesAFeature looks where pages and the imports' reports list what is missing.
func TestNoPageDeniesAFeature(t *testing.T) {
	leftOut := regexp.MustCompile(`(?m)^Left out, [^:]+: (.+?)\.(\s|$)`)
	staying := part(t, readPage(t, "docs/compare.md"), "## When to stay")
	denials := map[string]string{"compare.md": staying}
	for _, page := range []string{"from-litellm.md", "from-new-api.md"} {
		match := leftOut.FindStringSubmatch(readPage(t, "docs/"+page))
		require.NotNil(t, match, page)
		denials[page] = match[1]
	}
	for _, source := range []string{"litellm/settings.go", "litellm/keys.go", "newapi/read.go"} {
		text := readPage(t, "../module/command/migration/"+source)
		for _, line := range regexp.MustCompile(`"[^"]*(?:no counterpart|there (?:is|are) no)[^"]*"`).FindAllString(text, -1) {
			denials[source] += line + "\n"
		}
	}
	for where, text := range denials {
		for _, feature := range has {
			assert.NotRegexp(t, `(?i)\b(`+feature.called+`)\b`, text, "%s denies %s", where, feature.page)
		}
	}
	readme := readPage(t, "../README.md")
	first, _, found := strings.Cut(readme, "The gateway keeps four promises")
	require.True(t, found)
	for _, page := range []string{"guards.md", "sign-in.md", "teams.md", "limits.md", "console.md"} {
		assert.Contains(t, first, "caddyfile/docs/"+page, "the first screen of the README names what a company asks for")
	}
}
