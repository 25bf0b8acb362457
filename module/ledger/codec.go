package ledger

import (
	"encoding/binary"
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// codec writes the members of a record to bytes, or reads them: one list of members
// serves both ways.
type codec struct {
	bytes   []byte
	version byte // of the record
	reading bool
	failed  bool // the bytes were no record
}

var errRecord = errors.New("the journal has a record that cannot be read")

// recordVersion is the first byte of a record. Members are only added, each with the
// version that has it first.
const recordVersion = 2

// usualSize is about the size of a record with one call, in bytes.
const usualSize = 256

// encodeRecord returns a record as the journal has it.
func encodeRecord(r *aigateway.Record) []byte {
	c := codec{bytes: append(make([]byte, 0, usualSize), recordVersion), version: recordVersion}
	c.record(r)
	return c.bytes
}

// parseRecord reads what encodeRecord has written.
func parseRecord(text []byte) (*aigateway.Record, error) {
	if len(text) == 0 || text[0] < 1 || text[0] > recordVersion {
		return nil, errRecord
	}
	r := new(aigateway.Record)
	c := codec{bytes: text[1:], version: text[0], reading: true}
	c.record(r)
	if c.failed {
		return nil, errRecord
	}
	return r, nil
}

func (c *codec) record(r *aigateway.Record) {
	for _, text := range []*string{&r.Request, &r.Key, &r.User, &r.Limit, &r.Model, &r.Operation, &r.Format, &r.Outcome} {
		c.text(text)
	}
	number(c, &r.Status)
	flag(c, &r.Stream)
	number(c, &r.FirstByte)
	number(c, &r.Duration)
	n := len(r.Calls)
	number(c, &n)
	if c.reading {
		r.Calls = make([]aigateway.Call, max(0, min(n, len(c.bytes)))) // a call has more than one byte
	}
	for i := range r.Calls {
		c.call(&r.Calls[i])
	}
}

func (c *codec) call(call *aigateway.Call) {
	for _, text := range []*string{
		&call.Provider, &call.Model, &call.Answered, &call.Format, &call.Price, &call.Cost.Currency, &call.Held.Currency,
	} {
		c.text(text)
	}
	number(c, &call.Status)
	number(c, &call.Source)
	for _, count := range tokenCounts(&call.Tokens) {
		number(c, count)
	}
	number(c, &call.Cost.Nanos)
	number(c, &call.Held.Nanos)
	if c.version >= 2 {
		number(c, &call.Terms)
	}
}

// tokenCounts returns the counts in the order of the columns of tables.
func tokenCounts(t *aigateway.Tokens) []*int64 {
	return []*int64{&t.Input, &t.CacheRead, &t.CacheWrite, &t.CacheWriteLong, &t.Output, &t.Reasoning, &t.Searches}
}

// longestText is what is written of a text, in bytes: clients choose names of models.
const longestText = 512

func (c *codec) text(text *string) {
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
	*text = string(c.bytes[n : n+int(length)])
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
