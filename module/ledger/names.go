package ledger

import (
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

// names are the ids of texts in the database. The empty text has the id 0.
type names map[string]int64

const (
	// mostNames bounds the names in memory: clients may choose names of models.
	mostNames = 10_000
	// rowsAtOnce is how many rows one statement writes or looks up.
	rowsAtOnce = 100
)

func (n names) id(text string) int64 { return n[database.Text(text)] }

// add makes the ids of texts known, and gives those an id that have none.
func (n names) add(tx database.Statements, texts map[string]bool) error {
	if len(n) > mostNames {
		clear(n)
	}
	n[""] = 0
	var missing []any
	for text := range texts {
		if _, ok := n[database.Text(text)]; !ok {
			missing = append(missing, database.Text(text))
		}
	}
	slices.SortFunc(missing, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	for some := range slices.Chunk(missing, rowsAtOnce) {
		if err := n.addSome(tx, some); err != nil {
			return err
		}
	}
	return nil
}

func (n names) addSome(tx database.Statements, texts []any) error {
	_, err := tx.Exec(`INSERT INTO gateway_names (name) VALUES `+rowsOf(len(texts), 1)+` ON CONFLICT DO NOTHING`, texts...)
	if err != nil {
		return err
	}
	return tx.Each(func(row database.Scanner) error {
		var id int64
		var text string
		err := row.Scan(&id, &text)
		n[text] = id
		return err
	}, `SELECT id, name FROM gateway_names WHERE name IN `+rowsOf(1, len(texts)), texts...)
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
	for some := range slices.Chunk(rows, rowsAtOnce) {
		_, err := tx.Exec(`INSERT INTO `+table+` VALUES `+rowsOf(len(some), len(some[0]))+conflict, slices.Concat(some...)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// textsOf returns the texts of ids.
func textsOf(in database.Statements, ids map[int64]bool) (map[int64]string, error) {
	texts := make(map[int64]string, len(ids))
	var all []any
	for id := range ids {
		all = append(all, id)
	}
	for some := range slices.Chunk(all, rowsAtOnce) {
		err := in.Each(func(row database.Scanner) error {
			var id int64
			var text string
			err := row.Scan(&id, &text)
			texts[id] = text
			return err
		}, `SELECT id, name FROM gateway_names WHERE id IN `+rowsOf(1, len(some)), some...)
		if err != nil {
			return nil, err
		}
	}
	return texts, nil
}
