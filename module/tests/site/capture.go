package site

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Capture is a request that a client really sent.
type Capture struct {
	Name    string // of its file
	Method  string
	Path    string
	Headers map[string]string
	Body    json.RawMessage
}

// Captures reads the requests below testdata/captures.
func Captures(t testing.TB) []Capture {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(Root(t), "testdata", "captures", "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 4)
	var all []Capture
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		c := Capture{Name: filepath.Base(file)}
		require.NoError(t, json.Unmarshal(raw, &c))
		var compact bytes.Buffer
		require.NoError(t, json.Compact(&compact, c.Body))
		c.Body = compact.Bytes()
		all = append(all, c)
	}
	return all
}

// Replay sends the capture with ClientKey in place of the recorded key.
func (s *Site) Replay(c Capture) *http.Response {
	s.T.Helper()
	request, err := http.NewRequestWithContext(s.T.Context(), c.Method, s.URL(s.name(), c.Path), bytes.NewReader(c.Body))
	require.NoError(s.T, err)
	for name, value := range c.Headers {
		request.Header.Set(name, strings.ReplaceAll(value, "KEY", ClientKey))
	}
	response, err := s.Client.Do(request)
	require.NoError(s.T, err)
	return response
}
