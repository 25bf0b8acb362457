package command

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTeamCommandManagesTeams(t *testing.T) {
	freshData(t)
	succeed(t, "user add ada")
	succeed(t, "user add grace")
	assert.Equal(t, "team research is added\n", succeed(t, "team add research --models claude-*,gpt-5 --requests 60/1m --tokens 5/1d --concurrent 3 --budget 50/month"))
	assert.Equal(t, "team support is added\n", succeed(t, "team add support"))
	assert.Equal(t, "user ada is admin of team research\n", succeed(t, "team member research ada --admin"))
	assert.Equal(t, "user grace is member of team research\n", succeed(t, "team member research grace"))
	assert.Equal(t, "USER   ROLE\nada    admin\ngrace  member\n", succeed(t, "team members research"))
	assert.Equal(t, "team research is changed\n", succeed(t, "team set research --tokens= --concurrent 0"))
	assert.Equal(t, "NAME      MODELS          LIMIT\nresearch  claude-* gpt-5  requests 60/1m, budget 50/month\nsupport                   \n", succeed(t, "team list"))

	succeed(t, "key new --user ada --name laptop --limit research")
	succeed(t, "key new --user ada --name own")
	assert.NotContains(t, succeed(t, "key list --team research"), "own")
	assert.Contains(t, succeed(t, "key list --team research"), "laptop")
	for line, want := range map[string]string{
		"key new --user grace --name x --limit support": "creating key for grace: the user is no member of the team",
		"team remove research ada":                      "team research: there are keys of the team: delete them first, or with keys=delete (--delete-keys of the command)",
		"team delete research":                          "team research: there are keys of the team: delete them first, or with keys=delete (--delete-keys of the command)",
		"team delete none":                              "team none: not found",
		"team add research":                             "team research: the name is taken by another team",
		"team member research nobody":                   "team research: there is no user with this name",
		"team remove research nobody":                   "team research: the team has no member with this name",
		"team set research --budget 5":                  "team research: budget must be an amount and a period",
		"key list --team research --user ada":           "none of the others can be",
	} {
		_, _, err := execute(t, "", line)
		assert.ErrorContains(t, err, want, line)
	}
	assert.Equal(t, "user ada is removed from team research\n", succeed(t, "team remove research ada --delete-keys"))
	assert.Contains(t, succeed(t, "key list"), "own")
	assert.NotContains(t, succeed(t, "key list"), "laptop")
	assert.Equal(t, "team research is deleted\n", succeed(t, "team delete research"))
	assert.NotContains(t, succeed(t, "team list"), "research")
}

// The command refuses a key with an unknown limit, but the rules of a team may be in the store.
func TestAKeyOfATeamNeedsNoLimitOfTheConfiguration(t *testing.T) {
	freshData(t)
	config := filepath.Join(t.TempDir(), "caddy.json")
	require.NoError(t, os.WriteFile(config, []byte(`{"apps":{"ai_gateway":{"store":{"store":"sqlite","path":"`+filepath.Join(t.TempDir(), "gateway.db")+`"}}}}`), 0o600))
	succeed(t, "user add ada --config "+config)
	succeed(t, "team add research --config "+config)
	succeed(t, "team member research ada --config "+config)
	succeed(t, "key new --user ada --name laptop --limit research --config "+config)
	_, _, err := execute(t, "", "key new --user ada --name laptop --limit other --config "+config)
	assert.ErrorContains(t, err, "the limit 'other' is not defined")
}

// The command made a team whose members could evade its limit by making keys, although the limit was
// in the configuration at hand.
func TestATeamIsCheckedAgainstTheLimitsOfTheConfiguration(t *testing.T) {
	freshData(t)
	config := filepath.Join(t.TempDir(), "caddy.json")
	require.NoError(t, os.WriteFile(config, []byte(`{"apps":{
		"ai_gateway":{"store":{"store":"sqlite","path":"`+filepath.Join(t.TempDir(), "gateway.db")+`"},"limits":[{"name":"keys","per":"key","concurrent":2},{"name":"users","concurrent":2}]},
		"http":{"servers":{"s":{"routes":[{"handle":[{"handler":"ai_gateway","limits":[
			{"name":"tags","per":"tag:a","within":"keys","concurrent":2},{"name":"bound","per":"customer","within":"users","concurrent":2},{"name":"loop","per":"key","within":"loop","concurrent":1}]}]}]}}}}}`), 0o600))
	for _, team := range []string{"keys", "tags", "loop"} {
		_, _, err := execute(t, "", "team add "+team+" --config "+config)
		assert.EqualError(t, err, "team "+team+": the limit '"+team+"' counts each key, customer or tag alone, and users can have many: name one per user, or within one")
	}
	for _, team := range []string{"users", "bound", "other"} {
		succeed(t, "team add "+team+" --config "+config)
	}
	_, _, err := execute(t, "", "team set bound --budget 5/month --config "+config)
	assert.ErrorContains(t, err, "the configuration defines a limit with the name of the team")
}
