// Package rows reads tables of other products: from PostgreSQL, from a file of SQLite, or from
// a dump of PostgreSQL, MySQL, MariaDB or SQLite as SQL.
//
// It promises that a row has the same members from each of these, that it reads within bounds,
// and that nothing is changed. A database is read as of one moment.
//
// It refuses to run the statements of a dump. Its errors contain neither a DSN nor a value.
package rows

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
)

// Tables are the rows of tables by their names. Each row is an object in JSON; columns that a
// version does not have are absent members. A table that does not exist has no entry.
type Tables map[string][]json.RawMessage

// maxSize is the largest size of all rows together, in bytes.
const maxSize = 256 << 20

var errMost = fmt.Errorf("the rows have more than %d MiB", maxSize>>20)

// book collects the rows of some tables.
type book struct {
	tables Tables
	size   int
}

// add adds a row.
func (b *book) add(table string, row map[string]any) error {
	text, err := json.Marshal(row)
	if err != nil {
		return fmt.Errorf("reading a row of %s: %w", table, err)
	}
	return b.addText(table, text)
}

func (b *book) addText(table string, text json.RawMessage) error {
	if b.size += len(text); b.size > maxSize {
		return errMost
	}
	b.tables[table] = append(b.tables[table], text)
	return nil
}

// Query reads tables with these names from a PostgreSQL database.
func Query(ctx context.Context, dsn string, names ...string) (Tables, error) {
	b := &book{tables: Tables{}}
	return b.tables, b.postgres(ctx, dsn, names)
}

// Open opens a source. It refuses what is no file, such as a pipe, whose end may never come.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", path)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the source: %w", err)
	}
	return os.Open(path)
}

// File reads tables with these names from a database of SQLite, or from a dump.
func File(ctx context.Context, path string, names ...string) (Tables, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b := &book{tables: Tables{}}
	reader := bufio.NewReaderSize(file, 64<<10)
	beginning, _ := reader.Peek(4096) // a short file is a dump
	if bytes.HasPrefix(beginning, []byte("SQLite format 3\x00")) {
		return b.tables, b.sqlite(ctx, path, names)
	}
	if bytes.IndexByte(beginning, 0) >= 0 {
		return nil, errors.New("the source is neither a database of SQLite nor a dump as SQL: use pg_dump without --format")
	}
	err = b.dump(reader, hasEscapes(beginning), names)
	return b.tables, err
}

var (
	withoutEscapes = regexp.MustCompile(`^(\s|--\n)*(-- PostgreSQL |PRAGMA )`)
	withEscapes    = regexp.MustCompile("(?m)^(-- (MySQL|MariaDB) dump |/\\*M?!|CREATE TABLE [^\n(]*`|INSERT INTO `)")
)

// hasEscapes reports whether strings of a dump have escapes with a backslash, as in MySQL. A
// wrong answer would let the text of a value end its string, so the first line decides, which
// no value can have written.
func hasEscapes(beginning []byte) bool {
	return !withoutEscapes.Match(beginning) && withEscapes.Match(beginning)
}
