package ledger

import (
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// names contains the ids that texts have in the database. The empty text has the id 0.
type names map[string]int64

// textKind is the origin of a text.
type textKind bool

const (
	configured textKind = false // from the configuration, the store, or this program
	chosen     textKind = true  // from a client or a provider, which may choose any text
)

// otherNames replaces chosen texts if the database has more than maxChosen names.
const otherNames = "(other)"

const (
	// maxNames is the largest number of names in memory.
	maxNames = 10_000
	// maxChosen is the number of names in the database above which new chosen texts are
	// not stored. Sums, and so their names, are kept for ever.
	maxChosen = 100_000
)

// id returns the id of a text, which add has found or inserted.
func (n names) id(text string) int64 {
	if id, ok := n[text]; ok {
		return id
	}
	return n[database.Text(text)]
}

// limit removes all names if there are too many.
func (n names) limit() {
	if len(n) > maxNames {
		clear(n)
	}
}

// add adds the ids of texts. It inserts texts that are not in the database.
func (n names) add(tx database.Statements, texts map[string]textKind) error {
	n[""] = 0
	if err := n.find(tx, n.missing(texts)); err != nil {
		return err
	}
	missing := n.missing(texts)
	if len(missing) == 0 {
		return nil
	}
	full, err := tx.Number(`SELECT CASE WHEN count(*) > $1 THEN 1 ELSE 0 END FROM gateway_names`, maxChosen)
	if err != nil {
		return err
	}
	if full == 0 {
		return n.insert(tx, missing)
	}
	return n.insertConfigured(tx, texts)
}

// insertConfigured inserts the configured texts that are missing. Missing chosen texts get
// the id of otherNames.
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

// missing returns the texts whose id is unknown, sorted: transactions that insert rows in
// the same order cannot deadlock.
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

// insert inserts texts into the database, and adds their ids.
func (n names) insert(tx database.Statements, texts []any) error {
	for some := range slices.Chunk(texts, rowsPerStatement) {
		_, err := tx.Exec(`INSERT INTO gateway_names (name) VALUES `+placeholders(len(some), 1)+` ON CONFLICT DO NOTHING`, some...)
		if err != nil {
			return err
		}
	}
	return n.find(tx, texts)
}

// find adds the ids of the texts that are in the database.
func (n names) find(tx database.Statements, texts []any) error {
	for some := range slices.Chunk(texts, rowsPerStatement) {
		err := tx.Each(func(row database.Scanner) error {
			var id int64
			var text string
			err := row.Scan(&id, &text)
			n[text] = id
			return err
		}, `SELECT id, name FROM gateway_names WHERE name IN `+placeholders(1, len(some)), some...)
		if err != nil {
			return err
		}
	}
	return nil
}
