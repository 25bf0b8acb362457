package edit

import (
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// CutMembers returns the edits that cut the members at paths out of a valid body, in the
// order of the body, and which of the paths it has. A path consists of names, and "*" or "[*]" for all
// items of a list: tools.*.strict, messages[*].name. Names are found in snake case as well. A path may end with the only
// text that is cut: thinking.display=updates.
func CutMembers(body []byte, paths []string) (edits []Edit, present map[string]bool) {
	x := cutter{present: make(map[string]bool)}
	var cuts []cutPath
	for _, path := range paths {
		names, value, _ := strings.Cut(strings.ReplaceAll(path, "[*]", ".*"), "=")
		cuts = append(cuts, cutPath{strings.Split(names, "."), strings.Split(jsonscan.SnakeCase(names), "."), path, value})
	}
	c := jsonscan.Skipped(body)
	x.object(&c, cuts)
	return x.edits, x.present
}

type cutter struct {
	edits   []Edit
	present map[string]bool
}

// cutPath is a path, and the names of it that are below the cursor.
type cutPath struct {
	names []string
	snake []string // the same in snake case
	whole string
	value string // the text that is cut, "" for any value
}

// ends reports whether the path is that of the member whose value is at the cursor.
func (p *cutPath) ends(c jsonscan.Cursor) bool {
	return len(p.names) == 0 && (p.value == "" || jsonscan.TextOf(c.Skip()) == p.value)
}

// object cuts the members of the object at the cursor. A value of another kind is skipped.
func (x *cutter) object(c *jsonscan.Cursor, paths []cutPath) {
	if !c.EnterObject() {
		c.Skip()
		return
	}
	end := -1  // of the last member
	open := -1 // the beginning of members to cut that no other member precedes
	kept := false
	for c.Member() {
		start, inner, cut := c.MemberStart(), descend(paths, string(c.Name())), ""
		if i := slices.IndexFunc(inner, func(p cutPath) bool { return p.ends(*c) }); i >= 0 {
			cut = inner[i].whole
			x.present[cut] = true
		}
		if !kept && cut == "" {
			if kept = true; open >= 0 {
				x.cut(open, start)
			}
		}
		if cut == "" && inner != nil {
			x.value(c, inner)
		} else {
			c.Skip()
		}
		switch {
		case cut != "" && kept:
			x.cut(end, c.Offset())
		case cut != "" && open < 0:
			open = start
		}
		end = c.Offset()
	}
	if !kept && open >= 0 {
		x.cut(open, end)
	}
}

// value cuts members below the value at the cursor.
func (x *cutter) value(c *jsonscan.Cursor, paths []cutPath) {
	items := descend(paths, "*")
	if items == nil {
		x.object(c, paths)
		return
	}
	if !c.EnterArray() {
		c.Skip()
		return
	}
	for c.Element() {
		x.object(c, items)
	}
}

func (x *cutter) cut(start, end int) {
	x.edits = append(x.edits, Edit{Span: translate.Span{Start: start, End: end}})
}

// descend returns the paths below a name.
func descend(paths []cutPath, name string) (inner []cutPath) {
	for _, p := range paths {
		if len(p.names) > 0 && (p.names[0] == name || p.snake[0] == name) {
			inner = append(inner, cutPath{p.names[1:], p.snake[1:], p.whole, p.value})
		}
	}
	return inner
}
