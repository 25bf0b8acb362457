package token_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

var (
	whole = token.NewRows(
		token.Row{Path: "in", Is: token.Prompt}, token.Row{Path: "out", Is: token.Output}, token.Row{Path: "all", Is: token.Total},
		token.Row{Path: "in_details.cached", Is: token.CacheRead}, token.Row{Path: "hits", Is: token.CacheRead},
		token.Row{Path: "in_details.written", Is: token.CacheWrite}, token.Row{Path: "out_details.reasoning", Is: token.Reasoning},
	)
	disjoint = token.NewRows(
		token.Row{Path: "in", Is: token.Fresh}, token.Row{Path: "cached", Is: token.CacheRead}, token.Row{Path: "out", Is: token.Output},
		token.Row{Path: "written", Is: token.CacheWrite}, token.Row{Path: "hour", Is: token.CacheWriteLong},
		token.Row{Path: "tools.searches", Is: token.Searches}, token.Row{Path: "tier", Is: token.Tier}, token.Row{Path: "speed", Is: token.Speed},
		token.Row{Path: "region", Is: token.Region}, token.Row{Path: "runs", Is: token.Runs},
		token.Row{Path: "minutes", Is: token.CacheWriteShort}, token.Row{Path: "tools.others", Is: token.FurtherSearches}, token.Row{Path: "seconds", Is: token.Seconds},
		token.Row{Path: "media", Is: token.ImageInput, List: listOf("image")}, token.Row{Path: "media", Is: token.AudioInput, List: listOf("sound")},
	)
)

func listOf(medium string) *token.List {
	return &token.List{Word: "of", Count: "n", Counts: func(word string) bool { return word == medium }}
}

// report reads usage objects of one answer, one after the other.
func report(t *testing.T, rows *token.Rows, objects ...string) (r token.Report) {
	for _, object := range objects {
		c := jsonscan.New([]byte(object))
		assert.Equal(t, object[0] == '{', r.Read(&c, rows), object)
		require.NoError(t, c.Finish(), object)
	}
	return r
}

func TestUsageFollowsTheRowsOfItsFormat(t *testing.T) {
	for name, tt := range map[string]struct {
		rows    *token.Rows
		objects []string
		want    token.Usage
	}{
		"none":                                        {whole, nil, token.Usage{}},
		"not an object":                               {whole, []string{"null"}, token.Usage{}},
		"an empty one":                                {whole, []string{"{}"}, token.Usage{Known: true}},
		"a prompt with caches":                        {whole, []string{`{"in":9,"out":4,"in_details":{"cached":3,"written":2}}`}, token.Usage{Counts: token.Counts{Fresh: 4, CacheRead: 3, CacheWrite: 2, Answer: 4}, Known: true}},
		"the first of two rows":                       {whole, []string{`{"in":9,"hits":5,"in_details":{"cached":3}}`}, token.Usage{Counts: token.Counts{Fresh: 6, CacheRead: 3}, Known: true}},
		"the one that is not 0":                       {whole, []string{`{"in":9,"hits":5,"in_details":{"cached":0}}`}, token.Usage{Counts: token.Counts{Fresh: 4, CacheRead: 5}, Known: true}},
		"details of other kinds":                      {whole, []string{`{"in":9,"in_details":[{"cached":3}],"out_details":null,"out":"7"}`}, token.Usage{Counts: token.Counts{Fresh: 9}, Known: true}},
		"a later object":                              {whole, []string{`{"in":9,"out":1}`, "null", `{"out":4,"in":null}`}, token.Usage{Counts: token.Counts{Fresh: 9, Answer: 4}, Known: true}},
		"below 0":                                     {whole, []string{`{"in":9,"out":4}`, `{"in":-2,"out":1.5}`}, token.Usage{Counts: token.Counts{Fresh: 9, Answer: 4}, Known: true, Inconsistent: true}},
		"more written than divided":                   {disjoint, []string{`{"written":40,"hour":30,"minutes":10}`, `{"written":100}`}, token.Usage{Counts: token.Counts{CacheWrite: 25, CacheWriteLong: 75}, Known: true}},
		"all written for an hour":                     {disjoint, []string{`{"written":40,"hour":40,"minutes":0}`, `{"written":100}`}, token.Usage{Counts: token.Counts{CacheWriteLong: 100}, Known: true}},
		"written for minutes, too":                    {disjoint, []string{`{"written":100,"hour":40}`}, token.Usage{Counts: token.Counts{CacheWrite: 60, CacheWriteLong: 40}, Known: true}},
		"reasoning apart":                             {whole, []string{`{"in":9,"out":4,"all":16,"out_details":{"reasoning":3}}`}, token.Usage{Counts: token.Counts{Fresh: 9, Answer: 4, Reasoning: 3}, Known: true}},
		"reasoning in the total":                      {whole, []string{`{"in":9,"out":4,"all":16}`}, token.Usage{Counts: token.Counts{Fresh: 9, Answer: 4, Reasoning: 3}, Known: true}},
		"a total of caches":                           {whole, []string{`{"in":9,"out":4,"all":16,"hits":3}`}, token.Usage{Counts: token.Counts{Fresh: 6, CacheRead: 3, Answer: 4}, Known: true}},
		"both lifetimes of caches, without their sum": {disjoint, []string{`{"in":9,"hour":4,"minutes":3}`}, token.Usage{Counts: token.Counts{Fresh: 9, CacheWrite: 3, CacheWriteLong: 4}, Known: true}},
		"both lifetimes of caches, and their sum":     {disjoint, []string{`{"in":9,"written":7,"hour":4,"minutes":3}`}, token.Usage{Counts: token.Counts{Fresh: 9, CacheWrite: 3, CacheWriteLong: 4}, Known: true}},
		"searches of two kinds":                       {disjoint, []string{`{"in":9,"tools":{"searches":2,"others":3}}`}, token.Usage{Counts: token.Counts{Fresh: 9, Searches: 5}, Known: true}},
		"begun seconds":                               {disjoint, []string{`{"in":9,"seconds":203.2}`}, token.Usage{Counts: token.Counts{Fresh: 9}, Known: true, Units: token.Units{Seconds: 204}}},
		"seconds in a text":                           {disjoint, []string{`{"in":9,"seconds":"8.47"}`, `{"seconds":null}`}, token.Usage{Counts: token.Counts{Fresh: 9}, Known: true, Units: token.Units{Seconds: 9}}},
		"seconds that cannot be":                      {disjoint, []string{`{"in":9,"seconds":1e99}`, `{"seconds":"NaN"}`, `{"seconds":-3}`}, token.Usage{Counts: token.Counts{Fresh: 9}, Known: true}},
		"two counts in a list": {
			disjoint, []string{`{"in":9,"media":[{"of":"image","n":2},{"of":"sound","n":3},{"of":"image","n":1},{"of":"text","n":3}]}`, `{"media":null}`},
			token.Usage{Counts: token.Counts{Fresh: 9}, Known: true, Units: token.Units{ImageTokens: token.MediaTokens{Input: 3}, AudioTokens: token.MediaTokens{Input: 3}}},
		},
		"counts without overlap": {disjoint, []string{`{"in":9,"cached":30,"out":4,"tools":{"searches":2}}`}, token.Usage{Counts: token.Counts{Fresh: 9, CacheRead: 30, Answer: 4, Searches: 2}, Known: true}},
		"words": {
			disjoint, []string{`{"tier":"batch","speed":"fast","region":"us"}`, `{"tier":5,"speed":"standard"}`},
			token.Usage{Known: true, Terms: token.Batch | token.RegionUS},
		},
		"runs": {
			disjoint, []string{`{"in":1,"out":1,"runs":[{"type":"summary","model":"m","in":5,"out":6},{"type":"message","in":1,"out":1},7]}`, `{"runs":null}`},
			token.Usage{Counts: token.Counts{Fresh: 1, Answer: 1}, Known: true, Beside: []token.Run{{Model: "m", Usage: token.Usage{Counts: token.Counts{Fresh: 5, Answer: 6}, Known: true}}}},
		},
	} {
		r := report(t, tt.rows, tt.objects...)
		assert.Equal(t, tt.want, r.Usage(), name)
	}
}

