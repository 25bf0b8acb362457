package models

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// read returns a table with the lines, whose empty cells are those of base.
func read(t *testing.T, base *Table, lines ...string) *Table {
	t.Helper()
	table, err := Read(strings.NewReader(strings.Join(lines, "\n")), base)
	require.NoError(t, err)
	return table
}

func TestBuiltinFactsHaveSourcesAndDates(t *testing.T) {
	assert.Greater(t, len(Builtin().Rows), 500)
	for _, f := range Builtin().Rows {
		assert.NotEmpty(t, f.Source, f.Names)
		date, err := time.Parse(time.DateOnly, f.AsOf)
		assert.NoError(t, err, f.Names)
		assert.False(t, date.After(time.Now()), "%s: the date is in the future", f.Names)
		assert.NoError(t, new(trait.Traits).SetAll(f.Traits()), f.Names)
		if successor := f.Value("successor"); successor != "" {
			assert.NotContains(t, f.Names, successor)
		}
	}
}

// Names that vendors document had no row, so that what they refuse was sent to them.
func TestBuiltinFactsOfNamesThatVendorsDocument(t *testing.T) {
	for provider, names := range map[string]string{
		"openai": "davinci-002 babbage-002 gpt-realtime-2.1 gpt-realtime gpt-audio-1.5 dall-e-3 daybreak-blue-latest",
		"azure": `gpt-image-2 model-router deepseek-v3.2 mistral-large-3 kimi-k2.5 tts tts-hd dall-e-3 grok-4.7 grok-4.1-fast-reasoning
			mistral-medium-3-5 MAI-Thinking-1 Phi-4-mini-instruct cohere-command-a gpt-4o-mini-tts`,
		"vertex":     "gemini-embedding-001 text-embedding-005 text-multilingual-embedding-002 gemini-3-pro-image gemini-2.5-flash-tts gemini-3.1-pro-preview-customtools",
		"gemini":     "gemma-4-31b-it gemini-3.8-live deep-research-preview-04-2026 veo-3.1-generate-preview",
		"bedrock":    "us.xai.grok-4.7 us.moonshotai.kimi-k3.1 us.zai.glm-5.3 minimax.minimax-m2 us.meta.llama3-2-90b-instruct-v1:0",
		"groq":       "canopylabs/orpheus-v1-english meta-llama/llama-prompt-guard-2-86m",
		"mistral":    "deepseek-v4-1-flash-1017 mistral-moderation-2603",
		"together":   "thinkingmachines/Inkling reflection/Beam-1.0-501B-A23B deepseek-ai/DeepSeek-V4-Flash-0731",
		"xai":        "grok-4.20-beta grok-4.20-reasoning-latest grok-imagine-video",
		"openrouter": "~openai/gpt-sol-latest ~openai/gpt-latest ~google/gemini-pro-latest ~moonshotai/kimi-latest openrouter/auto",
	} {
		for name := range strings.FieldsSeq(names) {
			assert.NotNil(t, Builtin().Find(provider, name), "%s %s", provider, name)
		}
	}
}

// A name that its vendor serves by another model had the facts of the model that is gone: sampling
// fields were sent to one that ignores them, and images left out for one that takes them.
func TestARoutedNameHasTheFactsOfTheModelThatAnswers(t *testing.T) {
	for _, routed := range [][3]string{
		{"gemini", "gemini-3.5-flash", "gemini-3.6-flash"},
		{"gemini", "gemini-3.7-flash", "gemini-3.8-flash"},
		{"deepseek", "deepseek-v4-flash", "deepseek-flash"},
	} {
		gone, answers := Builtin().Find(routed[0], routed[1]), Builtin().Find(routed[0], routed[2])
		assert.Equal(t, answers.Traits(), gone.Traits(), routed[1])
	}
	assert.Equal(t, "all", Builtin().Find("vertex", "gemini-3.5-flash").Value("sampling"), "Vertex AI has the model")
}

// Models that take images had one row with others that take none, so that images were left out.
func TestSiblingsOfOneRowHaveFactsOfTheirOwn(t *testing.T) {
	for _, names := range [][3]string{
		{"together", "zai-org/GLM-5.3", "zai-org/GLM-5.3-Flash"}, {"mistral", "zai-glm-5-3", "zai-glm-5-3-flash"},
		{"bedrock", "qwen.qwen3-next-80b-a3b", "qwen.qwen3-vl-235b-a22b"}, {"bedrock", "mistral.devstral-2-123b", "mistral.mistral-large-3-675b-instruct"},
	} {
		assert.Equal(t, "none", Builtin().Find(names[0], names[1]).Value("in"), names[1])
		assert.Equal(t, "image", Builtin().Find(names[0], names[2]).Value("in"), names[2])
	}
}

