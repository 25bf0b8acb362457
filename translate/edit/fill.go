package edit

import (
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Wanted is a member that an object should have. A null counts as absent.
type Wanted struct {
	Name    string
	Members []Wanted // of an object; nil for a count
	Count   int64    // the number that is added for a count
}

// Counts returns wanted members that are counts, and are added as 0.
func Counts(names ...string) []Wanted {
	var wanted []Wanted
	for _, name := range names {
		wanted = append(wanted, Wanted{Name: name})
	}
	return wanted
}

// Fill appends the edits that add the wanted members, of which there are at most 64, to
// the object at the cursor, if it lacks them. A value of another kind is skipped.
func Fill(c *jsonscan.Cursor, wanted []Wanted, edits []Edit) []Edit {
	if !c.EnterObject() {
		c.Skip()
		return edits
	}
	present, empty := uint64(0), true
	for ; c.Member(); empty = false {
		i := indexOf(wanted, c.Name())
		if i < 0 {
			c.Skip()
			continue
		}
		present |= 1 << i
		edits = wanted[i].fill(c, edits)
	}
	var lacking []string
	for i := range wanted {
		if present>>i&1 == 0 {
			lacking = append(lacking, wanted[i].member())
		}
	}
	if lacking == nil {
		return edits
	}
	members := strings.Join(lacking, ",")
	if !empty {
		members = "," + members
	}
	end := c.Offset() - len("}")
	return append(edits, Edit{translate.Span{Start: end, End: end}, []byte(members)})
}

// fill is Fill for the value of a member that is present.
func (w *Wanted) fill(c *jsonscan.Cursor, edits []Edit) []Edit {
	start := c.Offset()
	if c.Null() {
		return append(edits, Edit{translate.Span{Start: start, End: c.Offset()}, []byte(w.value())})
	}
	if w.Members == nil {
		c.Skip()
		return edits
	}
	return Fill(c, w.Members, edits)
}

// member returns the member to add, and value its value.
func (w *Wanted) member() string { return `"` + w.Name + `":` + w.value() }

func (w *Wanted) value() string {
	if w.Members == nil {
		return strconv.FormatInt(w.Count, 10)
	}
	var members []string
	for i := range w.Members {
		members = append(members, w.Members[i].member())
	}
	return "{" + strings.Join(members, ",") + "}"
}

func indexOf(wanted []Wanted, name []byte) int {
	for i := range wanted {
		if wanted[i].Name == string(name) {
			return i
		}
	}
	return -1
}
