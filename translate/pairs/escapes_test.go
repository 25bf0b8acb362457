package pairs_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// wordMembers are the members whose values decide how the object around them is read.
var wordMembers = regexp.MustCompile(`"(type|role|execution|mode)":"([a-z])`)

// escapedWords writes the first letter of these values as an escape.
func escapedWords(body string) string {
	return wordMembers.ReplaceAllStringFunc(body, func(member string) string {
		last := len(member) - 1
		return fmt.Sprintf(`%s\u%04x`, member[:last], member[last])
	})
}

// JSON allows escapes in every string. Several readers compared some words as they were
// written, after the strict pass had decoded them: the role "assist\u0061nt" of a
// responses item led to a block without a turn, and the writer of messages panicked; a
// chat tool of the type "functi\u006fn" was refused.
func TestWordsMayBeEscaped(t *testing.T) {
	for from, samples := range sampled {
		for _, to := range known {
			if !pairs.CanTranslate(from, to) {
				continue
			}
			for name, s := range samples.samples {
				t.Run(fmt.Sprintf("%s to %s/%s", from, to, name), func(t *testing.T) {
					requireSameRequest(t, way{from, to}, s, escapedWords(s.body))
				})
			}
		}
	}
}

// requireSameRequest requires that a sample and another body with the same meaning have
// the same translation.
func requireSameRequest(t *testing.T, w way, s sample, other string) {
	t.Helper()
	render := func(body string) (string, core.Rendered, *fault.Fault) {
		_, fault := formats.Of(w.source).Requests.Inspect([]byte(body), translate.Generate)
		require.Nil(t, fault, body)
		info := &core.RequestInfo{Model: "m1", Upstream: "up", Traits: traitsOf(t, s.traits), Seals: sealer}
		out, r, fault := pairs.Render(nil, w.source, w.target, []byte(body), info)
		return string(out), r, fault
	}
	want, rendered, refused := render(s.body)
	got, otherRendered, fault := render(other)
	if refused != nil {
		require.NotNil(t, fault, other)
		assert.Equal(t, refused.Param, fault.Param)
		assert.Equal(t, refused.Code, fault.Code)
		return
	}
	require.Nil(t, fault, other)
	assert.JSONEq(t, want, got)
	assert.Equal(t, rendered.Losses, otherRendered.Losses)
}

// What a client writes in any string or name of a request stays in a string. Behind the checks of
// its request, a member that it could add may be a second model.
func TestNoStringWritesMembers(t *testing.T) {
	for from, samples := range sampled {
		for name, s := range samples.samples {
			for _, at := range jsonscan.Leaves([]byte(s.body), jsonscan.Slot{End: len(s.body)}) {
				for _, hostile := range []string{`%22,%22injected%22:%22`, `\",\"injected\":\"`} {
					body := s.body[:at.End-1] + hostile + s.body[at.End-1:]
					if _, refused := formats.Of(from).Requests.Inspect([]byte(body), translate.Generate); s.body[at.Start] != '"' || refused != nil {
						continue
					}
					for _, to := range spoken {
						if !pairs.CanTranslate(from, to) {
							continue
						}
						info := &core.RequestInfo{Model: "m1", Upstream: upstreamName(to), Traits: traitsOf(t, s.traits), Seals: sealer}
						if out, _, refused := pairs.Render(nil, from, to, []byte(body), info); refused == nil {
							require.True(t, json.Valid(out), "%s to %s, %s: %s", from, to, name, out)
							require.NotContains(t, string(out), `"injected":`, "%s to %s, %s", from, to, name)
						}
					}
				}
			}
		}
	}
}
