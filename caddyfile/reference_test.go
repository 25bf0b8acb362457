package caddyfile_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/dustin/go-humanize"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway"
)

// blocks are the blocks of the grammar, as lines of a site's ai_gateway in which LINE
// is replaced by a line of the block. The values are the headings of docs/reference.md whose
// tables have the words of the block.
var blocks = map[string][]string{
	"provider p vllm {\nmodels m\n}\nLINE":                                     {"ai_gateway"},
	"provider p vllm {\nLINE\n}":                                               {"provider", "Words of reverse_proxy", "Traits"},
	"provider p demo {\nLINE\n}":                                               {"Words of the preset demo"},
	"provider demo\nmodel m {\nto demo\nLINE\n}":                               {"model", "Traits"},
	"provider demo\nmodel m {\nto demo {\nLINE\n}\n}":                          {"to", "Traits"},
	"provider demo\nkey k {env.GATEWAY_KEY} {\nLINE\n}":                        {"key"},
	"provider demo\nledger\nlimit l {\nLINE\n}":                                {"limit"},
	"provider p vllm {\nmodels m\n}\npass /pass/p/* p {\nallow /v2/x\nLINE\n}": {"pass"},
	"provider demo\ncache {\nLINE\n}":                                          {"cache"},
	"provider demo\nmodel m {\nto demo\ncache {\nLINE\n}\n}":                   {"cache of a model"},
	"provider demo\nstore LINE":                                                {"store"},
	"provider demo\naccounts {\nLINE\n}":                                       {"accounts"},
	"provider demo\nledger {\nLINE\n}":                                         {"ledger"},

	"provider demo\naccounts {\noidc https://login.example.com {\nclient_id c\nLINE\n}\n}": {"oidc"},
	"provider demo\naccounts {\nagents {\nLINE\n}\n}":                                      {"agents"},
	"provider demo\naccounts {\nproxy {http.vars.user} {\nLINE\n}\n}":                      {"proxy"},
	"provider demo\nguard g webhook {\nurl http://127.0.0.1:1\non_error block\nLINE\n}":    {"guard", "Words of the guard webhook"},
	"provider demo\nguard g tools {\nallow x\nLINE\n}":                                     {"guard", "Words of the guard tools"},
	"provider demo\nguard g regex {\nblock card\n}\nlog_content {\nLINE\n}":                {"log_content"},
	"provider demo\nguard g regex {\npattern p x\nblock p\nLINE\n}":                        {"guard", "Words of the guard regex"},
}

// alongside are lines that a word requires in its block, by heading and word.
var alongside = map[string]string{"limit per": "concurrent 8", "limit within": "concurrent 8", "ai_gateway queue": "max_running 500", "provider queue": "max_running 8", "limit models": "concurrent 8", "limit unpriced": "budget 1/day", "model split_by": "to demo/a weight 1\nto demo/b weight 1", "model hedge": "to demo/a"}

// siteWith returns the Caddyfile of a site with a line in a block.
func siteWith(block, line string) string {
	body := strings.Replace(block, "LINE", line, 1)
	rest := "\nkey someone {env.THEIR_KEY}\nlimit small {\nrequests 1/1s\n}"
	return string(cf.Format([]byte("ai.example.com {\nai_gateway {\n" + body + rest + "\n}\n}\n")))
}

// row is a row of a table of docs/reference.md, without the values and the meaning.
type row struct{ word, standard, example string }

var headingLine = regexp.MustCompile(`^##+ (.+)\n$`)

// tables returns the rows of the tables by the heading above each table.
func tables(t *testing.T) map[string][]row {
	t.Helper()
	rows := make(map[string][]row)
	heading := ""
	for line := range strings.Lines(readReference(t)) {
		if match := headingLine.FindStringSubmatch(line); match != nil {
			heading = match[1]
		}
		if strings.HasPrefix(line, "| `") {
			cells := strings.Split(line, "|")
			require.Len(t, cells, 7, "a word, values, default, meaning and example: %s", line)
			cell := func(i int) string { return strings.Trim(cells[i], " `") }
			rows[heading] = append(rows[heading], row{cell(1), cell(3), cell(5)})
		}
	}
	return rows
}

