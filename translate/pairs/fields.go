package pairs

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// Fate is what becomes of a field on its way to another format.
type Fate uint8

// The fates.
const (
	Kept    Fate = iota // carried over with its meaning
	Hinted              // left behind and reported: it never changes the text asked for
	Shaped              // left behind or changed, and reported: it shapes the answer
	Refused             // the request is refused: what is asked would change
)

// Field is a row of the table of a pair of formats: a field of the client's
// format and what becomes of it. The tables are what the gateway tells of
// itself, and the names that metrics may show; a test holds every row of theirs
// to what the conversions do.
type Field struct {
	// Name is the path in the client's notation with "*" for every index, or
	// for members that no other row names; behind "=" stands the value, or the
	// kind of values, that the row is about: tools.*.type=custom.
	Name string
	// Fate holds while no rule does.
	Fate Fate
	// Rules are what traits change; the first that holds counts.
	Rules []Rule
	// Lost is the path in reports, where that is another than the name's.
	Lost string
}

// Rule is a fate under a trait.
type Rule struct {
	Trait string // name and value, as a configuration writes them
	Fate  Fate
	holds func(*translate.Traits) bool
}

// name is the name of the trait.
func (r *Rule) name() string {
	name, _, _ := strings.Cut(r.Trait, " ")
	return name
}

// tables are the rows of every pair.
var tables = map[[2]translate.Format][]Field{
	{translate.Messages, translate.Chat}:        messagesChatFields,
	{translate.Messages, translate.Completions}: messagesCompletionsFields,
	{translate.Chat, translate.Messages}:        chatMessagesFields,
	{translate.Chat, translate.Completions}:     chatCompletionsFields,
	{translate.Completions, translate.Chat}:     completionsChatFields,
	{translate.Completions, translate.Messages}: completionsMessagesFields,
}

// Fields is the table of a pair of formats, nil where requests cannot be
// translated. It must not be changed.
func Fields(from, to translate.Format) []Field { return tables[[2]translate.Format{from, to}] }

// Possible reports whether any request of the client's format can be put to a
// provider of the other that has these traits.
func Possible(from, to translate.Format, traits *translate.Traits) bool {
	if from == to {
		return true
	}
	return CanTranslate(from, to) && !(to == translate.Completions && noTemplate.holds(traits))
}

// Under is what becomes of the field under these traits.
func (f *Field) Under(traits *translate.Traits) Fate {
	fate := f.Fate
	for _, rule := range f.Rules {
		if rule.holds(traits) {
			fate = rule.Fate
			break
		}
	}
	if fate == Shaped && traits.RejectLosses {
		return Refused
	}
	return fate
}

// Path is the path by which losses of the field are reported.
func (f *Field) Path() string {
	if f.Lost != "" {
		return f.Lost
	}
	path, _, _ := strings.Cut(f.Name, "=")
	return path
}

// Capabilities are the fields of a client's format by what becomes of them with
// a provider of another. The names are those of Field.
type Capabilities struct {
	Kept     []string `json:"kept"`     // carried over
	Reported []string `json:"reported"` // left behind or changed, and named in the report
	Refused  []string `json:"refused"`  // the request is refused
}

// CapabilitiesOf sorts the fields of a pair of formats by their fates under the
// traits. The non-standard fields that the traits name are among those kept.
func CapabilitiesOf(from, to translate.Format, traits *translate.Traits) Capabilities {
	c := Capabilities{Kept: []string{}, Reported: []string{}, Refused: []string{}}
	named := make(map[string]bool)
	for _, f := range Fields(from, to) {
		named[f.Name] = true
		switch f.Under(traits) {
		case Kept:
			c.Kept = append(c.Kept, f.Name)
		case Refused:
			c.Refused = append(c.Refused, f.Name)
		default:
			c.Reported = append(c.Reported, f.Name)
		}
	}
	for _, name := range traits.Extensions {
		if !named[name] && traits.Extension(to, name) {
			c.Kept = append(c.Kept, name)
		}
	}
	return c
}

// known are the paths of reports that are this repository's own words.
var known = func() map[[2]translate.Format]map[string]bool {
	all := make(map[[2]translate.Format]map[string]bool, len(tables))
	for pair, fields := range tables {
		all[pair] = make(map[string]bool, len(fields))
		for i := range fields {
			if path := fields[i].Path(); !strings.HasSuffix(path, "*") || fields[i].Lost != "" {
				all[pair][path] = true
			}
		}
	}
	return all
}()

// LossName names a loss in metrics, which must not have any number of names: by
// its path where that is one of the tables' or, for answers and for the byte
// lane, of this repository's own words; else "?" stands for the name that a
// client or a provider chose.
func LossName(from, to translate.Format, loss translate.Loss) string {
	switch {
	case loss.Foreign:
		return loss.Path[:strings.LastIndexByte(loss.Path, '.')+1] + "?"
	case loss.Class == translate.OfAnswer || from == to || known[[2]translate.Format{from, to}][loss.Path]:
		return loss.Path
	default:
		return "?"
	}
}

// The ways to write a row.

func keep(name string, rules ...Rule) Field   { return Field{Name: name, Fate: Kept, Rules: rules} }
func hint(name string, rules ...Rule) Field   { return Field{Name: name, Fate: Hinted, Rules: rules} }
func shape(name string, rules ...Rule) Field  { return Field{Name: name, Fate: Shaped, Rules: rules} }
func refuse(name string, rules ...Rule) Field { return Field{Name: name, Fate: Refused, Rules: rules} }

// as says under which other path the loss of a field is reported.
func (f Field) as(path string) Field {
	f.Lost = path
	return f
}
