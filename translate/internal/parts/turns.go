package parts

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"

// Turns passes the turns of a conversation to a writer, one after the other. The writer
// gets the beginning of a turn of the system with its first text, since a turn of the
// system without a text is left out; it gets the beginning of any other turn at once.
type Turns struct {
	// Begun reports whether there was a turn of another role than the system. Turns of
	// the system are instructions in front of it, and late behind it.
	Begun bool

	x      *core.Translation
	w      core.Writer
	system *core.Row // of the texts of instructions
	role   core.Role // of the turn
	open   bool      // the writer has got the beginning of the turn
}

// NewTurns returns the turns of a request, before the first. system is the row of the texts of
// instructions.
func NewTurns(x *core.Translation, w core.Writer, system *core.Row) Turns {
	return Turns{x: x, w: w, system: system}
}

// Begin begins a turn of the System, the User or the Assistant, behind the end of the last.
func (t *Turns) Begin(role core.Role) {
	switch t.role, t.open = role, role != core.System; {
	case t.open:
		t.Begun = true
		t.w.Turn(role)
	case !t.Begun:
		t.role = core.Instructions
	}
}

// Is reports whether a turn of a role is open.
func (t *Turns) Is(role core.Role) bool { return t.open && t.role == role }

// Text adds a text that is not empty to the turn, and reports whether the writer gets it.
func (t *Turns) Text(text []byte) bool {
	if !t.open {
		switch {
		case t.role == core.Instructions:
			t.x.KeepAs(core.SystemText, t.system, nil)
		case t.role == core.System && !t.x.Keep(core.LateSystem, nil):
			return false
		}
		t.open = true
		t.w.Turn(t.role)
	}
	t.w.Text(text)
	return true
}

// End ends the turn, and reports whether the writer has got it.
func (t *Turns) End() bool {
	if !t.open {
		return false
	}
	t.open = false
	t.w.EndTurn()
	return true
}
