package ledger

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

// sumColumns are the sums, in the order of sumsOf.
var sumColumns = strings.Fields(`requests calls streams estimated unpriced
	fresh cache_read cache_write cache_write_long answer reasoning searches cost held duration ttfb ttfb_n`)

// sumStatement is the query for sums while it is written.
type sumStatement struct {
	selection
	args []any
}

// sumQuery returns the query for the sums of some intervals, with its arguments. A row
// has the time, the texts of the dimensions, and the sums. There are at most so many
// rows, behind the one that the selection names.
func sumQuery(s selection, parts []interval, most int) (query string, args []any) {
	q := &sumStatement{selection: s}
	query = "SELECT " + strings.Join(append(q.order(), prefixed("sums.", sumColumns)...), ", ") + " FROM (" + q.sums(parts) + ") AS sums"
	for i, dim := range s.texts() {
		query += fmt.Sprintf(" LEFT JOIN gateway_names n%d ON n%[1]d.id = sums.%s", i, dim.column)
	}
	if s.After != nil {
		query += " WHERE (" + strings.Join(q.order(), ", ") + ") > (" + strings.Join(q.after(), ", ") + ")"
	}
	return query + " ORDER BY " + strings.Join(q.order(), ", ") + " LIMIT " + q.param(most), q.args
}

// order returns what rows are ordered by.
func (q *sumStatement) order() []string {
	by := []string{"sums.at"}
	for i := range q.texts() {
		by = append(by, fmt.Sprintf("COALESCE(n%d.name, '')", i)) // the empty text has no row
	}
	return by
}

// after returns the parameters with the position of the row before.
func (q *sumStatement) after() []string {
	at := int64(0)
	if q.unit != 0 {
		at = q.After.At.UnixMilli()
	}
	position := []string{q.param(at)}
	for _, dim := range q.texts() {
		position = append(position, q.param(database.Text(*dim.text(q.After))))
	}
	return position
}

// sums returns the query that adds up the rows of some intervals.
func (q *sumStatement) sums(parts []interval) string {
	groups := q.columns("at")
	selected := groups
	for _, column := range sumColumns {
		selected = append(selected, "CAST(SUM("+column+") AS BIGINT) AS "+column)
	}
	rows := make([]string, len(parts))
	for i, part := range parts {
		rows[i] = q.rows(part)
	}
	return "SELECT " + strings.Join(selected, ", ") + " FROM (" + strings.Join(rows, " UNION ALL ") + ") AS parts" +
		" GROUP BY " + strings.Join(groups, ", ")
}

// columns returns the columns that sums are divided by, the time as given.
func (q *sumStatement) columns(at string) []string {
	columns := []string{at}
	for _, dim := range q.texts() {
		columns = append(columns, dim.column)
	}
	return columns
}

// rows returns the query for the rows of an interval.
func (q *sumStatement) rows(part interval) string {
	span := part.span
	if len(q.by) == 0 && q.User == "" && q.Key == "" && len(q.Limits) == 0 {
		span += totals
	}
	return fmt.Sprintf("SELECT %s FROM gateway_usage WHERE span = %d AND at >= %s AND at < %s%s",
		strings.Join(append(q.columns(q.moment(part)), sumColumns...), ", "), span,
		q.param(part.from.UnixMilli()), q.param(part.to.UnixMilli()), q.filter())
}

// moment returns the expression for the beginning of the unit of time that rows of an
// interval belong to. An interval of shorter spans is within one unit.
func (q *sumStatement) moment(part interval) string {
	switch q.unit {
	case 0:
		return "0 AS at"
	case part.span:
		return "at"
	}
	return fmt.Sprintf("%d AS at", q.unit.begin(part.from, q.zone).UnixMilli())
}

// filter returns the conditions for rows of the selected user, key, limits and currency.
func (q *sumStatement) filter() (conditions string) {
	if q.Currency != "" {
		conditions += " AND currency = " + q.name(q.Currency)
	}
	if q.User != "" {
		conditions += " AND holder = " + q.name(q.User)
	}
	if q.Key != "" {
		conditions += " AND api_key = " + q.name(q.Key)
	}
	if len(q.Limits) > 0 {
		names := make([]string, len(q.Limits))
		for i, limit := range q.Limits {
			names[i] = q.name(limit)
		}
		conditions += " AND limit_name IN (" + strings.Join(names, ", ") + ")"
	}
	return conditions
}

// name returns an expression for the id of a text.
func (q *sumStatement) name(text string) string { return nameParam(q.param(database.Text(text))) }

// param adds an argument, and returns its parameter.
func (q *sumStatement) param(value any) string {
	q.args = append(q.args, value)
	return "$" + strconv.Itoa(len(q.args))
}

// nameParam returns the id of a text that is a parameter. No row has an unknown one.
func nameParam(param string) string {
	return "(SELECT id FROM gateway_names WHERE name = " + param + ")"
}

func prefixed(prefix string, texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = prefix + text
	}
	return all
}
