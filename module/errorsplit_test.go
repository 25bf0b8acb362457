package module_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// made are the parts of an answer that differ each time.
var made = regexp.MustCompile(`"(id|request_id)":"[^"]*"|"created":\d+`)

// An error that came with the same bytes as the text before it became a status,
// and the text was thrown away: whether it did was a matter of packets.
func TestAnErrorRightBehindContentEndsTheStreamHoweverItArrives(t *testing.T) {
	eachLane(t, func(t *testing.T, s stalling, r translatedRoute) {
		events := streams[r.upstream]
		stream := strings.Join(events[:len(events)-3], "") + errorEvents[r.upstream]
		var first string
		for name, pieces := range map[string][]string{
			"in one piece": {stream},
			"by events":    strings.SplitAfter(stream, "\n\n"),
			"by bytes":     strings.Split(stream, ""),
		} {
			s.first.Script(gatewaytest.Chunks(gatewaytest.EventStream, pieces...))
			answer := s.ask(r.path, bodyFor(r.path, "1", "hello", true))
			require.Equal(t, http.StatusOK, answer.status, "%s: %s", name, answer.body)
			read := answer.read(t, r.path)
			require.NotNil(t, read.failure, name)
			assert.True(t, strings.HasPrefix(read.text, "Hi"), "%s: %s", name, answer.body)
			assert.False(t, read.complete, name)
			assert.Equal(t, "cut", s.record(answer.id())["outcome"], name)
			if body := made.ReplaceAllString(answer.body, "$1"); first == "" {
				first = body
			} else {
				assert.Equal(t, first, body, name)
			}
		}
	})
}
