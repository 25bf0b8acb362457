package ledger

import (
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// rowsPerStatement is the number of rows that one statement writes or looks up. A longer
// statement takes longer to parse, and shorter ones are more statements.
const rowsPerStatement = 50

// placeholders returns the placeholders of rows: "($1, $2), ($3, $4)".
func placeholders(rows, columns int) string {
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

// insertRows inserts rows. The argument table is the name of the table with its columns,
// and conflict is the clause for rows that exist.
func insertRows(tx database.Statements, table, conflict string, rows [][]any) error {
	values, size := "", 0
	for some := range slices.Chunk(rows, rowsPerStatement) {
		if len(some) != size { // only the last chunk has another size
			values, size = placeholders(len(some), len(some[0])), len(some)
		}
		if _, err := tx.Exec(`INSERT INTO `+table+` VALUES `+values+conflict, slices.Concat(some...)...); err != nil {
			return err
		}
	}
	return nil
}
