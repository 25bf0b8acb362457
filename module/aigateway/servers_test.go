package aigateway

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Tools act. A key that may use all models must not use a server because somebody has configured one.
func TestOnlyPatternsOfServersPermitTheirUse(t *testing.T) {
	for _, test := range []struct {
		name   string
		key    Key
		allows bool
	}{
		{"no models", Key{ID: "ci"}, false},
		{"all models", Key{ID: "ci", Models: []Pattern{"*"}}, false},
		{"a wider pattern", Key{ID: "ci", Models: []Pattern{"m*"}}, false},
		{"the server", Key{ID: "ci", Models: []Pattern{"mcp/github/*"}}, true},
		{"some tools", Key{ID: "ci", Models: []Pattern{"mcp/github/search_*"}}, true},
		{"all servers", Key{ID: "ci", Models: []Pattern{"mcp/*"}}, true},
		{"another server", Key{ID: "ci", Models: []Pattern{"mcp/git/*"}}, false},
		{"another server with a longer name", Key{ID: "ci", Models: []Pattern{"mcp/github-2/*"}}, false},
		{"other tools", Key{ID: "ci", Models: []Pattern{"mcp/github/create_*"}}, false},
		{"a stored key without a team", Key{ID: "key_1", Models: []Pattern{"mcp/*"}}, false},
		{"a team without servers", Key{ID: "key_1", Models: []Pattern{"mcp/*"}, Team: &Team{Models: []Pattern{"gpt-*"}}}, false},
		{"a team", Key{ID: "key_1", Team: &Team{Models: []Pattern{"gpt-*", "mcp/github/*"}}}, true},
		{"a team and a narrower key", Key{ID: "key_1", Models: []Pattern{"mcp/github/create_*"}, Team: &Team{Models: []Pattern{"mcp/github/*"}}}, false},
	} {
		assert.Equal(t, test.allows, test.key.AllowsTool("mcp/github/search_issues"), test.name)
	}
	some := &Key{ID: "ci", Models: []Pattern{"mcp/github/search_*"}}
	assert.True(t, some.AllowsServer("github"))
	assert.False(t, some.AllowsServer("git"))
	assert.False(t, some.AllowsTool("mcp/github/create_issue"))
	assert.False(t, new(Key).AllowsServer("github"))
}

func TestServersAreAddedToModels(t *testing.T) {
	models, err := WithServers(nil, []string{"github", "docs/search_*"})
	require.NoError(t, err)
	assert.Equal(t, []Pattern{"*", "mcp/github/*", "mcp/docs/search_*"}, models)
	key := &Key{ID: "ci", Models: models}
	assert.True(t, key.Allows("gpt-5"), "it may use all models as before")
	assert.Empty(t, key.Bound())

	models, err = WithServers([]Pattern{"gpt-*"}, []string{"github"})
	require.NoError(t, err)
	assert.Equal(t, []Pattern{"gpt-*", "mcp/github/*"}, models)
	assert.NotEmpty(t, (&Key{Models: models}).Bound())
	assert.Equal(t, []Pattern{"gpt-*"}, (&Key{Models: []Pattern{"*"}, Team: &Team{Models: []Pattern{"gpt-*"}}}).Bound())

	for _, wrong := range []string{"", "/x", "github/", "a b"} {
		_, err := WithServers(nil, []string{wrong})
		assert.Error(t, err, wrong)
	}
}
