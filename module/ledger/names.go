package ledger

import (
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

// names are the ids of texts in the database. The empty text has the id 0.
type names map[string]int64

// textKind is where a text comes from.
type textKind bool

const (
	configured textKind = false // from the configuration, the store, or this program
	chosen     textKind = true  // from a client or a provider, which may choose any text
)

// otherNames is the text in place of chosen texts beyond mostChosen.
const otherNames = "(other)"

const (
	// mostNames bounds the names in memory.
	mostNames = 10_000
	// mostChosen is the number of names in the database beyond which chosen texts get
	// no name of their own. Sums are kept for ever, and the names in them.
	mostChosen = 100_000
	// rowsAtOnce is how many rows one statement writes or looks up. More would take
	// longer to parse, and fewer more statements.
	rowsAtOnce = 50
)

func (n names) id(text string) int64 {
	if id, ok := n[text]; ok {
		return id
	}
	return n[database.Text(text)]
}

// limit forgets the names if there are too many.
func (n names) limit() {
	if len(n) > mostNames {
		clear(n)
	}
}

// add makes the ids of texts known, and gives those an id that have none.
func (n names) add(tx database.Statements, texts map[string]textKind) error {
	n[""] = 0
	if err := n.find(tx, n.missing(texts)); err != nil {
		return err
	}
	missing := n.missing(texts)
	if len(missing) == 0 {
		return nil
	}
	full, err := tx.Number(`SELECT CASE WHEN count(*) > $1 THEN 1 ELSE 0 END FROM gateway_names`, mostChosen)
	if err != nil {
		return err
	}
	if full == 0 {
		return n.insert(tx, missing)
	}
	return n.insertConfigured(tx, texts)
}

// insertConfigured gives an id to configured texts, and that of otherNames to chosen
// ones.
func (n names) insertConfigured(tx database.Statements, texts map[string]textKind) error {
	needed := map[string]textKind{otherNames: configured}
	for text, kind := range texts {
		if kind == configured {
			needed[text] = kind
		}
	}
	if err := n.insert(tx, n.missing(needed)); err != nil {
		return err
	}
	for _, text := range n.missing(texts) {
		n[text.(string)] = n[otherNames]
	}
	return nil
}

// missing returns the texts whose id is unknown, sorted.
func (n names) missing(texts map[string]textKind) (missing []any) {
	for text := range texts {
		if _, ok := n[text]; ok {
			continue
		}
		if _, ok := n[database.Text(text)]; !ok {
			missing = append(missing, database.Text(text))
		}
	}
	slices.SortFunc(missing, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	return missing
}

// insert gives an id to texts that have none.
func (n names) insert(tx database.Statements, texts []any) error {
	for some := range slices.Chunk(texts, rowsAtOnce) {
		_, err := tx.Exec(`INSERT INTO gateway_names (name) VALUES `+rowsOf(len(some), 1)+` ON CONFLICT DO NOTHING`, some...)
		if err != nil {
			return err
		}
	}
	return n.find(tx, texts)
}

// find makes the ids known that texts have.
func (n names) find(tx database.Statements, texts []any) error {
	for some := range slices.Chunk(texts, rowsAtOnce) {
		err := tx.Each(func(row database.Scanner) error {
			var id int64
			var text string
			err := row.Scan(&id, &text)
			n[text] = id
			return err
		}, `SELECT id, name FROM gateway_names WHERE name IN `+rowsOf(1, len(some)), some...)
		if err != nil {
			return err
		}
	}
	return nil
}

// rowsOf returns the parameters of so many rows: "($1, $2), ($3, $4)".
func rowsOf(rows, columns int) string {
	var b strings.Builder
	for i := range rows * columns {
		switch {
		case i == 0:
			b.WriteString("($")
		case i%columns == 0:
			b.WriteString("), ($")
		default:
			b.WriteString(", $")
		}
		b.WriteString(strconv.Itoa(i + 1))
	}
	b.WriteString(")")
	return b.String()
}

// insert writes rows, some of them with each statement. The statement begins with
// the table and the columns, and ends with what is to happen to rows that exist.
func insert(tx database.Statements, table, conflict string, rows [][]any) error {
	return each(rows, func(values string, args []any) error {
		_, err := tx.Exec(`INSERT INTO `+table+` VALUES `+values+conflict, args...)
		return err
	})
}

// each calls write for groups of rows, with the parameters of a group and their values.
// All groups but the last have the same parameters.
func each(rows [][]any, write func(values string, args []any) error) error {
	values, size := "", 0
	for some := range slices.Chunk(rows, rowsAtOnce) {
		if len(some) != size {
			values, size = rowsOf(len(some), len(some[0])), len(some)
		}
		if err := write(values, slices.Concat(some...)); err != nil {
			return err
		}
	}
	return nil
}
