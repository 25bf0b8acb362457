package ledger

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
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
// consists of the time, the texts of the dimensions, the sums, and with UsageQuery.Largest
// the number of others. The query returns at most limit rows, after the row of
// UsageQuery.After.
func sumQuery(s selection, parts []interval, limit int) (query string, args []any) {
	q := &sumStatement{selection: s}
	columns, sums := append(q.order(), prefixed("sums.", sumColumns)...), q.sums(parts)
	if s.Largest != nil {
		query, columns, sums = q.withLargest(sums), append(columns, q.countOthers()), q.keepLargest()
	}
	query += "SELECT " + strings.Join(columns, ", ") + " FROM (" + sums + ") AS sums"
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
	columns := []string{"sums.at"}
	for i := range q.textDimensions() {
		nameless := "''" // the empty text has no row
		if q.Largest != nil && i < len(q.dimensions) {
			nameless = fmt.Sprintf("CASE sums.%s WHEN %d THEN '%s' ELSE '' END", q.dimensions[i].column, others, accounting.Others)
		}
		columns = append(columns, fmt.Sprintf("COALESCE(n%d.name, %s)", i, nameless))
	}
	return columns
}

// after returns the values of UsageQuery.After, in the order of order.
func (q *sumStatement) after() []string {
	start := int64(0)
	if q.unit != 0 {
		start = q.After.At.UnixMilli()
	}
	position := []string{q.param(start)}
	for _, dim := range q.textDimensions() {
		position = append(position, q.param(database.Text(*dim.text(q.After))))
	}
	return position
}

// sums returns the subquery that adds up the rows of some intervals.
func (q *sumStatement) sums(parts []interval) string {
	rows := make([]string, len(parts))
	for i, part := range parts {
		rows[i] = q.rows(part)
	}
	return q.added(strings.Join(rows, " UNION ALL "))
}

// added returns the subquery that adds up rows with the same dimensions.
func (q *sumStatement) added(rows string) string {
	groups := q.columns("at")
	selected := groups
	for _, column := range sumColumns {
		selected = append(selected, "CAST(SUM("+column+") AS BIGINT) AS "+column)
	}
	return "SELECT " + strings.Join(selected, ", ") + " FROM (" + rows + ") AS parts GROUP BY " + strings.Join(groups, ", ")
}

// others is the id of all values that are not among the largest. Names have positive ids.
const others = -1

// measures are expressions for measures.
var measures = map[accounting.Measure]string{
	accounting.MeasureCost:     "cost",
	accounting.MeasureTokens:   "fresh + cache_read + cache_write + cache_write_long + answer + reasoning",
	accounting.MeasureRequests: "requests",
}

// withLargest returns the common tables of a query for the largest values: every has all
// sums, and kept the largest values.
func (q *sumStatement) withLargest(sums string) string {
	return fmt.Sprintf("WITH every AS (%s), kept AS (SELECT %s FROM every GROUP BY %[2]s ORDER BY SUM(%[3]s) DESC, %[2]s LIMIT %[4]s) ",
		sums, q.values(), measures[q.Largest.Measure], q.param(q.Largest.Number))
}

// values returns the columns of the values of which the largest are kept.
func (q *sumStatement) values() string {
	columns := q.columns("at")
	return strings.Join(columns[1:len(columns)-1], ", ") // without the time and the currency
}

// keepLargest returns the subquery that adds up the sums of the values that are not kept.
func (q *sumStatement) keepLargest() string {
	columns, values := q.columns("at"), q.values()
	for i := range q.dimensions {
		columns[1+i] = fmt.Sprintf("CASE WHEN (%s) IN (SELECT %[1]s FROM kept) THEN %s ELSE %d END AS %[2]s", values, columns[1+i], others)
	}
	return q.added("SELECT " + strings.Join(append(columns, sumColumns...), ", ") + " FROM every")
}

// countOthers returns the expression for the number of values that are not kept.
func (q *sumStatement) countOthers() string {
	return fmt.Sprintf("CASE sums.%s WHEN %d THEN (SELECT COUNT(*) FROM (SELECT DISTINCT %s FROM every) AS found) - (SELECT COUNT(*) FROM kept) ELSE 0 END",
		q.dimensions[0].column, others, q.values())
}

// columns returns the columns by which sums are grouped. The first is start, the expression
// for the time.
func (q *sumStatement) columns(start string) []string {
	columns := []string{start}
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
	} else {
		span += levelOf(q.names()).spans
	}
	return fmt.Sprintf("SELECT %s FROM %s WHERE span = %d AND at >= %s AND at < %s%s",
		strings.Join(append(q.columns(q.unitBegin(part)), sumColumns...), ", "), table, span,
		q.param(part.start.UnixMilli()), q.param(part.end.UnixMilli()), q.filter())
}

// names returns the columns with names by which rows are grouped or selected.
func (q *sumStatement) names() (columns []string) {
	for _, dim := range q.dimensions {
		columns = append(columns, dim.column)
	}
	for column, wanted := range map[string]bool{"holder": q.User != "", "api_key": q.Key != "", "limit_name": len(q.Limits) > 0} {
		if wanted {
			columns = append(columns, column)
		}
	}
	return columns
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
	return fmt.Sprintf("%d AS at", q.unit.begin(part.start, q.zone).UnixMilli())
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
