//go:build !race

package transport

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// translations are the recorded streams with each format in which a client can
// read them.
func translations(t *testing.T, test func(t *testing.T, r recording, client translate.Format)) {
	for _, r := range recordings(t) {
		name, usual := strings.CutSuffix(r.name, "/LF")
		for _, client := range formats.Names() {
			if usual && client != r.format && pairs.CanTranslate(client, r.format) {
				t.Run(name+" to "+string(client), func(t *testing.T) { test(t, r, client) })
			}
		}
	}
}

func TestAnyChunkingOfAStreamIsTranslatedAlike(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	translations(t, func(t *testing.T, r recording, client translate.Format) {
		want := replayFor(t, client, r.format, whole(r.bytes), io.EOF)
		for _, most := range []int{1, 9, 99, 999} {
			got := replayFor(t, client, r.format, split(r.bytes, func() int { return 1 + random.IntN(most) }), io.EOF)
			require.Equal(t, want.State, got.State)
			require.Equal(t, want.Fault == nil, got.Fault == nil)
			require.Equal(t, want.Usage, got.Usage)
			require.Equal(t, want.status, got.status, "the status must not depend on the bytes that arrive with an error")
			require.Equal(t, randomParts.ReplaceAllString(want.output, ""), randomParts.ReplaceAllString(got.output, ""))
		}
	})
}

// finishAt returns the offset of the first event after which the turn is over: the
// stop reason of every choice, or the last event.
func (r recording) finishAt() int64 {
	lexer, observer := sse.NewLexer(0), formats.Of(r.format).Answers.NewObserver()
	lexer.Feed(r.bytes)
	for event, ok := lexer.Next(); ok; event, ok = lexer.Next() {
		if observer.Observe(event)&(signal.Finish|signal.Terminal) != 0 {
			return event.Start
		}
	}
	return int64(len(r.bytes))
}

// TestNoTranslatedPrefixIsFinished ensures that the end of a translated stream is written only
// after the end of the provider's stream.
func TestNoTranslatedPrefixIsFinished(t *testing.T) {
	translations(t, func(t *testing.T, r recording, client translate.Format) {
		want := r.expect(false)
		if !want.finished {
			return
		}
		// At least one line break follows the events.
		for n := 0; n < int(want.terminal)-2; n += 13 {
			requireUnfinished(t, replayFor(t, client, r.format, whole(r.bytes[:n]), errReset))
			if n <= int(r.finishAt()) {
				requireUnfinished(t, replayFor(t, client, r.format, whole(r.bytes[:n]), io.EOF))
			}
		}
	})
}

func TestNothingIsTranslatedBehindTheLastEvent(t *testing.T) {
	translations(t, func(t *testing.T, r recording, client translate.Format) {
		want := replayFor(t, client, r.format, whole(r.bytes), io.EOF)
		if !want.Whole() || r.expect(false).terminal == 0 {
			return
		}
		twice := bytes.Repeat(r.bytes, 2)
		got := replayFor(t, client, r.format, split(twice, func() int { return 50 }), io.EOF)
		require.Equal(t, randomParts.ReplaceAllString(want.output, ""), randomParts.ReplaceAllString(got.output, ""))
		require.Equal(t, want.Usage, got.Usage)
	})
}
