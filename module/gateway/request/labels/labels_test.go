package labels_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/affinity"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/labels"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// request returns an exchange with a key that has tags, a header with tags, and a body.
func request(t *testing.T, fixed, header, body string) *exchange.Exchange {
	t.Helper()
	ex := &exchange.Exchange{Key: &aigateway.Key{ID: "k"}, Request: exchange.Request{Client: make(http.Header), Body: []byte(body)}}
	for text := range strings.FieldsSeq(fixed) {
		tag, err := aigateway.ParseTag(text)
		require.NoError(t, err)
		ex.Key.Tags = append(ex.Key.Tags, tag)
	}
	if header != "" {
		ex.Request.Client[labels.Header] = strings.Split(header, "\n")
	}
	return ex
}

var names = labels.Names{Tags: []string{"team", "env", "a", "b", "c", "d", "e", "f", "g"}, Customer: affinity.Sources{"header.X-Customer", "user", "metadata.user_id"}}

// A tag of the header and one of the key were found at different places in other gateways,
// and limits missed one of them.
func TestTheTagsOfARequestAndOfItsKeyAreInOnePlace(t *testing.T) {
	for _, c := range []struct{ fixed, header, want string }{
		{"", "", ""},
		{"", "team=search", "team=search"},
		{"", " team=search ,\tenv=prod", "env=prod team=search"},
		{"team=search", "", "team=search"},
		{"team=search", "env=prod", "env=prod team=search"},
		{"team=search", "team=search", "team=search"},
	} {
		ex := request(t, c.fixed, c.header, `{}`)
		before := *ex.Key
		original := ex.Key
		require.Nil(t, names.Apply(ex), "%v", c)
		assert.Equal(t, c.want, aigateway.FormatTags(ex.Key.Tags), "%v", c)
		assert.Equal(t, before, *original, "the key of other requests is unchanged")
	}
}

func TestTagsThatAreNotConfiguredAreRefused(t *testing.T) {
	for header, want := range map[string]string{
		"colour=red":            "x-gateway-tags: the tag 'colour' is not configured; known are: team, env,",
		"team=search,team=ads":  "a tag must occur once: 'team'",
		"env=prod,env=prod":     "a tag must occur once: 'env'",
		"team=ads":              "", // replaced below
		"team":                  "a tag is a name and a value",
		"team=":                 "the value of a tag",
		"team=a b":              "the value of a tag",
		"team=" + long(65):      "the value of a tag",
		"<script>=x":            "the name of a tag",
		"team=search,":          "a tag is a name and a value",
		"env=prod\nteam=search": "must be sent once, with one value",
		"a=1,b=1,c=1,d=1,e=1,f=1,g=1,env=x,team=x": "at most 8 tags",
	} {
		if want == "" {
			refused := names.Apply(request(t, "team=search", header, `{}`))
			require.NotNil(t, refused)
			assert.Contains(t, refused.Message, "the key has another value of the tag 'team'")
			continue
		}
		refused := names.Apply(request(t, "", header, `{}`))
		require.NotNil(t, refused, header)
		assert.Contains(t, refused.Message, want, header)
		assert.Equal(t, http.StatusBadRequest, refused.Status())
	}
}

func long(n int) string { return strings.Repeat("x", n) }

func TestACustomerIsThatOfTheFirstSource(t *testing.T) {
	for body, want := range map[string]string{
		`{}`: "", `{"user":"acme"}`: "acme", `{"metadata":{"user_id":"acme"}}`: "acme", `{"user":"acme","metadata":{"user_id":"x"}}`: "acme",
		`{"user":7}`: "", `{"user":"Großkunde, Ω"}`: "Großkunde, Ω",
	} {
		ex := request(t, "", "", body)
		require.Nil(t, names.Apply(ex), body)
		assert.Equal(t, want, ex.Key.Customer, body)
	}
	ex := request(t, "", "", `{"user":"acme"}`)
	ex.Request.Client.Set("X-Customer", "umbrella")
	require.Nil(t, names.Apply(ex))
	assert.Equal(t, "umbrella", ex.Key.Customer)
	for _, body := range []string{`{"user":"` + long(257) + `"}`, `{"user":"a\u0000b"}`} {
		refused := names.Apply(request(t, "", "", body))
		require.NotNil(t, refused)
		assert.Contains(t, refused.Message, "user: names a customer with 1 to 256 bytes")
	}
}

