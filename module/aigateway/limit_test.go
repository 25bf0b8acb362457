package aigateway

import (
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
)

func TestRatesAreANumberAndATime(t *testing.T) {
	for text, want := range map[string]Rate{
		"60/1m":            {60, caddy.Duration(time.Minute)},
		"1/1s":             {1, caddy.Duration(time.Second)},
		"1000000000000/1d": {1_000_000_000_000, caddy.Duration(24 * time.Hour)},
		"400000/366d":      {400_000, caddy.Duration(366 * 24 * time.Hour)},
		"5/1h30m":          {5, caddy.Duration(90 * time.Minute)},
	} {
		got, err := ParseRate(text)
		assert.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "60", "/1m", "60/", "0/1m", "-1/1m", "1.5/1m", "60/1", "60/0s", "60/999ms", "60/367d", "60/1m/1m", "60 / 1m", "1000000000001/1m", "99999999999999999999/1m"} {
		_, err := ParseRate(text)
		assert.ErrorContains(t, err, "60/1m", text)
	}
}

func TestRulesThatCannotBeMeantAreRefused(t *testing.T) {
	minute := caddy.Duration(time.Minute)
	for _, right := range []LimitRules{{Requests: Rate{1, minute}}, {Tokens: Rate{1, minute}}, {Concurrent: 1}, {Budget: Budget{Micros: 1, Per: minute}, AllowUnpriced: true}} {
		assert.NoError(t, right.Check())
	}
	for want, wrong := range map[string]LimitRules{
		"at least one of": {AllowUnpriced: false}, "unpriced needs": {Concurrent: 1, AllowUnpriced: true}, "budget: a budget": {Budget: Budget{Micros: 5}}, "budget: a currency": {Budget: Budget{Micros: 5, Calendar: Daily, Currency: "euro"}},
		"requests: a rate": {Requests: Rate{Most: 5}, Concurrent: 1}, "tokens: a rate": {Tokens: Rate{-5, minute}}, "concurrent must": {Concurrent: -1},
	} {
		assert.ErrorContains(t, wrong.Check(), want)
	}
}

func TestLimitsHaveANameAndAScope(t *testing.T) {
	rules := LimitRules{Concurrent: 1}
	for _, per := range []Scope{"", PerKey, PerUser, PerGroup, PerGateway, PerCustomer, PerTag("team")} {
		assert.NoError(t, (&Limit{Name: "small", Per: per, LimitRules: rules}).Check())
	}
	assert.ErrorContains(t, (&Limit{Name: "small", Per: "team", LimitRules: rules}).Check(), "per must be key, user, group, gateway, customer or tag and a name")
	assert.Error(t, (&Limit{Name: "small", Per: PerTag("Team"), LimitRules: rules}).Check())
	assert.Error(t, (&Limit{LimitRules: rules}).Check())
	assert.Error(t, (&Limit{Name: "small"}).Check())
}

func TestNamesOfLimits(t *testing.T) {
	for _, name := range []string{"small", "9", "Of-users.2@x+y_z", strings.Repeat("a", 64)} {
		assert.NoError(t, CheckLimitName(name), name)
	}
	for _, name := range []string{"", "-a", "a b", "a'b", strings.Repeat("a", 65), "ä"} {
		assert.Error(t, CheckLimitName(name), name)
	}
}
