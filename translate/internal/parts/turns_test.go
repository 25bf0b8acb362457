package parts_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// turnsReader is a reader of requests that calls a function with their turns.
type turnsReader func(t *parts.Turns)

func (r turnsReader) Read(_ []byte, x *core.Translation, w core.Writer) error {
	turns := parts.NewTurns(x, w, x.From.Rows.Named("a"))
	r(&turns)
	return nil
}

func (turnsReader) Forget() {}

// turnsWriter notes the turns that a writer gets.
type turnsWriter struct {
	core.Discard
	events []string
}

func (w *turnsWriter) Turn(role core.Role) { w.events = append(w.events, fmt.Sprint("turn ", role)) }
func (w *turnsWriter) Text(text []byte)    { w.events = append(w.events, string(text)) }
func (w *turnsWriter) EndTurn()            { w.events = append(w.events, "end") }

// written returns what a writer gets of turns.
func written(read func(t *parts.Turns)) []string {
	w := new(turnsWriter)
	source := core.Source{Rows: core.NewRows(strict.Brackets, core.Structural("a", core.Content)), New: func() core.Reader { return turnsReader(read) }}
	core.Listen(nil, &source, w)
	return w.events
}

func TestATurnOfTheSystemBeginsWithItsFirstText(t *testing.T) {
	assert.Empty(t, written(func(turns *parts.Turns) {
		turns.Begin(core.System)
		assert.False(t, turns.End(), "no text")
	}))
	assert.Equal(t, []string{"turn 0", "a", "b", "end"}, written(func(turns *parts.Turns) {
		turns.Begin(core.System)
		assert.False(t, turns.Is(core.System) || turns.Is(core.Instructions))
		assert.True(t, turns.Text([]byte("a")))
		assert.True(t, turns.Text([]byte("b")))
		assert.True(t, turns.End())
	}))
}

func TestTheSystemIsLateBehindAnyOtherTurn(t *testing.T) {
	assert.Equal(t, []string{"turn 2", "end", "turn 1", "a", "end"}, written(func(turns *parts.Turns) {
		turns.Begin(core.User) // others begin at once
		assert.True(t, turns.Is(core.User))
		assert.True(t, turns.End())
		assert.False(t, turns.End(), "the turn has ended")
		turns.Begin(core.System)
		assert.True(t, turns.Text([]byte("a")))
		assert.True(t, turns.End())
	}))
}