// Requests without configured labels pay nothing, and those with labels that are not used.
func TestLabelsThatAreNotConfiguredCostNothing(t *testing.T) {
	var none labels.Names
	ex := request(t, "", "colour=red", `{"user":"acme"}`)
	assert.Zero(t, testing.AllocsPerRun(100, func() { require.Nil(t, none.Apply(ex)) }))
	assert.Empty(t, ex.Key.Labels)
	tags := labels.Names{Tags: names.Tags}
	ex = request(t, "team=search", "", `{"user":"acme"}`)
	assert.Zero(t, testing.AllocsPerRun(100, func() { require.Nil(t, tags.Apply(ex)) }))
}

func TestNamesOfLabelsAreChecked(t *testing.T) {
	for want, wrong := range map[string]labels.Names{
		"the name of a tag is":      {Tags: []string{"Team"}},
		"'team' occurs twice":       {Tags: []string{"team", "team"}},
		"at most 64 names":          {Tags: make([]string, 65)},
		"customer: 'X-Customer' is": {Customer: affinity.Sources{"X-Customer"}},
		"customer: off must be":     {Customer: affinity.Sources{"off"}},
		"'team' is not among":       {TagSources: map[string]affinity.Source{"team": "header.X-Team"}},
		"not from 'search'":         {Tags: []string{"team"}, TagSources: map[string]affinity.Source{"team": "search"}},
		"not from 'header.'":        {Tags: []string{"team"}, TagSources: map[string]affinity.Source{"team": "header."}},
	} {
		assert.ErrorContains(t, wrong.Check(), want)
	}
	assert.NoError(t, names.Check())
	key := &aigateway.Key{ID: "k", Labels: aigateway.Labels{Tags: []aigateway.Tag{{Name: "colour", Value: "red"}}}}
	assert.ErrorContains(t, names.CheckKeys(slices.Values([]*aigateway.Key{key})), "has the tag 'colour', which tags does not list")
	assert.ErrorContains(t, names.CheckScope(aigateway.PerTag("colour")), "counts by the tag 'colour', which tags does not list")
	assert.ErrorContains(t, new(labels.Names).CheckScope(aigateway.PerCustomer), "counts by customer, but customer names no")
	assert.NoError(t, names.CheckScope(aigateway.PerCustomer))
	assert.NoError(t, names.CheckScope(aigateway.PerGroup))
}

// What subagents cost was known by no tag, since agents send no header with tags.
func TestTagsAreReadFromWhatRequestsState(t *testing.T) {
	read := labels.Names{Tags: []string{"team", "subagent", "agent", "project"}, TagSources: map[string]affinity.Source{
		"subagent": "{request.subagent}", "agent": "{request.agent}", "project": "header.x-project",
	}}
	require.NoError(t, read.Check())
	for _, c := range []struct{ fixed, header, body, agent, project, want string }{
		{"", "", `{}`, "", "", ""},
		{"", "team=search", `{}`, "a1", "shop", "agent=a1 project=shop subagent=true team=search"},
		{"project=own", "", `{}`, "", "shop", "project=own"},
		{"", "", `{"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2; cc_is_subagent=true;"}]}`, "", "", "subagent=true"},
		{"", "", `{"messages":[{"role":"user","content":"cc_is_subagent=true"}]}`, "", "", ""},
		{"", "subagent=false", `{}`, "", "", "x-gateway-tags: the tag 'subagent' is read from {request.subagent}"},
		{"", "project=a", `{}`, "", "", "x-gateway-tags: the tag 'project' is read from x-project"},
		{"", "", `{}`, "", "a b", "x-project: the value of a tag is"},
	} {
		ex := request(t, c.fixed, c.header, c.body)
		ex.Request.Format = formats.Of(translate.Messages)
		ex.Request.Client.Set("X-Claude-Code-Agent-Id", c.agent)
		ex.Request.Client.Set("X-Project", c.project)
		refused := read.Apply(ex)
		got := aigateway.FormatTags(ex.Key.Tags)
		if refused != nil {
			got = refused.Message
		}
		assert.Contains(t, got, c.want, "%v", c)
		assert.Equal(t, c.want == "", got == "", "%v", c)
	}
	many := labels.Names{TagSources: make(map[string]affinity.Source)}
	for n := range aigateway.MostTags + 1 {
		name := string(rune('a' + n))
		many.Tags, many.TagSources[name] = append(many.Tags, name), "header.X-Project"
	}
	ex := request(t, "", "", "{}")
	ex.Request.Client.Set("X-Project", "shop")
	assert.Contains(t, many.Apply(ex).Message, "at most 8 tags")
}
