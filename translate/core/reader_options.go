package core

import (
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Member consumes the value of a member of the request that is neither the
// conversation nor the tools, and keeps it as the options named by the rows.
func (x *Translation) Member(c *jsonscan.Cursor) { x.From.Rows.levels[""].member(x, c) }

// ReadMember is Member for a member of the object at a path of the rows.
func ReadMember(x *Translation, path string, c *jsonscan.Cursor) {
	x.From.Rows.levels[path].member(x, c)
}

// ReadObject consumes the object of options at a path of the rows.
func (x *Translation) ReadObject(c *jsonscan.Cursor, path string) {
	x.From.Rows.levels[path].read(x, c)
}

// read consumes the object at the cursor.
func (l *level) read(x *Translation, c *jsonscan.Cursor) {
	if !c.EnterObject() {
		c.Skip()
		x.Invalid(l.path, "must be an object")
		return
	}
	for c.Member() {
		l.member(x, c)
	}
}

// member consumes the value of a member of the object. A member that no row names is
// lost, unless this provider accepts it as an extension.
func (l *level) member(x *Translation, c *jsonscan.Cursor) {
	if c.Null() {
		return
	}
	name := c.Name()
	i := l.names.Find(name)
	if i < 0 {
		if l.path == "" && x.To.Extends(x.Traits, string(name)) {
			x.Extensions.Named(name, c.Skip())
		} else if c.Skip() != nil { // nil after an error
			x.LoseMember(l.path, name)
		}
		return
	}
	switch g := &l.members[i]; {
	case len(g.rows) == 0:
		g.level.read(x, c)
	case g.rows[0].extends() && x.To.Extends(x.Traits, g.rows[0].Name):
		x.Extensions.Named(name, c.Skip())
	default:
		raw := c.Skip()
		if r := g.of(raw); r != nil {
			x.SetOption(r, raw)
		} else {
			x.Invalid(g.rows[0].path(), "must be a string")
		}
	}
}

// of returns the row of a value. It returns nil for a value that is not a string if the
// rows name strings.
func (g *group) of(raw []byte) *Row {
	if len(g.rows) == 1 {
		return g.rows[0]
	}
	text := jsonscan.TextOf(raw)
	var others *Row
	for _, r := range g.rows {
		switch r.value {
		case "":
			others = r
		case text:
			return r
		}
	}
	if jsonscan.IsString(raw) || others != nil && !strings.HasSuffix(others.Name, "=*") {
		return others
	}
	return nil
}

// SetOption keeps a value as the option of a row. The value is lost if the row has no concept.
func (x *Translation) SetOption(r *Row, raw []byte) {
	switch {
	case raw == nil: // after an error of the cursor
	case r.Concept != Nothing:
		x.Options[r.Concept] = Option{raw, r}
	default:
		x.Lose(r, raw)
	}
}

// SetWord keeps a raw word as the option of the row about the word at a path. Other
// values, and words without a row of their own, are lost by the row about any other value.
func (x *Translation) SetWord(path string, raw []byte) {
	r := x.From.Rows.Value(path, jsonscan.TextOf(raw))
	if raw == nil {
		x.Lose(r, nil)
	} else {
		x.SetOption(r, raw)
	}
}

// level is an object of options.
type level struct {
	path    string
	names   *jsonscan.NameIndex
	members []group
}

// group is the set of rows about one member.
type group struct {
	rows  []*Row // more than one if they differ in the value
	level *level // of the members, if the member is an object of options
}

// addLevels adds the objects of options that the rows name.
func (t *Rows) addLevels() {
	members, rows := make(map[string][]string), make(map[string][]*Row)
	for i := range t.list {
		r := &t.list[i]
		if strings.Contains(r.Name, "+") || r.place.depth > 0 || r.Concept >= optionCount {
			continue
		}
		path, _, _ := strings.Cut(r.Name, "=")
		rows[path] = append(rows[path], r)
		for path != "" {
			object, member := cutMember(path)
			if !slices.Contains(members[object], member) && member != "*" {
				members[object] = append(members[object], member)
			}
			path = object
		}
	}
	for object, members := range members {
		t.levels[object] = &level{path: object, names: jsonscan.NewNameIndex(members...)}
	}
	for _, l := range t.levels {
		for _, member := range l.names.Names() {
			path := joinMember(l.path, member)
			l.members = append(l.members, group{rows[path], t.levels[path]})
		}
	}
}

// cutMember splits the path of a member into the path of its object and its name.
func cutMember(path string) (object, member string) {
	dot := strings.LastIndexByte(path, '.')
	return path[:max(dot, 0)], path[dot+1:]
}

// joinMember is the inverse of cutMember.
func joinMember(object, member string) string {
	if object == "" {
		return member
	}
	return object + "." + member
}
