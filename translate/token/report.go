package token

import (
	"math"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Meaning is what a member of a usage object states.
type Meaning uint8

// The meanings. Prompt and Fresh exclude each other.
const (
	Prompt           Meaning = iota // input tokens, those of caches included
	Fresh                           // input tokens without those of caches
	Output                          // output tokens
	Total                           // all tokens
	CacheRead                       // input tokens read from a cache
	CacheWrite                      // input tokens written to a cache
	CacheWriteLong                  // those of CacheWrite that are cached for an hour
	CacheWriteShort                 // those of CacheWrite that are cached for some minutes
	Reasoning                       // tokens of the output spent on reasoning
	FurtherPrompt                   // input tokens that Prompt does not include
	FurtherReasoning                // tokens spent on reasoning that Output does not include
	ImageInput                      // those of Prompt that are of images
	ImageCacheRead                  // those of CacheRead that are of images
	ImageOutput                     // those of Output that are of images
	AudioInput                      // those of Prompt that are of sound
	AudioCacheRead                  // those of CacheRead that are of sound
	AudioOutput                     // those of Output that are of sound
	Searches                        // searches of the web
	FurtherSearches                 // searches that Searches does not include
	Seconds                         // the length of the sound in the request, begun seconds included
	Tier                            // a word: the service tier
	Speed                           // a word: the speed
	Region                          // a word: the region
	Runs                            // a list of the runs of models, each a usage object with a model and a type
	CostUSD                         // what the call costs, in US dollars
	CostTicks                       // the same, in ticks of 10^-10 US dollars
	CostIsFee                       // true if CostUSD is a fee, beside which the host charges CostOfHost
	CostOfHost                      // what the host charges, in US dollars
)

// Row is a member of the usage objects of a format. Path names the member by the objects
// around it, from the usage object on, with dots between. A list may have several rows, for
// counts of different words.
type Row struct {
	Path string
	Is   Meaning
	// List describes the count in a list, nil for a plain number. Such a count of searches
	// holds, whatever the answer shows.
	List *List
}

// List describes a count whose parts are in the elements of a list.
type List struct {
	Word, Count string                 // the members of an element: of what it counts, and how much
	Counts      func(word string) bool // which of the words belong to the count
}

// in returns the count in a raw list.
func (l *List) in(raw []byte) (n int64) {
	c := jsonscan.Again(raw)
	for c.OpenArray(); c.Element(); {
		element := c.Skip()
		if l.Counts(jsonscan.TextOf(jsonscan.MemberOf(element, l.Word))) {
			n = sum(n, CountOf(jsonscan.MemberOf(element, l.Count)))
		}
	}
	return n
}

// Rows describes the usage objects of a format. A new count of a vendor is a new row.
type Rows struct {
	top   level
	fresh bool // there is a row Fresh instead of Prompt
}

// level describes the members of a usage object, or of an object inside it.
type level struct {
	names  jsonscan.NameIndex
	fields []field // by the indices of the names
}

// field is a member: the row with a number, or an object.
type field struct {
	row    uint8 // its rank among the rows with the same meaning, above 0
	is     Meaning
	list   *List
	next   *field // another count in the same list; nil for none
	level  *level // for a value that is an object
	object bool   // only objects have a meaning
}

// NewRows returns the description of usage objects with the rows. Of rows with the same
// meaning, the first one whose count is not 0 holds.
func NewRows(rows ...Row) *Rows {
	if len(rows) > math.MaxUint8 {
		panic("token: usage objects have more than 255 rows")
	}
	u := new(Rows)
	for i, row := range rows {
		u.fresh = u.fresh || row.Is == Fresh
		u.top.add(row.Path, field{row: uint8(i) + 1, is: row.Is, list: row.List})
	}
	return u
}

func (l *level) add(path string, f field) {
	name, rest, nested := strings.Cut(path, ".")
	i := l.names.Find([]byte(name))
	if i < 0 {
		i = l.names.Add(name)
		l.fields = append(l.fields, field{object: true})
	}
	entry := &l.fields[i]
	if !nested {
		f.level = entry.level
		if other := *entry; other.list != nil {
			f.next = &other
		}
		*entry = f
		return
	}
	if entry.level == nil {
		entry.level = new(level)
	}
	entry.level.add(rest, f)
}

// Report contains what the usage objects of one answer state: the last of each count. The
// zero Report is that of an answer without any. A copy of a Report is independent of it.
type Report struct {
	// Terms are those of the usage objects, and what the answer states beside them.
	Terms Terms
	// Searches is the number of searches of the web that the answer shows. A greater number
	// in the usage object holds.
	Searches int64
	// Tool is the use of another model by a tool of the provider, which the usage objects do not
	// include; nil for none.
	Tool *Run

	rows     *Rows
	counts   counts
	known    bool
	counted  bool // Searches are those of a Row.List
	positive bool
	negative bool  // a count was below 0, which is ignored
	runs     *runs // nil without a list of runs
	cost     costReport
}

// counts are those of the usage objects by their meanings, however many rows a format has for
// one: each open stream keeps its counts.
type counts struct {
	values [Tier]int64
	rows   [Tier]uint8 // the row of the count, 0 for none
	stated uint32      // the meanings that the object at hand has stated
}

// set sets the count of a field. In one object, a 0 replaces no other row's count, nor does the
// count of a later row that of an earlier one, whatever the order of the members.
func (c *counts) set(f *field, n int64) {
	stated := c.stated&(1<<f.is) != 0
	c.stated |= 1 << f.is
	earlier := !stated || f.row <= c.rows[f.is]
	if c.values[f.is] == 0 || f.row == c.rows[f.is] || n > 0 && earlier {
		c.values[f.is], c.rows[f.is] = n, f.row
	}
}

// runs are the runs of models of the last list.
type runs struct {
	answering Usage // the sum of those that have written the answer
	others    []Run
}

// Read consumes the value at the cursor, and reports whether it is a usage object. Counts
// that are absent or malformed leave those of an earlier object unchanged.
func (r *Report) Read(c *jsonscan.Cursor, rows *Rows) bool {
	r.rows, r.positive, r.counts.stated = rows, false, 0
	if !c.EnterObject() {
		c.Skip()
		return false
	}
	r.known = true
	for c.Member() {
		r.read(c, &rows.top)
	}
	return true
}

// read reads the member at the cursor. Nothing may be subtracted from a bill: a count that
// is negative, or not an integer, leaves the earlier one unchanged.
func (r *Report) read(c *jsonscan.Cursor, l *level) {
	i := l.names.Find(c.Name())
	if i < 0 {
		c.Skip()
		return
	}
	switch f := &l.fields[i]; {
	case f.level != nil && (f.object || c.Kind() == jsonscan.Object):
		if !c.EnterObject() {
			c.Skip()
			return
		}
		for c.Member() {
			r.read(c, f.level)
		}
	case f.is == Tier:
		r.Terms.ReadTier(c.StringOrSkip())
	case f.is == Speed:
		r.Terms.ReadSpeed(c.StringOrSkip())
	case f.is == Region:
		r.Terms.ReadRegion(c.StringOrSkip())
	case f.is == Runs:
		r.readRuns(c)
	case f.is >= CostUSD:
		r.cost.read(c, f.is)
	case f.is == Seconds:
		if n := SecondsOf(c.Skip()); n > 0 {
			r.counts.set(f, n)
		}
	case f.list != nil:
		isList := c.Kind() == jsonscan.Array
		for raw := c.Skip(); isList && f != nil; f = f.next {
			r.counts.set(f, f.list.in(raw))
			r.counted = r.counted || f.is == Searches
		}
	default:
		n, exact, ok := c.Int()
		switch {
		case !ok:
			c.Skip()
		case exact && n >= 0:
			r.counts.set(f, bounded(n))
			r.positive = r.positive || n > 0
		}
		r.negative = r.negative || n < 0
	}
}

// Positive reports whether the usage object that was read last has a count above 0.
func (r *Report) Positive() bool { return r.positive }

// Usage returns the counts without overlap: in most formats, the prompt includes the tokens
// of caches, and the output those of reasoning.
func (r *Report) Usage() Usage {
	n := r.counts.values
	n[Prompt] += n[FurtherPrompt]
	n[Searches] += n[FurtherSearches]
	switch divided := n[CacheWriteShort] + n[CacheWriteLong]; {
	case n[CacheWrite] == 0 && n[CacheWriteShort] > 0:
		n[CacheWrite] = divided
	case r.counts.rows[CacheWriteShort] != 0 && 0 < divided && divided < n[CacheWrite]:
		// The division is that of an earlier object: a stream with tools of the provider begins with
		// that of its first run, and ends with the sum of all (BerriAI/litellm#42663).
		n[CacheWriteLong] = int64(float64(n[CacheWrite]) * float64(n[CacheWriteLong]) / float64(divided))
	}
	n[Output] += n[FurtherReasoning]
	n[Reasoning] += n[FurtherReasoning]
	// Reasoning that the output does not include: that of xAI, and that of Gemini in the chat
	// format, which only the total has.
	apart := max(0, n[Total]-n[Prompt]-n[Output])
	if apart != n[Reasoning] && (n[Reasoning] != 0 || n[CacheRead]+n[CacheWrite] > 0) {
		apart = 0
	}
	u := Usage{Known: r.known, Terms: r.Terms, Inconsistent: r.negative}
	u.Reasoning = max(n[Reasoning], apart)
	u.Answer = u.rest(n[Output]+apart, u.Reasoning)
	u.CacheRead, u.CacheWriteLong = n[CacheRead], n[CacheWriteLong]
	u.CacheWrite = u.rest(n[CacheWrite], u.CacheWriteLong)
	if u.Searches, u.Billed = n[Searches], r.counted; !r.counted {
		u.Searches = max(u.Searches, r.Searches)
	}
	u.Units.ImageTokens = Media(n[ImageInput], n[ImageCacheRead], n[ImageOutput])
	u.Units.AudioTokens = Media(n[AudioInput], n[AudioCacheRead], n[AudioOutput])
	u.Units.Seconds = n[Seconds]
	u.Stated = r.cost.cost()
	if r.rows != nil && r.rows.fresh {
		u.Fresh = n[Fresh]
	} else {
		u.Fresh = u.rest(n[Prompt], u.CacheRead, n[CacheWrite])
	}
	if r.runs != nil && len(r.runs.others) > 0 {
		u = u.OfRuns(r.runs.answering, r.runs.others)
	}
	if r.Tool != nil {
		u.Beside = append(slices.Clip(u.Beside), *r.Tool)
	}
	return u
}

const (
	maxRuns     = 16  // further runs that are kept; later ones are added to the last one
	maxRunModel = 128 // length in bytes of the name of a model
)

// readRuns reads the list of runs at the cursor. It replaces that of an earlier object.
func (r *Report) readRuns(c *jsonscan.Cursor) {
	if !c.EnterArray() {
		c.Skip()
		return
	}
	r.runs = &runs{answering: Usage{Known: true}}
	for c.Element() {
		r.readRun(c)
	}
}

// readRun reads a run. Those of the type "message" have written the answer, others have
// summarized the conversation or advised the model.
func (r *Report) readRun(c *jsonscan.Cursor) {
	counts := Report{rows: r.rows, known: true}
	var model, kind []byte
	if !c.EnterObject() {
		c.Skip()
	} else {
		for c.Member() {
			switch string(c.Name()) {
			case "model":
				model = c.StringOrSkip()
			case "type":
				kind = c.Skip()
			default:
				counts.read(c, &r.rows.top)
			}
		}
	}
	counts.runs = nil // a run has none
	run := Run{Usage: counts.Usage()}
	run.Usage.Searches = 0 // the usage of the answer has all
	if len(model) <= maxRunModel {
		run.Model = jsonscan.TextOf(model)
	}
	switch last := len(r.runs.others) - 1; {
	case kind == nil || string(kind) == `"message"`:
		r.runs.answering = r.runs.answering.Plus(run.Usage)
	case last+1 < maxRuns:
		r.runs.others = append(r.runs.others, run)
	default:
		r.runs.others[last].Usage = r.runs.others[last].Usage.Plus(run.Usage)
	}
}
