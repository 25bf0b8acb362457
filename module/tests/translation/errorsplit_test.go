package translation_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// made are the parts of an answer that differ each time.
var made = regexp.MustCompile(`"(id|request_id|responseId)":"[^"]*"|"created(_at)?":\d+|"item_id":"[^"]*"`)

// If an error arrived in the same read as the text before it, the client once got an error
// status without the text. The result depended on the division into packets.
func TestAnErrorRightBehindContentEndsTheStreamHoweverItArrives(t *testing.T) {
	eachLane(t, func(t *testing.T, s site.Failover, r site.Lane) {
		events := site.Streams[r.Upstream]
		stream := strings.Join(events[:len(events)-3], "") +
			strings.Replace(site.ErrorEvents[r.Upstream], `"sequence_number":5`, fmt.Sprint(`"sequence_number":`, len(events)-3), 1)
		open := make(map[string]*site.Stream)
		for name, pieces := range map[string][]string{
			"in one piece": {stream},
			"by events":    strings.SplitAfter(stream, "\n\n"),
			"by bytes":     strings.Split(stream, ""),
		} {
			s.First.Script(gatewaytest.Chunks(gatewaytest.EventStream, pieces...))
			open[name] = s.Open(r.Path, site.BodyFor(r.Path, "1", "hello", true))
		}
		var first string
		for name, stream := range open {
			answer := stream.Rest()
			require.Equal(t, http.StatusOK, answer.Status, "%s: %s", name, answer.Body)
			read := answer.Read(t, r.Path)
			require.NotNil(t, read.Failure, name)
			assert.True(t, strings.HasPrefix(read.Text(), "Hi"), "%s: %s", name, answer.Body)
			assert.False(t, read.Complete, name)
			assert.Equal(t, "cut", s.Record(answer.ID())["outcome"], name)
			if body := made.ReplaceAllString(answer.Body, "$1"); first == "" {
				first = body
			} else {
				assert.Equal(t, first, body, name)
			}
		}
	})
}
