package modeltable

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A name with a character that nobody sees was accepted, and its row was that of no model. The errors
// of an empty file and of one with semicolons did not show what is wrong.
func TestFilesThatNobodyCanReadAreRefused(t *testing.T) {
	known := []string{"provider", "models", "note"}
	for text, want := range map[string]string{
		"provider,models\np,m\n":                "",
		"\uFEFFprovider,models\r\np,m\r\n":      "",
		"provider,note\np,\"two\nlines\tü…\"\n": "",
		"provider,models\np,m\x00\n":            "line 2, column 3: models: has a character that cannot be seen, or is not in UTF-8",
		"provider,models\np,m\u200b\n":          "line 2, column 3: models: has a character that cannot be seen, or is not in UTF-8",
		"provider,models\np,a\u00a0b\n":         "line 2, column 3: models: has a character that cannot be seen, or is not in UTF-8",
		"provider,models\np,m\x1b[31m\n":        "line 2, column 3: models: has a character that cannot be seen, or is not in UTF-8",
		"provider,models\np\xfc,m\xfc\n": "line 2, column 1: provider: has a character that cannot be seen, or is not in UTF-8\n" +
			"line 2, column 4: models: has a character that cannot be seen, or is not in UTF-8",
		"":                           "the file is empty",
		"\n\n":                       "the file is empty",
		"provider;models\np;m\n":     "the cells of a row must be separated by commas",
		"provider\tmodels\np\tm\n":   "the cells of a row must be separated by commas",
		"provider,models\np,\"m\n":   "parse error on line 2, column 6: extraneous or missing \" in quoted-field",
		"provider,models,x\np,m,1\n": `the column "x" is unknown; the columns are provider, models, note`,
	} {
		_, err := Read(strings.NewReader(text), known, known[:1])
		if want == "" {
			assert.NoError(t, err, "%q", text)
			continue
		}
		assert.EqualError(t, err, want, "%q", text)
	}
}
