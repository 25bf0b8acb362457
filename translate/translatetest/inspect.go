package translatetest

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Inspect is the strict pass of a format.
type Inspect func([]byte, translate.Operation) (translate.View, *fault.Fault)

// Refuses requires that a request is refused with a sentence about the field at a path,
// and with the code of repeated members if that is what the sentence is about.
func (inspect Inspect) Refuses(t *testing.T, body, path, what string) {
	t.Helper()
	view, f := inspect([]byte(body), translate.Generate)
	require.NotNil(t, f)
	code := "invalid_value"
	if strings.HasPrefix(what, "must appear once") {
		code = "invalid_json"
	}
	assert.Equal(t, path+": "+what, f.Message)
	assert.Equal(t, path, f.Param)
	assert.Equal(t, code, f.Code)
	assert.Equal(t, fault.Invalid, f.Kind)
	assert.Equal(t, translate.View{}, view)
}

// LocatesInvalidJSON requires that bodies are refused at the position that "‸" marks.
func (inspect Inspect) LocatesInvalidJSON(t *testing.T, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		head, tail, marked := strings.Cut(body, "‸")
		require.True(t, marked, body)
		_, f := inspect([]byte(head+tail), translate.Generate)
		require.NotNil(t, f, body)
		assert.Equal(t, "request body: not valid JSON at byte "+strconv.Itoa(len(head)), f.Message)
		assert.Equal(t, "invalid_json", f.Code)
		assert.Empty(t, f.Param)
	}
}