func TestSearchesMayBeCountedElsewhere(t *testing.T) {
	r := report(t, disjoint, `{"tools":{"searches":2}}`)
	r.Searches = 1
	assert.EqualValues(t, 2, r.Usage().Searches)
	r.Searches = 3
	assert.EqualValues(t, 3, r.Usage().Searches)
}

// Some servers send zeros in every chunk but the last.
func TestAReportKnowsWhetherItsLastObjectHasCounts(t *testing.T) {
	some := report(t, whole, `{"in":0}`, `{"out":4}`)
	assert.True(t, some.Positive())
	zeros := report(t, whole, `{"out":4}`, `{"in":0,"out":0}`)
	assert.False(t, zeros.Positive())
}

// Each open stream keeps its counts, so a format's words for one count do not add to them.
func TestTheRowsOfACountShareItsPlace(t *testing.T) {
	rows := []token.Row{{Path: "in", Is: token.Prompt}}
	for i := range 100 {
		rows = append(rows, token.Row{Path: fmt.Sprintf("words%d.hits", i), Is: token.CacheRead})
	}
	many := token.NewRows(rows...)
	for _, objects := range [][]string{
		{`{"in":9,"words7":{"hits":4},"words60":{"hits":0},"words99":{"hits":5}}`}, {`{"words99":{"hits":5},"words60":{"hits":0},"in":9,"words7":{"hits":4}}`},
		{`{"in":9,"words60":{"hits":4}}`, `{"in":9,"words7":{"hits":0}}`}, {`{"in":9,"words7":{"hits":6}}`, `{"words60":{"hits":4},"words7":{"hits":0}}`},
		{`{"in":9,"words7":{"hits":6}}`, `{"words60":{"hits":4}}`}, {`{"in":9,"words7":{"hits":6}}`, `{"words7":{"hits":4}}`},
	} {
		r := report(t, many, objects...)
		assert.Equal(t, token.Counts{Fresh: 5, CacheRead: 4}, r.Usage().Counts, objects)
	}
	assert.LessOrEqual(t, reflect.TypeFor[token.Report]().Size(), uintptr(280))
}
