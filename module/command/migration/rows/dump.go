package rows

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// dump reads the rows of tables from the statements of a dump.
func (b *book) dump(reader *bufio.Reader, escapes bool, names []string) error {
	d := dump{book: b, lexer: lexer{reader: reader, escapes: escapes}, names: names, columns: map[string][]column{}}
	for {
		first, err := d.next()
		switch {
		case err != nil:
			return err
		case first.kind == end:
			return nil
		case first.is("CREATE"):
			err = d.create()
		case first.is("INSERT"):
			err = d.insert()
		case first.is("COPY"):
			err = d.copy()
		case !first.is(";"):
			err = d.rest()
		}
		if err != nil {
			return err
		}
	}
}

// dump is a dump that is read.
type dump struct {
	*book
	lexer
	names   []string
	columns map[string][]column // of each table
}

// column is a column of a table; its type is in lower case, such as text[].
type column struct{ name, kind string }

// rest skips the rest of a statement.
func (d *dump) rest() error {
	d.skip = true
	defer func() { d.skip = false }()
	for {
		t, err := d.next()
		if err != nil || t.kind == end || t.is(";") {
			return err
		}
	}
}

// table returns the name of a table, without that of its schema, and the token behind it.
func (d *dump) table() (string, token, error) {
	var table string
	for {
		t, err := d.next()
		if err != nil {
			return "", t, err
		}
		switch {
		case t.is("IF"), t.is("NOT"), t.is("EXISTS"), t.is("ONLY"), t.is("INTO"), t.is("IGNORE"):
		case t.kind == word || t.kind == name:
			s := t.text[strings.LastIndexByte(t.text, '.')+1:]
			if s == "" {
				continue // the name of a schema
			}
			table = s
		default:
			return table, t, nil
		}
		if next, _ := d.reader.Peek(1); table != "" && len(next) > 0 && next[0] != '.' {
			t, err := d.next()
			return table, t, err
		}
	}
}

// create reads the columns of a table.
func (d *dump) create() error {
	t, err := d.next()
	if err != nil || !t.is("TABLE") {
		return errors.Join(err, d.rest())
	}
	table, t, err := d.table()
	if err != nil || !t.is("(") || !slices.Contains(d.names, table) {
		return errors.Join(err, d.rest())
	}
	if d.tables[table] == nil {
		d.tables[table] = []json.RawMessage{} // the table exists
	}
	var columns []column
	for depth, part := 1, 0; depth > 0; part++ {
		if t, err = d.next(); err != nil || t.kind == end {
			return err
		}
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case t.is(",") && depth == 1:
			part = -1
		case part == 0:
			columns = append(columns, column{name: t.text})
		case depth == 1 && part < 6 && len(columns) > 0:
			columns[len(columns)-1].kind += strings.ToLower(t.text)
		}
	}
	d.columns[table] = columns // with the words of constraints, which are behind the columns
	return d.rest()
}

// insert reads the rows of an INSERT.
func (d *dump) insert() error {
	table, t, err := d.table()
	if err != nil || !slices.Contains(d.names, table) {
		return errors.Join(err, d.rest())
	}
	columns, t, err := d.list(table, t)
	if err != nil || !t.is("VALUES") {
		return errors.Join(err, d.rest())
	}
	for {
		if t, err = d.next(); err != nil || t.kind == end || t.is(";") {
			return err
		}
		if t.is("ON") || t.is("RETURNING") {
			return d.rest()
		}
		if !t.is("(") {
			continue
		}
		row, err := d.row(columns)
		if err != nil {
			return err
		}
		if err := d.add(table, row); err != nil {
			return err
		}
	}
}

// list returns the columns of a statement, which may list them, and the token behind it.
func (d *dump) list(table string, t token) (columns []column, next token, err error) {
	if !t.is("(") {
		return d.columns[table], t, nil
	}
	for !t.is(")") {
		if t, err = d.next(); err != nil || t.kind == end {
			return nil, t, err
		}
		if t.kind == word || t.kind == name {
			c := column{name: t.text}
			for _, known := range d.columns[table] {
				if known.name == c.name {
					c = known
				}
			}
			columns = append(columns, c)
		}
	}
	t, err = d.next()
	return columns, t, err
}

