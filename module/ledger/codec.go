package ledger

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// codec writes the members of a record to bytes, or reads them: one list of members
// serves both ways.
type codec struct {
	bytes   []byte
	reading bool
	failed  bool // the bytes were no record

	shared sharedNames // for names that are read
}

// sharedNames are names, which many records have: each is one string for all of them.
// Nil shares none.
type sharedNames map[string]string

// of returns the string of a name.
func (s sharedNames) of(name []byte) string {
	if shared, ok := s[string(name)]; ok {
		return shared
	}
	text := string(name)
	if s == nil {
		return text
	}
	if len(s) >= mostNames {
		clear(s)
	}
	s[text] = text
	return text
}

var errRecord = errors.New("the journal has a record that cannot be read")

// recordVersion is the first byte of a record. It changes with the members of records.
const recordVersion = 2

// appendRecord appends a record as the journal has it.
func appendRecord(dst []byte, r *aigateway.Record) []byte {
	c := codec{bytes: append(dst, recordVersion)}
	c.record(r)
	return c.bytes
}

// parseRecord returns what appendRecord has written.
func parseRecord(text []byte) (*aigateway.Record, error) {
	r := &aigateway.Record{Calls: []aigateway.Call{}}
	return r, readRecord(r, text, nil)
}

// readRecord reads what appendRecord has written into a record, over all that it has but
// its ID and its time.
func readRecord(r *aigateway.Record, text []byte, shared sharedNames) error {
	if len(text) == 0 || text[0] != recordVersion {
		return errRecord
	}
	c := codec{bytes: text[1:], reading: true, shared: shared}
	c.record(r)
	if c.failed {
		return errRecord
	}
	return nil
}

func (c *codec) record(r *aigateway.Record) {
	c.text(&r.Request, nil)
	for _, name := range recordNames(r) {
		c.text(name, c.shared)
	}
	number(c, &r.Status)
	flag(c, &r.Stream)
	number(c, &r.FirstByte)
	number(c, &r.Duration)
	n := len(r.Calls)
	number(c, &n)
	if c.reading {
		n = max(0, min(n, len(c.bytes))) // a call has more than one byte
		r.Calls = slices.Grow(r.Calls[:0], n)[:n]
	}
	for i := range r.Calls {
		c.call(&r.Calls[i])
	}
}

func (c *codec) call(call *aigateway.Call) {
	for _, name := range callNames(call) {
		c.text(name, c.shared)
	}
	number(c, &call.Status)
	number(c, &call.Source)
	for _, count := range tokenCounts(&call.Tokens) {
		number(c, count)
	}
	number(c, &call.Cost.Nanos)
	number(c, &call.Held.Nanos)
	number(c, &call.Terms)
}

// recordNames returns the texts of a record that many records have.
func recordNames(r *aigateway.Record) [7]*string {
	return [...]*string{&r.Key, &r.User, &r.Limit, &r.Model, &r.Operation, &r.Format, &r.Outcome}
}

// callNames returns the texts of a call.
func callNames(c *aigateway.Call) [7]*string {
	return [...]*string{&c.Provider, &c.Model, &c.Answered, &c.Format, &c.Price, &c.Cost.Currency, &c.Held.Currency}
}

// tokenCounts returns the counts in the order of the columns of tables.
func tokenCounts(t *aigateway.Tokens) [7]*int64 {
	return [...]*int64{&t.Input, &t.CacheRead, &t.CacheWrite, &t.CacheWriteLong, &t.Output, &t.Reasoning, &t.Searches}
}

// longestText is what is written of a text, in bytes: clients choose names of models.
const longestText = 512

func (c *codec) text(text *string, shared sharedNames) {
	if !c.reading {
		written := (*text)[:min(len(*text), longestText)]
		c.bytes = binary.AppendUvarint(c.bytes, uint64(len(written)))
		c.bytes = append(c.bytes, written...)
		return
	}
	length, n := binary.Uvarint(c.bytes)
	if n <= 0 || length > uint64(len(c.bytes)-n) {
		c.fail()
		return
	}
	read := c.bytes[n : n+int(length)]
	if *text != string(read) { // often, it is that of the record before
		*text = shared.of(read)
	}
	c.bytes = c.bytes[n+int(length):]
}

func (c *codec) fail() { c.bytes, c.failed = nil, true }

// number writes or reads a member that is a number.
func number[T ~int | ~int64 | ~uint8](c *codec, member *T) {
	if !c.reading {
		c.bytes = binary.AppendVarint(c.bytes, int64(*member))
		return
	}
	value, n := binary.Varint(c.bytes)
	if n <= 0 {
		c.fail()
		return
	}
	*member = T(value)
	c.bytes = c.bytes[n:]
}

func flag(c *codec, member *bool) {
	n := 0
	if *member {
		n = 1
	}
	number(c, &n)
	*member = n != 0
}
