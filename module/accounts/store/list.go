package store

import (
	"context"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// orders are the columns of the fields that order a list.
type orders map[string]string

// by returns the clause that orders a page, after which usual decides.
func (o orders) by(page aigateway.Page, usual string) string {
	column, ok := o[page.Sort]
	switch {
	case !ok:
		return ` ORDER BY ` + usual
	case page.Down:
		column += ` DESC`
	}
	return ` ORDER BY ` + column + `, ` + usual
}

// listed returns a page of a list, and the number of all entries that the page searches for.
// The parameter $1 of which is the pattern of the search, and args are those after it.
func listed[T any](ctx context.Context, tables *tables, action string, page aigateway.Page, scan func(database.Scanner, *T) error,
	columns, which, order string, args ...any) (entries []T, total int, err error) {
	args = append([]any{likePattern(page.Search)}, args...)
	limit := ` LIMIT $` + strconv.Itoa(len(args)+1) + ` OFFSET $` + strconv.Itoa(len(args)+2)
	err = tables.db.Query(ctx, action, func(db database.Statements) error {
		count, err := db.Number(`SELECT count(*)`+which, args...)
		if err != nil {
			return err
		}
		total = int(count)
		return db.Each(func(row database.Scanner) error {
			var entry T
			err := scan(row, &entry)
			entries = append(entries, entry)
			return err
		}, `SELECT `+columns+which+order+limit, append(args, page.Limit, page.Offset)...)
	})
	return entries, total, err
}