func readReference(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("docs/reference.md")
	require.NoError(t, err)
	return string(text)
}

var listOfWords = regexp.MustCompile(`(?:known are: |its own words are )(.*), at Caddyfile`)

// wordsOf returns the words of a block, sorted, as its error lists them.
func wordsOf(t *testing.T, block string) []string {
	t.Helper()
	message := adapt(t, siteWith(block, "unheard_of value"))
	match := listOfWords.FindStringSubmatch(message)
	require.NotNil(t, match, message)
	words := regexp.MustCompile(`, | and `).Split(match[1], -1)
	slices.Sort(words)
	return words
}

func TestTheReferenceHasEveryWordOfTheGrammar(t *testing.T) {
	sections := tables(t)
	for block, headings := range blocks {
		var documented []string
		for _, heading := range headings {
			for _, row := range sections[heading] {
				documented = append(documented, row.word)
			}
		}
		slices.Sort(documented)
		assert.Equal(t, wordsOf(t, block), documented, "words of the tables below %v", headings)
	}
}

func TestTheReferenceHasTheDefaultsOfSizesAndTimes(t *testing.T) {
	bounds := aigateway.DefaultAnswerBounds
	times := map[string]caddy.Duration{
		"commit_after": caddy.Duration(gateway.DefaultCommitAfter), "keep_alive": caddy.Duration(gateway.DefaultKeepAlive),
		"response_header_timeout": bounds.ResponseHeaderTimeout, "first_event_timeout": bounds.FirstEventTimeout,
		"idle_timeout": bounds.IdleTimeout, "usage_wait": bounds.UsageWait,
	}
	sizes := map[string]int64{"max_body": gateway.DefaultMaxBody, "max_batch": gateway.DefaultMaxBatch, "max_upload": gateway.DefaultMaxUpload, "max_event_bytes": bounds.MaxEventBytes}
	for _, row := range tables(t)["ai_gateway"] {
		if want, ok := times[row.word]; ok {
			got, err := caddy.ParseDuration(row.standard)
			require.NoError(t, err, row.word)
			assert.Equal(t, want, caddy.Duration(got), row.word)
		}
		if want, ok := sizes[row.word]; ok {
			got, err := humanize.ParseBytes(row.standard)
			require.NoError(t, err, row.word)
			assert.EqualValues(t, want, got, row.word)
		}
	}
}

// Each example is provisioned in every kind of block that has its word.
func TestExamplesOfTheReferenceProvision(t *testing.T) {
	sections := tables(t)
	for block, headings := range blocks {
		for _, heading := range headings {
			for _, row := range sections[heading] {
				if row.example == "" {
					assert.Regexp(t, `(?m)^\t+`+row.word+` `, readReference(t), "%s has no example", row.word)
					continue
				}
				t.Run(headings[0]+"/"+row.word, func(t *testing.T) {
					assert.Equal(t, row.word, strings.Fields(row.example)[0])
					provision(t, siteWith(block, row.example+"\n"+alongside[heading+" "+row.word]))
				})
			}
		}
	}
}

// provision adapts a Caddyfile and loads it as far as `caddy validate` does.
func provision(t *testing.T, input string) {
	t.Helper()
	caddy.DefaultStorage.Path = t.TempDir()
	keys := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(keys, []byte("# nobody yet\n"), 0o600))
	adapted := adapt(t, strings.ReplaceAll(input, "/etc/caddy/keys", keys))
	config := new(caddy.Config)
	require.NoError(t, json.Unmarshal([]byte(withSecrets(t, adapted)), config), adapted)
	assert.NoError(t, caddy.Validate(config))
}
