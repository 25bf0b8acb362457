package ledger

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/database"
)

// sumColumns are the columns of gateway_usage with sums, in the order of sumsOf.
var sumColumns = strings.Fields(`requests calls streams estimated unpriced
	fresh cache_read cache_write cache_write_long answer reasoning searches cost held duration ttfb ttfb_n`)

// sumStatement builds the statement for a selection, and collects its arguments.
type sumStatement struct {
	selection
	args []any
}

// sumQuery returns the query for the sums over some intervals, with its arguments. A row
// consists of the time, the texts of the dimensions, and the sums. The query returns at
// most limit rows, after the row of UsageQuery.After.
func sumQuery(s selection, parts []interval, limit int) (query string, args []any) {
	q := &sumStatement{selection: s}
	query = "SELECT " + strings.Join(append(q.order(), prefixed("sums.", sumColumns)...), ", ") + " FROM (" + q.sums(parts) + ") AS sums"
	for i, dim := range s.textDimensions() {
		query += fmt.Sprintf(" LEFT JOIN gateway_names n%d ON n%[1]d.id = sums.%s", i, dim.column)
	}
	if s.After != nil {
		query += " WHERE (" + strings.Join(q.order(), ", ") + ") > (" + strings.Join(q.after(), ", ") + ")"
	}
	return query + " ORDER BY " + strings.Join(q.order(), ", ") + " LIMIT " + q.param(limit), q.args
}

// order returns the expressions by which rows are ordered.
func (q *sumStatement) order() []string {
	by := []string{"sums.at"}
	for i := range q.textDimensions() {
		by = append(by, fmt.Sprintf("COALESCE(n%d.name, '')", i)) // the empty text has no row
	}
	return by
}

// after returns the values of UsageQuery.After, in the order of order.
func (q *sumStatement) after() []string {
	at := int64(0)
	if q.unit != 0 {
		at = q.After.At.UnixMilli()
	}
	position := []string{q.param(at)}
	for _, dim := range q.textDimensions() {
		position = append(position, q.param(database.Text(*dim.text(q.After))))
	}
	return position
}

// sums returns the subquery that adds up the rows of some intervals.
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

// columns returns the columns by which sums are grouped. The first is at, the expression
// for the time.
func (q *sumStatement) columns(at string) []string {
	columns := []string{at}
	for _, dim := range q.textDimensions() {
		columns = append(columns, dim.column)
	}
	return columns
}

// rows returns the subquery for the rows of an interval.
func (q *sumStatement) rows(part interval) string {
	span, table := part.span, usageTable.name
	if q.Label != "" {
		table = labelTable.name
	} else if len(q.by) == 0 && q.User == "" && q.Key == "" && len(q.Limits) == 0 {
		span += totals
	}
	return fmt.Sprintf("SELECT %s FROM %s WHERE span = %d AND at >= %s AND at < %s%s",
		strings.Join(append(q.columns(q.unitBegin(part)), sumColumns...), ", "), table, span,
		q.param(part.from.UnixMilli()), q.param(part.to.UnixMilli()), q.filter())
}

// unitBegin returns the expression for the beginning of the unit of time that contains a
// row of an interval. An interval of shorter spans lies within one unit: see cover.
func (q *sumStatement) unitBegin(part interval) string {
	switch q.unit {
	case 0:
		return "0 AS at"
	case part.span:
		return "at"
	}
	return fmt.Sprintf("%d AS at", q.unit.begin(part.from, q.zone).UnixMilli())
}

// filter returns the conditions for the label, user, key, limits and currency of the query.
func (q *sumStatement) filter() (conditions string) {
	if q.Label != "" && q.Label != accounting.ByLabel {
		conditions += " AND label = " + q.name(string(q.Label))
	}
	if q.Value != "" {
		conditions += " AND value = " + q.name(q.Value)
	}
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

// param adds an argument, and returns its placeholder.
func (q *sumStatement) param(value any) string {
	q.args = append(q.args, value)
	return "$" + strconv.Itoa(len(q.args))
}

// nameParam returns an expression for the id of a text, whose placeholder is given. For an
// unknown text it is NULL, which equals no column.
func nameParam(param string) string {
	return "(SELECT id FROM gateway_names WHERE name = " + param + ")"
}

// prefixed returns texts with a prefix.
func prefixed(prefix string, texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = prefix + text
	}
	return all
}