// Names that end with "*" are found with a version behind them, and are not those of other models.
func TestAStarIsAVersion(t *testing.T) {
	for name, known := range map[string]bool{
		"claude-opus-4-7": true, "claude-opus-4-7-20260420": true, "claude-opus-4-7-fast": false, "claude-opus-4-9": false,
	} {
		assert.Equal(t, known, Builtin().Find("anthropic", name) != nil, name)
	}
	own := read(t, nil, "provider,models,context", "p,m-*,1000")
	assert.NotNil(t, own.Find("p", "m-fast"), "a pattern of an operator matches any text")
	assert.Nil(t, own.Find("q", "m-fast"))
	assert.Nil(t, (*Table)(nil).Find("p", "m"))
}

func TestARowTakesItsEmptyCellsFromAnother(t *testing.T) {
	const header = "provider,models,like,context,longest,sampling,shutdown"
	base := read(t, nil, header, "p,m,,1000,100,none,2027-01-01", "p,n,p/m,2000,,,-")
	assert.Equal(t, "none", base.Find("p", "n").Value("sampling"))
	assert.EqualValues(t, 2000, base.Find("p", "n").Context())
	assert.EqualValues(t, 100, base.Find("p", "n").Longest())
	assert.True(t, base.Find("p", "n").End().Day.IsZero(), "an unknown value is not taken")

	file := read(t, base, header, "p,m,,3000,,,", "q,x*,p/n,,,all,", "q,y,q/x1,,,,")
	assert.EqualValues(t, 3000, file.Find("p", "m").Context())
	assert.Equal(t, "none", file.Find("p", "m").Value("sampling"), "a row without a link has the cells of the same name")
	assert.Equal(t, "all", file.Find("q", "y").Value("sampling"))
	assert.EqualValues(t, 2000, file.Find("q", "y").Context())
}

// A file with twenty mistakes once had to be read twenty times until it had none.
// A budget whose bounds were the wrong way round was accepted, and the model lost all of its traits.
func TestAllMistakesOfATableAreReported(t *testing.T) {
	wrong := [][2]string{
		{"context", "-1"}, {"context", "99999999999"}, {"longest", "1e5"}, {"longest", "0"}, {"sampling", "some"}, {"thinking", "budget"}, {"thinking", "always+budget"},
		{"thinking", "budget:32000-1024"}, {"thinking", "budget:0-0"}, {"thinking", "budget:1-99999999999"},
		{"efforts", "much"}, {"efforts", "refused low"}, {"prefill", "maybe"}, {"parallel", "2"}, {"tool_choice", "none"}, {"stops", "four"},
		{"schema", "loose"}, {"in", "smell"}, {"out", "none image"}, {"call_ids", "long"}, {"system", "last"}, {"endpoint", "chat images"},
		{"deprecated", "soon"}, {"shutdown", "2026-13-01"}, {"as_of", "yesterday"}, {"like", "p/unknown"}, {"provider", ""}, {"models", ""}, {"models", "a*b"}, {"models", "m5"}, {"models", "a;b"},
	}
	lines := []string{strings.Join(Columns, ",")}
	for i, cell := range wrong {
		row := map[string]string{"provider": "p", "models": fmt.Sprintf("m%d", i)}
		row[cell[0]] = cell[1]
		cells := make([]string, len(Columns))
		for i, name := range Columns {
			cells[i] = row[name]
		}
		lines = append(lines, strings.Join(cells, ","))
	}
	_, err := Read(strings.NewReader(strings.Join(lines, "\n")), nil)
	require.Error(t, err)
	mistakes := strings.Split(err.Error(), "\n")
	assert.Len(t, mistakes, len(wrong))
	for i, cell := range wrong {
		found := slices.ContainsFunc(mistakes, func(mistake string) bool {
			return strings.HasPrefix(mistake, fmt.Sprintf("line %d, column ", i+2)) && strings.Contains(mistake, ": "+cell[0]+": ")
		})
		assert.True(t, found, "%s %s: %s", cell[0], cell[1], mistakes)
	}
	assert.Contains(t, mistakes, "line 2, column 7: context: must be a number of tokens, got '-1'")

	_, err = Read(strings.NewReader("provider,models,like\np,a,p/b\np,b,p/c\np,c,p/b\np,short"), nil)
	assert.ErrorContains(t, err, "line 5: has 2 cells")
	_, err = Read(strings.NewReader("provider,models,like\np,a,p/b\np,b,p/c\np,c,p/b\np,d,p/d"), nil)
	assert.ErrorContains(t, err, "like: the row is like a row that is like it")
	assert.ErrorContains(t, err, "line 5, column 5: like")

	_, err = Read(strings.NewReader("provider,models,context,longest\np,a,1000,1000\np,b,1000,2000\np,c,,2000"), nil)
	assert.EqualError(t, err, "line 3, column 10: longest: must not be more than the context, which has the prompt and the answer")
}

