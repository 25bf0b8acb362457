package core

import (
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// Row is a row of a reader's table: a field of its format.
//
// A name is the path of the field in the notation of the format:
//
//	messages.*.content.*.text      "*" means every index
//	metadata.*                     at the end: members that no other row names
//	tool_choice.type=any           a field with a value
//	tool_choice.type=*             with a value that no other row names
//	temperature+top_p              a member beside another one of the same object;
//	                               the row is about the last one
//	messages.-1.role=assistant     the last element; 0 is the first
//	messages.*.content=[text,tool_result]  an element behind another one
type Row struct {
	Name    string
	Concept Concept
	// Lost is the fate of the field if it is lost: Hinted, Shaped or Refused.
	Lost Fate
	// Path is the path in reports: the path of the name, unless As replaces it.
	Path string

	place   rowPlace
	whole   Concept // of the larger field that this one is a part of, or Nothing
	idle    bool    // a zero value asks for nothing
	value   string  // of the field that the row is about, "" for any
	word    string  // the value of the member, as refusals show it
	ofWord  bool    // the row is about one value of the field at Path
	refusal Refusal
	member  rowMember
}

// rowPlace is the place of a field in the arrays of a body, from the row's Path.
type rowPlace struct {
	depth  int    // the number of indices
	member string // the end of the path, behind the last index; "" for an element
	nested bool   // the element may be nested in one of the same kind
}

// Refusal returns the fault that refuses a field at a path.
type Refusal func(info *RequestInfo, format translate.Format, path string) *fault.Fault

// Hint returns a row about a field that may be left out, since it does not affect the
// text of the answer.
func Hint(name string, c Concept) Row { return Row{Name: name, Concept: c, Lost: Hinted} }

// Shaping returns a row about a field that shapes the answer.
func Shaping(name string, c Concept) Row { return Row{Name: name, Concept: c, Lost: Shaped} }

// Structural returns a row about a field without which the request would ask for
// something else. The request is refused if the field would be lost.
func Structural(name string, c Concept) Row { return Row{Name: name, Concept: c, Lost: Refused} }

// As returns the row with another path in reports.
func (r Row) As(path string) Row {
	r.Path = path
	return r
}

// RefusedBy returns the row with a fault of its own, which replaces an earlier fault of
// the request.
func (r Row) RefusedBy(refusal Refusal) Row {
	r.refusal = refusal
	return r
}

// OrNothing returns the row of a field whose zero value, such as false, 0 or an
// empty list, asks for the default. The loss of a zero value is not reported.
func (r Row) OrNothing() Row {
	r.idle = true
	return r
}

// Nested returns the rows of fields whose element may be nested in another one, such
// as a tool in a group of tools. Their paths are those of the innermost element.
func Nested(rows ...Row) []Row {
	for i := range rows {
		rows[i].place.nested = true
	}
	return rows
}

// Within returns the rows of fields that are parts of a larger field with concept c.
// If the larger field is lost, its parts are lost with it, and only its own loss is
// reported.
func Within(c Concept, rows ...Row) []Row {
	for i := range rows {
		rows[i].whole = c
	}
	return rows
}

// Rows is the table of a format: of its reader, and of its strict pass.
type Rows struct {
	notation strict.Notation
	list     []Row
	concepts [conceptCount]*Row // the first row of each
	names    map[string]*Row
	levels   map[string]*level // of options, by their paths
	objects  objects
}

// NewRows returns the table of a format. The names of the rows are paths in the
// notation. NewRows panics if two rows have the same name, or none is about the content.
//
// The objects of requests follow from the names:
//
//	core.Structural("messages", core.Conversation).Is(checkMessages).Required(),
//	core.Member("messages[*].role").Is(strict.OneOf("user", "tool")).Must(jsonscan.Invalid),
//	core.Structural("messages[*].role=user", core.Content),
//	core.Structural("messages[*].role=tool", core.ToolResult),
//	core.Structural("messages[*].content", core.TurnText).Is(strict.Elements),
//
// A request has the member messages, whose elements are objects with the members role and
// content. The values of a member named type, or else role, are the types of its objects:
// here user and tool. Of says which types have a member; a member with the name of a type is
// one of that type. Fields are the members of the request that have a check, and Members the
// table of the objects at a path, for the reader. The strict pass reports faults in the order of
// the rows, first of the members of the request, then of those of an element.
func NewRows(notation strict.Notation, rows ...Row) *Rows {
	t := &Rows{
		notation: notation, list: slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.member.only }),
		names: make(map[string]*Row), levels: make(map[string]*level),
		objects: objects{index: indices[notation][0], byPath: make(map[string]*object)},
	}
	for i := range t.list {
		r := &t.list[i]
		if t.names[r.Name] != nil {
			panic("core: two rows are named " + r.Name)
		}
		t.names[r.Name] = r
		r.parse(notation)
		if t.concepts[r.Concept] == nil {
			t.concepts[r.Concept] = r
		}
	}
	if t.concepts[Content] == nil {
		panic("core: no row is about the content")
	}
	for _, r := range t.concepts {
		if r != nil && r.whole == r.Concept {
			r.whole = Nothing // the row is that of the larger field
		}
	}
	t.addLevels()
	for i := range rows {
		rows[i].parse(notation)
		t.objects.add(&rows[i], indices[notation][1:])
	}
	t.objects.build()
	return t
}

