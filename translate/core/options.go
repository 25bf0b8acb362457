package core

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/shape"
)

// Option is a field of a request.
type Option struct {
	Raw []byte // the raw value; nil for none
	Row *Row   // of the reader's table
}

// Options are the fields of a request beside its conversation and its tools, by
// their concepts. When the writer's Finish is called, only the options to be written
// are left.
type Options [optionCount]Option

// Raw returns the raw value of an option, nil for none.
func (o *Options) Raw(c Concept) []byte { return o[c].Raw }

// Has reports whether the request has an option.
func (o *Options) Has(c Concept) bool { return o[c].Raw != nil }

// OneOf returns the first option from first to last that the request has, Nothing for none.
func (o *Options) OneOf(first, last Concept) Concept {
	for c := first; c <= last; c++ {
		if o[c].Raw != nil {
			return c
		}
	}
	return Nothing
}

// Clear removes the options from first to last.
func (o *Options) Clear(first, last Concept) { clear(o[first : last+1]) }

// Stops returns the raw stop texts with their indices.
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

// MaxTokens returns the bound of the answer in tokens. It lowers the client's bound to
// the length of the longest answer of the model, and reports that as a loss. ok is
// false if the client sets no bound.
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

// Enforce keeps a stop text for the gateway, since the provider does not get it. It
// refuses the request if the gateway cannot enforce the text beside the others.
func (x *Translation) Enforce(text string) {
	if !x.Answer.AddEnforced(text) {
		x.Fail(x.Info.RefuseStops(x.To.Format, x.Options[Stops].Row.Path))
	}
}

// EndUser returns the id of the end user. If the id is longer than longest, EndUser
// returns its digest and reports that as a loss.
func (x *Translation) EndUser(longest int) string {
	id := x.Text(EndUser)
	if len(id) <= longest {
		return id
	}
	x.KeepAs(LongEndUser, x.Options[EndUser].Row, nil)
	return DigestOf(id)
}

// FoldUser joins EndUser and SafetyIdentifier, two names of the same option. If their
// values differ, it reports the loss of the second one by its row.
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

// FoldParallelCalls sets OneCallAtATime if ParallelCalls is false.
func (o *Options) FoldParallelCalls() {
	if string(o.Raw(ParallelCalls)) == "false" {
		o[OneCallAtATime] = Option{Raw: []byte("true"), Row: o[ParallelCalls].Row}
	}
}

// Logprobs returns the number of alternatives asked for at each token, and keeps it
// for the translation of the answer. ok is false if the client does not ask for
// probabilities.
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

// DigestOf returns the hexadecimal SHA-256 of the id of an end user, for providers that
// do not accept the id itself.
func DigestOf(id string) string {
	digest := sha256.Sum256([]byte(id))
	return hex.EncodeToString(digest[:])
}

// level is an object of options.
type level struct {
	path    string
	names   *shape.Names
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
		if strings.Contains(r.Name, "+") || r.depth > 0 || r.Concept >= optionCount {
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
		t.levels[object] = &level{path: object, names: shape.NewNames(members...)}
	}
	for _, l := range t.levels {
		for _, member := range l.names.List() {
			path := joinMember(l.path, member)
			l.members = append(l.members, group{rows[path], t.levels[path]})
		}
	}
}

// cutMember splits the path of a member into the path of its object and its name.
func cutMember(path string) (object, member string) {
	at := strings.LastIndexByte(path, '.')
	return path[:max(at, 0)], path[at+1:]
}

// joinMember is the inverse of cutMember.
func joinMember(object, member string) string {
	if object == "" {
		return member
	}
	return object + "." + member
}

// Member consumes the value of a member of the request that is neither the
// conversation nor the tools, and keeps it as the options named by the rows.
func (x *Translation) Member(c *jsonscan.Cursor) { x.member(c, x.rows.levels[""]) }

// ReadObject consumes the object of options at a path of the rows.
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

// unknown consumes a member that no row names. The member is lost, unless this
// provider accepts it as an extension.
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

// AddExtension keeps a member that this provider accepts beyond its format.
func (x *Translation) AddExtension(name, value []byte) {
	x.Extensions = jsonscan.AppendString(append(x.Extensions, ','), name)
	x.Extensions = append(append(x.Extensions, ':'), value...)
}

// object reads an object of options.
func (x *Translation) object(c *jsonscan.Cursor, in *level) {
	if !c.EnterObject() {
		c.Skip()
		x.Invalid(in.path, "must be an object")
		return
	}
	for c.Member() {
		x.member(c, in)
	}
}

// set keeps a value as the option of the row that matches it.
func (g *group) set(x *Translation, raw []byte) {
	if r := g.of(raw); r != nil {
		x.SetOption(r, raw)
	} else {
		x.Invalid(g.rows[0].path(), "must be a string")
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
	r := x.rows.Value(path, jsonscan.TextOf(raw))
	if raw == nil {
		x.Lose(r, nil)
	} else {
		x.SetOption(r, raw)
	}
}

// decide removes the options that the writer does not get, and reports their losses.
// It leaves the options that the writer decides itself.
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