// row reads the values of a row, up to the parenthesis that ends it.
func (d *dump) row(columns []column) (map[string]any, error) {
	row := map[string]any{}
	var value any
	for i, depth := 0, 1; ; {
		t, err := d.next()
		if err != nil {
			return nil, err
		}
		switch {
		case t.kind == end:
			return nil, errors.New("reading the dump: a row does not end")
		case t.is("("):
			depth++
		case t.is(")") && depth > 1:
			depth--
		case t.is(",") && depth == 1, t.is(")"):
			if i < len(columns) {
				row[columns[i].name] = columns[i].convert(value)
			}
			if i++; t.is(")") {
				return row, nil
			}
			value = nil
		case depth == 1 && value == nil && (t.kind == text || t.kind == name):
			value = t.text
		case depth == 1 && value == nil && t.kind == word && t.text[0] != '_' && t.text[0] != ':':
			value = unquoted(t.text)
		}
	}
}

// unquoted returns a value without quotes: a number, true, false, or nil for anything else.
func unquoted(s string) any {
	switch {
	case strings.EqualFold(s, "true"):
		return true
	case strings.EqualFold(s, "false"):
		return false
	case json.Valid([]byte(s)) && strings.IndexByte("-0123456789", s[0]) >= 0:
		return json.Number(s)
	}
	return nil
}

// convert returns a value as the type of its column.
func (c column) convert(value any) any {
	s, ok := value.(string)
	if !ok {
		return value
	}
	switch {
	case strings.Contains(c.kind, "[]"):
		return array(s)
	case strings.HasPrefix(c.kind, "json"):
		var parsed any
		if json.Unmarshal([]byte(s), &parsed) == nil {
			return parsed
		}
	case strings.HasPrefix(c.kind, "bool"):
		return s == "t" || strings.EqualFold(s, "true") || s == "1"
	}
	return s
}

// array returns the elements of an array of PostgreSQL: {a,"b c"}.
func array(s string) []any {
	elements := []any{}
	s = strings.TrimSuffix(strings.TrimPrefix(s, "{"), "}")
	var element []byte
	inQuotes := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			element = append(element, s[i])
		case c == '"':
			inQuotes = !inQuotes
		case c == ',' && !inQuotes:
			elements, element = append(elements, string(element)), nil
		default:
			element = append(element, c)
		}
	}
	if s != "" {
		elements = append(elements, string(element))
	}
	return elements
}

// copy reads the rows of a COPY of PostgreSQL: lines with tabs.
func (d *dump) copy() error {
	table, t, err := d.table()
	if err != nil {
		return err
	}
	columns, _, err := d.list(table, t)
	if err == nil {
		err = d.rest()
	}
	if err != nil {
		return err
	}
	if _, err := d.reader.ReadString('\n'); err != nil {
		return nil // the end of the dump
	}
	wanted := slices.Contains(d.names, table)
	for {
		line, err := d.line()
		if errors.Is(err, io.EOF) || line == `\.` {
			return nil
		}
		if err != nil {
			return err
		}
		if !wanted {
			continue
		}
		row := map[string]any{}
		for i, field := range strings.Split(line, "\t") {
			if i < len(columns) && field != `\N` {
				row[columns[i].name] = columns[i].convert(unescape(field))
			}
		}
		if err := d.add(table, row); err != nil {
			return err
		}
	}
}

// line returns a line of a COPY without its end.
func (d *dump) line() (string, error) {
	var line []byte
	for {
		part, more, err := d.reader.ReadLine()
		if err != nil {
			return "", err
		}
		if line = append(line, part...); len(line) > 4*mostValue {
			return "", fmt.Errorf("a row of the dump has more than %d MiB", 4*mostValue>>20)
		}
		if !more {
			return string(line), nil
		}
	}
}

// unescape returns a field of a COPY.
func unescape(field string) string {
	if !strings.Contains(field, `\`) {
		return field
	}
	var s []byte
	for i := 0; i < len(field); i++ {
		c := field[i]
		if c == '\\' && i+1 < len(field) {
			i++
			c = field[i]
			if other, ok := escaped[c]; ok && c != '0' && c != 'Z' {
				c = other
			}
		}
		s = append(s, c)
	}
	return string(s)
}
