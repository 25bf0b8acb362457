package jsonscan

// Text consumes a string and returns it decoded. The text is a slice of the
// source if it has no escapes, else it is valid until the next call of Text.
// If the value is no string, ok is false and nothing is consumed.
func (c *Cursor) Text() (text []byte, ok bool) {
	raw, escaped, ok := c.string()
	if !ok {
		return nil, false
	}
	text = unquoted(raw)
	if escaped {
		c.textBuf = appendDecoded(c.textBuf[:0], text)
		text = c.textBuf
	}
	return text, true
}

// RawString consumes a string and returns it as it is written, with its quotes.
// If the value is no string, ok is false and nothing is consumed.
func (c *Cursor) RawString() (raw []byte, ok bool) {
	raw, _, ok = c.string()
	return raw, ok
}

// StringOrSkip consumes a value and returns it as it is written if it is a string,
// nil for a value of another kind.
func (c *Cursor) StringOrSkip() []byte {
	raw, ok := c.RawString()
	if !ok {
		c.Skip()
	}
	return raw
}

// TypeAhead returns the raw member "type" of the object at the cursor if it is a string,
// and consumes nothing: the meaning of the other members often depends on the type.
func (c Cursor) TypeAhead() []byte {
	c.EnterObject()
	for c.Member() {
		if string(c.name.text) == "type" {
			return c.StringOrSkip()
		}
		c.Skip()
	}
	return nil
}

// Number consumes a number and returns it raw. If the value is not a number, ok is false
// and nothing is consumed.
func (c *Cursor) Number() (raw []byte, ok bool) {
	if c.Kind() != Number {
		return nil, false
	}
	end, reason := numberEnd(c.at.data, c.at.pos)
	return c.at.consume(end, reason)
}

// Int consumes a number and returns its value if it is integral, in whatever notation
// (16, 16.0, 1.6e1). exact is false, and n 0, if it is not integral or beyond 64 bits. If
// the value is not a number, ok is false and nothing is consumed.
func (c *Cursor) Int() (n int64, exact, ok bool) {
	raw, ok := c.Number()
	if !ok {
		return 0, false, false
	}
	n, exact = ParseInt(raw)
	return n, exact, true
}

// Bool consumes a boolean and returns its value. If the value is not a boolean, ok is
// false and nothing is consumed.
func (c *Cursor) Bool() (v, ok bool) {
	if c.Kind() != Bool {
		return false, false
	}
	raw, ok := c.at.consume(literalEnd(c.at.data, c.at.pos))
	return len(raw) == len("true"), ok
}

// Null consumes a null. If the value is not null, it returns false and consumes nothing.
func (c *Cursor) Null() bool {
	if c.Kind() != Null {
		return false
	}
	_, ok := c.at.consume(literalEnd(c.at.data, c.at.pos))
	return ok
}

// string consumes a string with its quotes.
func (c *Cursor) string() (raw []byte, escaped, ok bool) {
	if c.Kind() != String {
		return nil, false, false
	}
	end, escaped, reason := c.strings.end(c.at.data, c.at.pos)
	raw, ok = c.at.consume(end, reason)
	return raw, escaped, ok
}

// unquoted returns a raw string without its quotes. Appending to it does not write
// into the source.
func unquoted(raw []byte) []byte { return raw[1 : len(raw)-1 : len(raw)-1] }
