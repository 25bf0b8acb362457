package providers

import (
	"encoding/csv"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// model is a row of testdata/models.csv: what the documents of a service state of a model. Each row
// has its sources and their date.
type model map[string]string

// documented returns the rows by their names: service/model. A row takes its empty cells from the
// row in its column like; "-" is an unknown value that is not taken.
func documented(t *testing.T) map[string]model {
	file, err := os.Open("testdata/models.csv")
	require.NoError(t, err)
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	models := make(map[string]model)
	for _, line := range lines[1:] {
		m := make(model)
		for i, column := range lines[0] {
			m[column] = line[i]
		}
		for name := range strings.FieldsSeq(m["models"]) {
			assert.NotContains(t, models, m["service"]+"/"+name, "a name has two rows")
			models[m["service"]+"/"+name] = m
		}
	}
	for name, m := range models {
		models[name] = m.whole(t, models, name)
	}
	return models
}

// ofRow are the columns that a row does not take from another.
var ofRow = map[string]bool{"service": true, "models": true, "as_of": true, "source": true, "note": true}

// whole returns the row with the cells of the rows that it is like.
func (m model) whole(t *testing.T, models map[string]model, name string) model {
	whole := make(model)
	for links := 0; ; links++ {
		for column, value := range m {
			if whole[column] == "" && (links == 0 || !ofRow[column]) {
				whole[column] = value
			}
		}
		if m["like"] == "" {
			return whole
		}
		require.Less(t, links, 8, "%s is like a row that is like it", name)
		require.Contains(t, models, m["like"], name)
		m = models[m["like"]]
	}
}

// Presets were compared with the documents of services by hand, a model at a time. A bound above
// what the service takes is refused by it; one below cuts answers short.
func TestPresetsAgreeWithTheDocumentedLongestAnswers(t *testing.T) {
	compared := 0
	for name, m := range documented(t) {
		most, err := strconv.ParseInt(m["longest"], 10, 64)
		if err != nil || !registered(m["service"]) || m["endpoint"] != "chat" && m["endpoint"] != "both" {
			continue
		}
		_, upstream, _ := strings.Cut(name, "/")
		if traits := traitsOfModel(t, m["service"], example(upstream)); traits.MaxOutputTokens != 0 {
			assert.Equal(t, most, traits.MaxOutputTokens, "%s (%s)", name, m["source"])
			compared++
		}
	}
	assert.Greater(t, compared, 90)
}

// The models of Mistral, at whichever service, demand ids of calls of nine letters and digits.
func TestPresetsAgreeWithTheDocumentedIDsOfCalls(t *testing.T) {
	compared := 0
	for name, m := range documented(t) {
		if m["call_ids"] != "nine" || !registered(m["service"]) {
			continue
		}
		_, upstream, _ := strings.Cut(name, "/")
		traits := traitsOfModel(t, m["service"], example(upstream))
		if traits.CallIDs == trait.CallIDsAny {
			require.NoError(t, traits.SetAll(load(t, m["service"], `{}`).(aigateway.Preset).Defaults().Traits))
		}
		assert.Equal(t, trait.CallIDsNine, traits.CallIDs, name)
		compared++
	}
	assert.Greater(t, compared, 20)
}

func TestDocumentedModelsHaveSourcesAndDates(t *testing.T) {
	for name, m := range documented(t) {
		assert.NotEmpty(t, m["source"], name)
		date, err := time.Parse(time.DateOnly, m["as_of"])
		assert.NoError(t, err, name)
		assert.False(t, date.After(time.Now()), "%s: the date is in the future", name)
	}
}

// example returns a name that a pattern matches.
func example(pattern string) string { return strings.ReplaceAll(pattern, "*", "25-01-01") }

// registered reports whether the service has a preset in this package.
func registered(service string) bool {
	for _, p := range presets {
		if p.name == service {
			return true
		}
	}
	return false
}
