package core

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Option is a field of a request.
type Option struct {
	Raw []byte // the value as it is written; nil for none
	Row *Row   // of the reader's table
}

// Options are the fields of a request beside its conversation and its tools, by
// their concepts. After the body was read they hold what the writer is to write.
type Options [optionCount]Option

// Raw returns the value of an option as it is written, nil for none.
func (o *Options) Raw(c Concept) []byte { return o[c].Raw }

// Has reports whether the request has an option.
func (o *Options) Has(c Concept) bool { return o[c].Raw != nil }

// OneOf returns the first option of a range that the request has, Nothing for none.
func (o *Options) OneOf(first, last Concept) Concept {
	for c := first; c <= last; c++ {
		if o[c].Raw != nil {
			return c
		}
	}
	return Nothing
}

// Clear takes options out of a range.
func (o *Options) Clear(first, last Concept) { clear(o[first : last+1]) }

// Stops returns the raw texts that end the answer.
func (o *Options) Stops() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		raw := o[Stops].Raw
		if jsonscan.IsString(raw) {
			yield(0, raw)
		}
		if len(raw) == 0 || raw[0] != '[' {
			return
		}
		c := jsonscan.Again(raw)
		c.EnterArray()
		for i := 0; c.Element() && yield(i, c.Skip()); i++ {
		}
	}
}

// ForcesTool reports whether a tool must be used.
func (o *Options) ForcesTool() bool {
	c := o.OneOf(ToolChoiceAuto, ToolChoiceNamed)
	return c == ToolChoiceRequired || c == ToolChoiceNamed
}

// MaxTokens returns how many tokens the answer may have, at most as many as the
// model gives, which is reported; ok is false where the client sets no bound.
func (x *Translation) MaxTokens() (n int64, ok bool) {
	option := &x.Options[MaxTokens]
	asked, ok := jsonscan.Integer(option.Raw)
	if !ok {
		return 0, false
	}
	n, less := x.Traits.BoundTokens(asked)
	if less {
		x.KeepAs(LongMaxTokens, option.Row, nil)
	}
	return n, true
}

// EndUser returns the id of the end user, or its digest where the id is longer than
// providers take, which is reported.
func (x *Translation) EndUser(longest int) string {
	id := x.Text(EndUser)
	if len(id) <= longest {
		return id
	}
	x.KeepAs(LongEndUser, x.Options[EndUser].Row, nil)
	return DigestOf(id)
}

// FoldUser makes one option of the two names that the id of the end user has. If they
// differ, the loss of the second is reported by a row.
func (o *Options) FoldUser(x *Translation, second *Row) {
	user, other := o[EndUser], o[SafetyIdentifier]
	switch {
	case other.Raw == nil:
	case user.Raw == nil:
		o[EndUser] = other
	case string(user.Raw) != string(other.Raw):
		x.Lose(second, nil)
	}
	o.Clear(SafetyIdentifier, SafetyIdentifier)
}

// Logprobs returns how many alternatives of each token are asked for, 0 for none;
// ok is false if not even the probabilities of the chosen tokens are. The way back
// remembers both.
func (x *Translation) Logprobs() (alternatives int64, ok bool) {
	if wanted := x.Options.Raw(Logprobs); wanted == nil || string(wanted) == "false" {
		return 0, false
	}
	if raw := x.Options.Raw(TopLogprobs); raw != nil {
		if alternatives, ok = jsonscan.Integer(raw); !ok || alternatives < 0 || alternatives > math.MaxInt32 {
			x.InvalidOption(TopLogprobs, "must be an integer of at least 0")
		}
	}
	x.Answer.Logprobs, x.Answer.TopLogprobs = true, int(alternatives)
	return alternatives, true
}

// DigestOf returns what stands for the id of an end user that a provider does not
// take: its SHA-256, in hexadecimal.
func DigestOf(id string) string {
	digest := sha256.Sum256([]byte(id))
	return hex.EncodeToString(digest[:])
}

// level is an object of options.
type level struct {
	path    string // with its last dot
	names   *Names
	members []group
}

// group are the rows about one member.
type group struct {
	rows  []*Row // more than one if they differ in the value
	level *level // of an object that no row is about as a whole
}