// What a model refuses was once in lists of each preset, so that a model that two services have
// was described at one of them.
func TestTraitsFollowFromFacts(t *testing.T) {
	for want, row := range map[string]map[string]string{
		"":                        {"prefill": "yes", "parallel": "no", "schema": "strict", "in": "image", "thinking": "effort"},
		"max_output_tokens=8192":  {"longest": "8192", "context": "10000"},
		"sampling=all":            {"sampling": "all"},
		"sampling=none":           {"sampling": "none"},
		"sampling=without_effort": {"sampling": "without_effort"},
		"sampling=effort_none":    {"sampling": "effort_none"},
		"thinking_style=always":   {"thinking": "always"},
		"thinking_style=both":     {"thinking": "adaptive+budget"},
		"thinking_style=budget":   {"thinking": "budget:1024-", "efforts": "refused"},
		"thinking_budget=128-32768 thinking_style=budget":    {"thinking": "budget:128-32768"},
		"thinking_switch=enable_thinking":                    {"thinking": "enable_thinking"},
		"reasoning_effort=low thinking_switch=thinking.type": {"thinking": "thinking.type", "efforts": "low"},
		"thinking_switch=disable_reasoning":                  {"thinking": "disable_reasoning"},
		"tool_choice=effort_none":                            {"tool_choice": "effort_none"},
		"reasoning_effort=false":                             {"efforts": "refused"},
		"reasoning_effort=false thinking_style=none":         {"efforts": "refused", "thinking": "none"},
		"reasoning_effort=none high":                         {"efforts": "none default high"},
		"prefill=refuse":                                     {"prefill": "no"},
		"penalties=false":                                    {"penalties": "refused"},
		"parallel_tool_calls=false":                          {"parallel": "refused"},
		"tool_choice=auto":                                   {"tool_choice": "auto"},
		"max_stops=0":                                        {"stops": "0"},
		"json_schema=object":                                 {"schema": "object"},
		"json_schema=alone":                                  {"schema": "alone"},
		"json_schema=instruct":                               {"schema": "none"},
		"images=drop video=false":                            {"in": "none"},
		"video=true":                                         {"in": "image video"},
		"tool_call_ids=nine":                                 {"call_ids": "nine"},
	} {
		var got []string
		for name, value := range traits(func(column string) string { return row[column] }) {
			got = append(got, name+"="+value)
		}
		assert.NoError(t, new(trait.Traits).SetAll(traits(func(column string) string { return row[column] })), want)
		slices.Sort(got)
		assert.Equal(t, want, strings.Join(got, " "))
	}
}

func TestEndpointsOfConversations(t *testing.T) {
	chat, _ := EndpointOf("chat")
	responses, _ := EndpointOf("responses")
	for list, want := range map[string]Endpoints{"": AllEndpoints, "embeddings": AllEndpoints, "chat": chat, "responses": responses, "chat responses": chat | responses} {
		assert.Equal(t, want, endpointsOf(list), list)
	}
	_, ok := EndpointOf("messages")
	assert.False(t, ok)
}

// The pages named models of examples that their services had ended.
func TestNoExampleOfThePagesHasAModelThatHasEnded(t *testing.T) {
	pages, err := filepath.Glob("../../../caddyfile/docs/*.md")
	require.NoError(t, err)
	examples := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, to := range regexp.MustCompile(`(?m)^\s*to ([a-z]+)\S*?/(\S+)`).FindAllSubmatch(text, -1) {
			if f := Builtin().Find(string(to[1]), string(to[2])); f != nil {
				examples++
				assert.False(t, !f.end.IsZero() && f.end.Before(Builtin().Newest()), "%s: %s", page, to[0])
			}
		}
	}
	assert.Greater(t, examples, 20)
}
