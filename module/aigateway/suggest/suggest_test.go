package suggest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEditsAreCounted(t *testing.T) {
	for words, want := range map[[2]string]int{
		{"", ""}: 0, {"key", "key"}: 0, {"", "key"}: 3, {"key", ""}: 3,
		{"keys", "key"}: 1, {"kye", "key"}: 2, {"modles", "models"}: 2, {"kitten", "sitting"}: 3,
	} {
		assert.Equal(t, want, edits(words[0], words[1]), words)
		assert.Equal(t, want, edits(words[1], words[0]), words)
	}
}

func TestOnlyWhatIsNearIsSuggested(t *testing.T) {
	known := []string{"format", "model", "models", "to"}
	for mistyped, want := range map[string]string{
		"modles": "did you mean 'models'? ", "modle": "did you mean 'model'? ", "Format": "did you mean 'format'? ",
		"formaldehyde": "", "formal": "did you mean 'format'? ", "provider": "", "xx": "", "{": "",
		"": "", strings.Repeat("model", 1<<18): "",
	} {
		assert.Equal(t, want, DidYouMean(mistyped, known), mistyped)
	}
}

func TestAnUnknownWordIsNamedWithThoseThatAreKnown(t *testing.T) {
	assert.Equal(t, "unrecognized word in key alice: 'form'; did you mean 'from'? known are: from, models",
		Unrecognized("key alice", "form", []string{"from", "models"}))
}
