package answer_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// FuzzParser reads anything as an answer: what the parser tells of it must keep the
// laws of core events.
func FuzzParser(f *testing.F) {
	for _, pattern := range []string{"streams/responses/*.sse", "goldens/answers/responses/*.json"} {
		paths, err := filepath.Glob("../../../testdata/" + pattern)
		require.NoError(f, err)
		require.NotEmpty(f, paths)
		for _, path := range paths {
			data, err := os.ReadFile(path)
			require.NoError(f, err)
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		require.NoError(t, translatetest.Parse(func(h event.Handler) translatetest.Parser { return answer.NewParser(h) }, data))
	})
}