// addLevels finds the objects of options that the rows are about.
func (t *Rows) addLevels() {
	members, rows := make(map[string][]string), make(map[string][]*Row)
	for i := range t.list {
		r := &t.list[i]
		if strings.Contains(r.Name, "+") || r.depth > 0 || r.Concept >= optionCount {
			continue
		}
		path, _, _ := strings.Cut(r.Name, "=")
		rows[path] = append(rows[path], r)
		for path != "" {
			object, member := path[:strings.LastIndexByte(path, '.')+1], path[strings.LastIndexByte(path, '.')+1:]
			if !slices.Contains(members[object], member) && member != "*" {
				members[object] = append(members[object], member)
			}
			path = strings.TrimSuffix(object, ".")
		}
	}
	for object, members := range members {
		t.levels[object] = &level{path: object, names: NewNames(members...)}
	}
	for _, l := range t.levels {
		for _, member := range l.names.List() {
			path := l.path + member
			l.members = append(l.members, group{rows[path], t.levels[path+"."]})
		}
	}
}

// Member consumes the value of a member of the request that is neither the
// conversation nor the tools, and keeps it as the options that the rows say.
func (x *Translation) Member(c *jsonscan.Cursor) { x.member(c, x.rows.levels[""]) }

// ReadObject consumes an object of options whose rows begin with that path, which
// has a dot behind.
func (x *Translation) ReadObject(c *jsonscan.Cursor, path string) {
	x.object(c, x.rows.levels[path])
}

// member consumes the value of a member of an object of options.
func (x *Translation) member(c *jsonscan.Cursor, in *level) {
	if c.Null() {
		return
	}
	i := in.names.Index(c.Name())
	switch {
	case i < 0:
		x.unknown(c, in)
	case len(in.members[i].rows) == 0:
		x.object(c, in.members[i].level)
	case in.members[i].rows[0].extends() && x.To.Extends(x.Traits, in.members[i].rows[0].Name):
		x.AddExtension(c.Name(), c.Skip())
	default:
		in.members[i].set(x, c.Skip())
	}
}

// unknown consumes a member that no row names: one that this provider knows, or
// one that is lost.
func (x *Translation) unknown(c *jsonscan.Cursor, in *level) {
	name := c.Name()
	if in.path == "" && x.To.Extends(x.Traits, string(name)) {
		x.AddExtension(name, c.Skip())
		return
	}
	if c.Skip() != nil { // nil after an error
		x.LoseMember(in.path, name)
	}
}

// AddExtension keeps a member that only this provider knows.
func (x *Translation) AddExtension(name, value []byte) {
	x.Extensions = jsonscan.AppendString(append(x.Extensions, ','), name)
	x.Extensions = append(append(x.Extensions, ':'), value...)
}

// object reads an object of options.
func (x *Translation) object(c *jsonscan.Cursor, in *level) {
	if !c.EnterObject() {
		c.Skip()
		x.Invalid(strings.TrimSuffix(in.path, "."), "must be an object")
		return
	}
	for c.Member() {
		x.member(c, in)
	}
}

// set keeps a value as the option that one of the rows says.
func (g *group) set(x *Translation, raw []byte) {
	if r := g.of(raw); r != nil {
		x.SetOption(r, raw)
	} else {
		x.Invalid(g.rows[0].path(), "must be a string")
	}
}

// of returns the row of a value, nil for one that is no string where the rows
// are about words.
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

// SetOption keeps a value as the option of a row; one without a concept is lost.
func (x *Translation) SetOption(r *Row, raw []byte) {
	switch {
	case raw == nil: // after an error of the cursor
	case r.Concept != Nothing:
		x.Options[r.Concept] = Option{raw, r}
	default:
		x.Lose(r, raw)
	}
}

// decide takes out of the options what the writer is not to get, and reports that.
// What a writer decides itself stays in.
func (x *Translation) decide() {
	for c := range optionCount {
		if x.Options[c].Raw != nil && !x.To.Outcomes[c].byWriter && !x.keepOption(c) {
			x.Options[c] = Option{}
		}
	}
}

func (x *Translation) keepOption(c Concept) bool {
	option := &x.Options[c]
	if c == TopP && x.Options.Has(Temperature) {
		c = TopPBesideTemperature
	}
	return x.KeepAs(c, option.Row, option.Raw)
}
