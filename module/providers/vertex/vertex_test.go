package vertex

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestK041TheHostFollowsFromTheLocation(t *testing.T) {
	for location, want := range map[string]string{
		"":         "https://aiplatform.googleapis.com",
		"global":   "https://aiplatform.googleapis.com",
		"us-east5": "https://us-east5-aiplatform.googleapis.com",
		"eu":       "https://aiplatform.eu.rep.googleapis.com",
		"us":       "https://aiplatform.us.rep.googleapis.com",
	} {
		v := &Vertex{Project: "p", Location: location}
		assert.NoError(t, v.Validate())
		assert.Equal(t, want, v.Defaults().BaseURL)
	}
	for _, location := range []string{"evil.example/", "us-east5.", "US", "a b"} {
		assert.Error(t, (&Vertex{Project: "p", Location: location}).Validate(), location)
	}
	assert.Error(t, (&Vertex{Project: "p/../x"}).Validate())
	assert.Error(t, new(Vertex).Validate())
}
