package metrics

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// expressions returns the expressions of the dashboard and of the alerts.
func expressions(t *testing.T) []string {
	t.Helper()
	dashboard, err := os.ReadFile("../../../caddyfile/deploy/observability/dashboard.json")
	require.NoError(t, err)
	var parsed struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	require.NoError(t, json.Unmarshal(dashboard, &parsed))
	var all []string
	for _, panel := range parsed.Panels {
		for _, target := range panel.Targets {
			all = append(all, target.Expr)
		}
	}
	require.NotEmpty(t, all)
	alerts, err := os.ReadFile("../../../caddyfile/deploy/observability/alerts.yml")
	require.NoError(t, err)
	rules := regexp.MustCompile(`(?m)^ +expr: (.*)$`).FindAllStringSubmatch(string(alerts), -1)
	require.NotEmpty(t, rules)
	for _, rule := range rules {
		all = append(all, rule[1])
	}
	return all
}

// described returns the labels of each metric.
func described() map[string][]string {
	descs := make(chan *prometheus.Desc, 100)
	for _, c := range collectors {
		c.Describe(descs)
	}
	close(descs)
	format := regexp.MustCompile(`fqName: "caddy_ai_gateway_(\w+)".*variableLabels: \{([^}]*)\}`)
	labels := make(map[string][]string)
	for desc := range descs {
		m := format.FindStringSubmatch(desc.String())
		labels[m[1]] = append(strings.Split(m[2], ","), "le")
	}
	return labels
}

// A wrong name of a metric or a label makes an empty panel, or an alert that never fires.
func TestDashboardAndAlertsUseMetricsThatExist(t *testing.T) {
	metric := regexp.MustCompile(`caddy_ai_gateway_(\w+?)(_bucket)?(?:\{([^}]*)\})?(?:[^\w{]|$)`)
	matcher := regexp.MustCompile(`(\w+)(?:=~|!=|=)"`)
	grouping := regexp.MustCompile(`by \(([^)]*)\)`)
	known, used := described(), make(map[string]bool)
	for _, expression := range expressions(t) {
		var labels []string
		for _, m := range metric.FindAllStringSubmatch(expression, -1) {
			require.Contains(t, known, m[1], expression)
			used[m[1]] = true
			labels = append(labels, known[m[1]]...)
			for _, label := range matcher.FindAllStringSubmatch(m[3], -1) {
				assert.Contains(t, known[m[1]], label[1], expression)
			}
		}
		require.NotEmpty(t, labels, expression)
		for _, m := range grouping.FindAllStringSubmatch(expression, -1) {
			assert.Subset(t, labels, strings.Split(m[1], ", "), expression)
		}
	}
	for name := range known {
		assert.True(t, used[name], "nothing shows %s", name)
	}
}

func TestPageListsEveryMetricWithItsLabels(t *testing.T) {
	page, err := os.ReadFile("../../../caddyfile/docs/metrics.md")
	require.NoError(t, err)
	for name, labels := range described() {
		i := strings.Index(string(page), "`"+name+"`")
		if !assert.GreaterOrEqual(t, i, 0, name) {
			continue
		}
		row, _, _ := strings.Cut(string(page)[i:], "\n")
		for _, label := range labels[:len(labels)-1] {
			if label != "" {
				assert.Contains(t, row, "`"+label+"`", name)
			}
		}
	}
}
