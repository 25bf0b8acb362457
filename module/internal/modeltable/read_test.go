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
		"\xff\xfep\x00r\x00o\x00v\x00": "the line with the names of columns: has a character that cannot be seen, or is not in UTF-8", // UTF-16
		"\uFEFF\uFEFFprovider\np\n":    "the line with the names of columns: has a character that cannot be seen, or is not in UTF-8",
		"":                             "the file is empty",
		"\n\n":                         "the file is empty",
		"provider;models\np;m\n":       "the cells of a row must be separated by commas",
		"provider\tmodels\np\tm\n":     "the cells of a row must be separated by commas",
		"provider,models\np,\"m\n":     "parse error on line 2, column 6: extraneous or missing \" in quoted-field",
		"provider,models,x\np,m,1\n":   `the column "x" is unknown; the columns are provider, models, note`,
	} {
		_, err := Read(strings.NewReader(text), known, known[:1])
		if want == "" {
			assert.NoError(t, err, "%q", text)
			continue
		}
		assert.EqualError(t, err, want, "%q", text)
	}
}

// Names that were copied from a text, with its dashes or commas, were accepted, and their rows were
// those of no model.
func TestNamesOfNoModel(t *testing.T) {
	for name, want := range map[string]string{
		"gpt-5.5": "", "gpt-5.5-20*": "", "*": "", "~anthropic/claude-sonnet-latest": "", "amazon.nova-pro-v1:0": "", "通义千问": "",
		"gpt-*-pro":       "gpt-*-pro: only the last character of a name may be a *",
		"gpt-**":          "gpt-**: only the last character of a name may be a *",
		"gpt-5.5,o3":      "gpt-5.5,o3: names must be separated by spaces",
		"gpt-5.5;":        "gpt-5.5;: names must be separated by spaces",
		"gpt\u20115.5":    "gpt\u20115.5: has a dash that is no hyphen",
		"gpt-5.5\u2013o3": "gpt-5.5\u2013o3: has a dash that is no hyphen",
		"gpt\u22125":      "gpt\u22125: has a dash that is no hyphen",
	} {
		if err := CheckName(name); want == "" {
			assert.NoError(t, err, name)
		} else {
			assert.EqualError(t, err, want)
		}
	}
}
