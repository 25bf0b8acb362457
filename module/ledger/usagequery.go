package ledger

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// sumColumns are the columns of gateway_usage with sums, in the order of sumsOf.
var sumColumns = strings.Fields(`requests calls streams estimated unpriced
	fresh cache_read cache_write cache_write_long answer reasoning searches cost held duration ttfb ttfb_n saved`)

// sumStatement builds the statement for a selection, and collects its arguments.
type sumStatement struct {
	query  accounting.UsageQuery
	groups grouping
	state  state
	args   []any
}

// sumQuery returns the query for the sums over some intervals, with its arguments. A row
// consists of the time, the texts of the dimensions, the sums, and with UsageQuery.Largest
// the number of others. The query returns at most limit rows, after the row of
// UsageQuery.After.
func sumQuery(s selection, parts []interval, limit int) (query string, args []any) {
	q := &sumStatement{query: s.query, groups: s.groups, state: s.state}
	columns := append(q.order(), prefixed("sums.", sumColumns)...)
	if s.query.Largest != nil {
		query, columns = q.withLargest(parts), append(columns, q.countOthers())
	}
	query += "SELECT " + strings.Join(columns, ", ") + " FROM (" + q.sums(parts) + ") AS sums"
	for i, dim := range s.groups.textDimensions() {
		query += fmt.Sprintf(" LEFT JOIN gateway_names n%d ON n%[1]d.id = sums.%s", i, dim.column)
	}
	if s.query.After != nil {
		query += " WHERE (" + strings.Join(q.order(), ", ") + ") > (" + strings.Join(q.after(), ", ") + ")"
	}
	return query + " ORDER BY " + strings.Join(q.order(), ", ") + " LIMIT " + q.param(limit), q.args
}

// order returns the expressions by which rows are ordered.
func (q *sumStatement) order() []string {
	columns := []string{"sums.at"}
	for i := range q.groups.textDimensions() {
		nameless := "''" // the empty text has no row
		if q.query.Largest != nil && i < len(q.groups.dimensions) {
			nameless = fmt.Sprintf("CASE sums.%s WHEN %d THEN '%s' ELSE '' END", q.groups.dimensions[i].column, others, accounting.Others)
		}
		columns = append(columns, fmt.Sprintf("COALESCE(n%d.name, %s)", i, nameless))
	}
	return columns
}

// after returns the values of UsageQuery.After, in the order of order.
func (q *sumStatement) after() []string {
	start := int64(0)
	if q.groups.unit != 0 {
		start = q.query.After.At.UnixMilli()
	}
	position := []string{q.param(start)}
	for _, dim := range q.groups.textDimensions() {
		position = append(position, q.param(database.Text(*dim.text(q.query.After))))
	}
	return position
}