// Fields returns the fields of requests that the strict pass checks.
func (t *Rows) Fields() strict.Fields { return t.objects.fields() }

// Members returns the table of the members of the objects at a path, such as
// messages[*].content[*]. It panics if no row names one.
func (t *Rows) Members(path string) *strict.Table {
	o := t.objects.byPath[path]
	if o == nil {
		panic("core: no row is about members of " + path)
	}
	return o.table
}

// Names returns the names of the rows.
func (t *Rows) Names() []string {
	names := make([]string, len(t.list))
	for i := range t.list {
		names[i] = t.list[i].Name
	}
	return names
}

// InSnakeCase returns the table, by which members are found in snake case as well.
func (t *Rows) InSnakeCase() *Rows {
	t.objects.snake = true
	for _, l := range t.levels {
		l.names.InSnakeCase()
	}
	for _, o := range t.objects.byPath {
		if o.table.NameIndex != nil {
			o.table.InSnakeCase()
		}
	}
	return t
}

// PathsOf returns the paths of the rows with a concept.
func (t *Rows) PathsOf(c Concept) (paths []string) {
	for i := range t.list {
		if r := &t.list[i]; r.Concept == c {
			paths = append(paths, r.Path)
		}
	}
	return paths
}

// Has reports whether a field of the format states a concept.
func (t *Rows) Has(c Concept) bool { return t.concepts[c] != nil }

// of returns the row of a concept. For a concept that no field of the format expresses, it is the
// row of the content as a whole, whose loss refuses the request.
func (t *Rows) of(c Concept) *Row {
	if r := t.concepts[c]; r != nil {
		return r
	}
	return t.concepts[Content]
}

// Named returns the row with a name. It panics if there is none. Packages call it to
// initialize their variables, so that a wrong name is found when the program starts.
func (t *Rows) Named(name string) *Row {
	r := t.names[name]
	if r == nil {
		panic("core: no row is named " + name)
	}
	return r
}

// parse sets the properties of the row that follow from its name.
func (r *Row) parse(notation strict.Notation) {
	anyIndex := indices[notation][0]
	place, rest := cutPlace(r.Name, notation)
	conditions := strings.Split(rest, "+")
	path, value, _ := strings.Cut(conditions[len(conditions)-1], "=")
	if value != "*" {
		r.value = value
	}
	element := strings.HasSuffix(r.Path, anyIndex)
	if r.Path == "" {
		r.Path = place + path
	}
	r.ofWord = value != "" && r.Path == place+path
	for _, index := range indices[notation][1:] {
		r.Path = strings.ReplaceAll(r.Path, index, anyIndex)
	}
	if place, r.place.member = cutPlace(r.Path, notation); element {
		place, r.place.member = r.Path, ""
	}
	r.place.depth = strings.Count(place, "*")
	for _, condition := range conditions {
		if path, value, _ := strings.Cut(condition, "="); path == r.place.member && translate.PlainName(value) {
			r.word = value
		}
	}
}

// path returns the path in the name, without a value.
func (r *Row) path() string {
	path, _, _ := strings.Cut(r.Name, "=")
	return path
}

// shown returns a value in the form in which refusals repeat it: a word in quotes if
// the row is about words, or a number; "" for any other value.
func (r *Row) shown(raw []byte) string {
	const longest = 64
	switch {
	case raw == nil && r.word != "":
		return "'" + r.word + "'"
	case len(raw) == 0 || len(raw) > longest || jsonscan.HasEscapes(raw):
		return ""
	case raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9':
		return string(raw)
	case r.ofWord && len(raw) > len(`""`) && raw[0] == '"':
		return "'" + string(jsonscan.Inner(raw)) + "'"
	}
	return ""
}

// Value returns the row about a field with a value, or else the row about any other
// value of the field, or nil.
func (t *Rows) Value(path, value string) *Row {
	if r := t.names[path+"="+value]; r != nil {
		return r
	}
	return t.names[path+"=*"]
}

// extends reports whether some providers accept the field beyond their format.
func (r *Row) extends() bool {
	return r.Concept == Nothing && r.Lost == Hinted && !strings.ContainsAny(r.Name, ".=*")
}

// indices lists the spellings of an index in each notation: any, the first, the last.
var indices = map[strict.Notation][]string{
	strict.Dots:     {".*", ".0", ".-1"},
	strict.Brackets: {"[*]", "[0]", "[-1]"},
}

// cutPlace splits a name behind its last index and the dot that follows the index.
func cutPlace(name string, notation strict.Notation) (place, rest string) {
	path, _, _ := strings.Cut(name, "=")
	end := 0
	for _, index := range indices[notation] {
		if start := strings.LastIndex(path, index+"."); start >= 0 {
			end = max(end, start+len(index+"."))
		}
	}
	return name[:end], name[end:]
}
