package rows

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// mostValue is the largest size of a value of a dump that is read, in bytes.
const mostValue = 4 << 20

var errValue = fmt.Errorf("a value of the dump has more than %d MiB", mostValue>>20)

// kind is what a token is.
type kind int

const (
	end    kind = iota // of the dump
	word               // a name or a number
	name               // a name within quotes
	text               // a string
	symbol             // one character
)

// token is a part of a statement.
type token struct {
	kind kind
	text string
}

// is reports whether a token is a word, in any letter case, or a symbol.
func (t token) is(s string) bool {
	return (t.kind == word || t.kind == symbol) && strings.EqualFold(t.text, s)
}

// lexer splits a dump into tokens.
type lexer struct {
	reader  *bufio.Reader
	escapes bool // strings have escapes with a backslash, as in MySQL
	skip    bool // the values of strings are not needed
}

// next returns the next token.
func (l *lexer) next() (token, error) {
	c, err := l.start()
	switch {
	case errors.Is(err, io.EOF):
		return token{}, nil
	case err != nil:
		return token{}, err
	case c == '\'':
		s, err := l.quoted('\'', l.escapes)
		return token{text, s}, err
	case c == '"' || c == '`':
		s, err := l.quoted(c, false)
		return token{name, s}, err
	case c == '$':
		return l.dollar()
	case !wordByte(c):
		return token{symbol, string(c)}, nil
	}
	return l.word(c)
}

// word returns a word that begins with a byte, or the string behind a prefix such as E or X.
func (l *lexer) word(first byte) (token, error) {
	all := []byte{first}
	for {
		c, err := l.reader.ReadByte()
		if errors.Is(err, io.EOF) {
			return token{word, string(all)}, nil
		}
		if err != nil {
			return token{}, err
		}
		if c == '\'' && len(all) == 1 && strings.ContainsRune("EeXxBbNn", rune(first)) {
			s, err := l.quoted(c, l.escapes || first|0x20 == 'e')
			if raw, hexErr := hex.DecodeString(s); first|0x20 == 'x' && hexErr == nil {
				s = string(raw)
			}
			return token{text, s}, err
		}
		if !wordByte(c) {
			return token{word, string(all)}, l.reader.UnreadByte()
		}
		if all = append(all, c); len(all) > mostValue {
			return token{}, errValue
		}
	}
}

func wordByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c >= 0x80 || strings.IndexByte("_.+-@:", c) >= 0
}

// start returns the first byte of the next token, behind blanks and comments.
func (l *lexer) start() (byte, error) {
	for {
		c, err := l.reader.ReadByte()
		if err != nil {
			return 0, err
		}
		next, _ := l.reader.Peek(1) // nothing at the end
		switch {
		case strings.IndexByte(" \t\r\n\f\v", c) >= 0:
		case c == '#', c == '-' && string(next) == "-":
			err = l.until("\n")
		case c == '/' && string(next) == "*":
			err = l.until("*/")
		default:
			return c, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// until skips up to the end of a text.
func (l *lexer) until(s string) error {
	var last []byte
	for {
		c, err := l.reader.ReadByte()
		if err != nil {
			return err
		}
		if last = append(last, c); len(last) > len(s) {
			last = last[1:]
		}
		if string(last) == s {
			return nil
		}
	}
}

// dollar skips a string of PostgreSQL such as $$…$$, which functions have.
func (l *lexer) dollar() (token, error) {
	tag, err := l.reader.ReadString('$')
	if err != nil || len(tag) > 64 || strings.ContainsAny(tag, " \n'") {
		return token{}, errors.New("reading the dump: a string with $ does not end")
	}
	return token{kind: text}, l.until("$" + tag)
}

// escaped are the characters behind a backslash that are another one.
var escaped = map[byte]byte{'0': 0, 'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f', 'v': '\v', 'Z': 26}

// quoted returns the rest of a string, in which the quote may be doubled.
func (l *lexer) quoted(quote byte, escapes bool) (string, error) {
	var s []byte
	for {
		c, err := l.reader.ReadByte()
		if err != nil {
			return "", errors.New("reading the dump: a string does not end")
		}
		if c == '\\' && escapes {
			if c, err = l.reader.ReadByte(); err != nil {
				continue // the next read returns the error, too
			}
			if other, ok := escaped[c]; ok {
				c = other
			}
		} else if c == quote {
			if next, _ := l.reader.Peek(1); len(next) == 0 || next[0] != quote {
				return string(s), nil
			}
			_, _ = l.reader.Discard(1) // it was peeked
		}
		if l.skip {
			continue
		}
		if s = append(s, c); len(s) > mostValue {
			return "", errValue
		}
	}
}