// sums returns the subquery that adds up the rows of some intervals with the same dimensions.
func (q *sumStatement) sums(parts []interval) string {
	groups := q.columns("at", func(column string) string { return column })
	selected := groups
	for _, column := range sumColumns {
		selected = append(selected, "CAST(SUM("+column+") AS BIGINT) AS "+column)
	}
	rows := q.rows(parts, func(part interval) []string { return append(q.columns(q.unitBegin(part), q.kept), sumColumns...) })
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
// values with their amounts, and kept the largest ones. The amounts are those of the whole time,
// which few rows of long spans have.
func (q *sumStatement) withLargest(parts []interval) string {
	whole := cover(parts[0].start, parts[len(parts)-1].end, month, q.state.zone)
	rows := q.rows(whole, func(interval) []string { return []string{q.values(), measures[q.query.Largest.Measure] + " AS amount"} })
	return fmt.Sprintf("WITH every AS (SELECT %s, SUM(amount) AS amount FROM (%s) AS parts GROUP BY %[1]s), kept AS (SELECT %[1]s FROM every ORDER BY amount DESC, %[1]s LIMIT %[3]s) ",
		q.values(), rows, q.param(q.query.Largest.Number))
}

// values returns the columns of the values of which the largest are kept.
func (q *sumStatement) values() string {
	columns := make([]string, len(q.groups.dimensions))
	for i, dim := range q.groups.dimensions {
		columns[i] = dim.column
	}
	return strings.Join(columns, ", ")
}

// kept returns the expression for the value of a column, which is others unless the values of
// the row are kept.
func (q *sumStatement) kept(column string) string {
	if q.query.Largest == nil {
		return column
	}
	return fmt.Sprintf("CASE WHEN (%s) IN (SELECT %[1]s FROM kept) THEN %s ELSE %d END AS %[2]s", q.values(), column, others)
}

// countOthers returns the expression for the number of values that are not kept.
func (q *sumStatement) countOthers() string {
	return fmt.Sprintf("CASE sums.%s WHEN %d THEN (SELECT COUNT(*) FROM every) - (SELECT COUNT(*) FROM kept) ELSE 0 END", q.groups.dimensions[0].column, others)
}

// columns returns the columns by which sums are grouped: start, the expression for the time, the
// dimensions, which value turns into expressions, and the currency.
func (q *sumStatement) columns(start string, value func(string) string) []string {
	columns := []string{start}
	for _, dim := range q.groups.dimensions {
		columns = append(columns, value(dim.column))
	}
	return append(columns, currencies.column)
}

// rows returns the subquery for the rows of some intervals, with the columns of each.
func (q *sumStatement) rows(parts []interval, columns func(interval) []string) string {
	table, level := usageTable.name, span(0)
	if q.query.Label != "" {
		table = labelTable.name
	} else {
		level = levelOf(q.names(), parts[0].start, q.state.levelled).spans
	}
	rows := make([]string, len(parts))
	for i, part := range parts {
		rows[i] = fmt.Sprintf("SELECT %s FROM %s WHERE span = %d AND at >= %s AND at < %s%s",
			strings.Join(columns(part), ", "), table, part.span+level,
			q.param(part.start.UnixMilli()), q.param(part.end.UnixMilli()), q.filter())
	}
	return strings.Join(rows, " UNION ALL ")
}

// names returns the columns with names by which rows are grouped or selected.
func (q *sumStatement) names() (columns []string) {
	for _, dim := range q.groups.dimensions {
		columns = append(columns, dim.column)
	}
	for dim := range q.selected() {
		columns = append(columns, dim.column)
	}
	if len(q.query.Limits) > 0 {
		columns = append(columns, dimensions[accounting.ByLimit].column)
	}
	return columns
}

// selected returns the dimensions with a value in UsageQuery.Only, in an order that stays: each
// text of a statement is prepared once.
func (q *sumStatement) selected() iter.Seq2[dimension, string] {
	return func(yield func(dimension, string) bool) {
		for _, name := range slices.Sorted(maps.Keys(q.query.Only)) {
			if value := q.query.Only[name]; value != "" && !yield(dimensions[name], value) {
				return
			}
		}
	}
}

// unitBegin returns the expression for the beginning of the unit of time that contains a
// row of an interval. An interval of shorter spans lies within one unit: see cover.
func (q *sumStatement) unitBegin(part interval) string {
	switch q.groups.unit {
	case 0:
		return "0 AS at"
	case part.span:
		return "at"
	}
	return fmt.Sprintf("%d AS at", q.groups.unit.begin(part.start, q.state.zone).UnixMilli())
}

// filter returns the conditions for the label, names, limits and currency of the query.
func (q *sumStatement) filter() (conditions string) {
	if q.query.Label != "" && q.query.Label != accounting.ByLabel {
		conditions += " AND label = " + q.name(string(q.query.Label))
	}
	if q.query.Value != "" {
		conditions += " AND value = " + q.name(q.query.Value)
	}
	if q.query.Currency != "" {
		conditions += " AND currency = " + q.name(q.query.Currency)
	}
	for dim, value := range q.selected() {
		conditions += " AND " + dim.column + " = " + q.name(value)
	}
	if len(q.query.Limits) > 0 {
		names := make([]string, len(q.query.Limits))
		for i, limit := range q.query.Limits {
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
