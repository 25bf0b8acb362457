package ledger

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// codec encodes the fields of a record, or decodes them. It has one list of fields for
// both directions.
type codec struct {
	bytes   []byte
	reading bool
	failed  bool // the bytes are not a record

	interned internedNames // for decoded names
}

// internedNames contains one string for each name, which many records share. If it is nil,
// every record gets a string of its own.
type internedNames map[string]string

// text returns the shared string of a name.
func (i internedNames) text(name []byte) string {
	if text, ok := i[string(name)]; ok {
		return text
	}
	text := string(name)
	if i == nil {
		return text
	}
	if len(i) >= maxNames {
		clear(i)
	}
	i[text] = text
	return text
}

var errRecord = errors.New("the record cannot be decoded")

// recordVersion is the first byte of a record. It changes if an earlier version of the
// gateway, which may use the same database, could not read the record. New fields are at the
// end, in additions, which earlier versions ignore.
const recordVersion = 2

// appendRecord appends an encoded record.
func appendRecord(dst []byte, r *accounting.Record) []byte {
	c := codec{bytes: append(dst, recordVersion)}
	c.record(r)
	return c.bytes
}

// parseRecord decodes a record.
func parseRecord(text []byte) (*accounting.Record, error) {
	r := new(accounting.Record)
	return r, readRecord(r, text, nil)
}

// readRecord decodes a record into r. It overwrites all fields except ID and Admitted.
func readRecord(r *accounting.Record, text []byte, interned internedNames) error {
	if len(text) == 0 || text[0] != recordVersion {
		return errRecord
	}
	c := codec{bytes: text[1:], reading: true, interned: interned}
	c.record(r)
	if c.failed {
		return errRecord
	}
	return nil
}

func (c *codec) record(r *accounting.Record) {
	c.text(&r.Request, nil)
	for _, name := range recordNames(r) {
		c.text(name, c.interned)
	}
	number(c, &r.Status)
	flag(c, &r.Stream)
	number(c, &r.FirstByte)
	number(c, &r.Duration)
	length(c, &r.Calls, leastCall)
	previous := new(accounting.Call)
	for i := range r.Calls {
		c.call(&r.Calls[i], previous)
		previous = &r.Calls[i]
	}
	c.additions(r)
}

// addition is a part of a record that most records lack.
type addition int

// The additions, in their order.
const (
	addedCourse addition = iota // attempts, losses, guards and labels
	addedUnits
	addedBatch
	addedReason
	addedAudio
	addedSaved
	addedChoice
	allAdditions // number of additions
)

// additions encodes or decodes the fields that not all records have. Behind the last one that is not
// empty, nothing is written: most exchanges have one attempt, which answers, and no tags.
func (c *codec) additions(r *accounting.Record) {
	written := allAdditions
	for !c.reading && written > 0 && isEmpty(r, written-1) {
		written--
	}
	for a := range written {
		if c.reading && len(c.bytes) == 0 {
			clearAddition(r, a)
		} else {
			c.addition(r, a)
		}
	}
}

// isEmpty reports whether a record lacks an addition.
func isEmpty(r *accounting.Record, a addition) bool {
	switch a {
	case addedUnits:
		return !slices.ContainsFunc(r.Calls, func(c accounting.Call) bool { return c.Units != token.Units{} })
	case addedBatch:
		return r.Batch == accounting.BatchCounts{}
	case addedReason:
		return r.Reason == ""
	case addedAudio:
		return !slices.ContainsFunc(r.Calls, func(c accounting.Call) bool { return c.Units.AudioTokens != token.MediaTokens{} })
	case addedSaved:
		return !slices.ContainsFunc(r.Calls, func(c accounting.Call) bool { return c.Saved != 0 })
	case addedChoice:
		return r.Choice == ""
	}
	return len(r.Attempts)+len(r.Losses)+len(r.AnswerLosses)+len(r.Unchecked)+len(r.Tags)+len(r.Customer) == 0
}

// clearAddition empties an addition of a record that is decoded over an earlier one.
func clearAddition(r *accounting.Record, a addition) {
	switch a {
	case addedCourse:
		r.Attempts, r.Losses, r.AnswerLosses, r.Unchecked, r.Tags, r.Customer = nil, nil, nil, nil, nil, ""
	case addedBatch:
		r.Batch = accounting.BatchCounts{}
	case addedReason:
		r.Reason = ""
	case addedChoice:
		r.Choice = ""
	}
	for i := range r.Calls {
		switch call := &r.Calls[i]; a {
		case addedUnits:
			call.Units = token.Units{}
		case addedAudio:
			call.Units.AudioTokens = token.MediaTokens{}
		case addedSaved:
			call.Saved = 0
		}
	}
}

// addition encodes or decodes an addition.
func (c *codec) addition(r *accounting.Record, a addition) {
	switch a {
	case addedCourse:
		c.course(r)
	case addedBatch:
		for _, n := range [...]*int64{&r.Batch.Succeeded, &r.Batch.Errored, &r.Batch.Canceled, &r.Batch.Expired} {
			number(c, n)
		}
	case addedReason:
		c.text(&r.Reason, c.interned)
	case addedChoice:
		c.text(&r.Choice, c.interned)
	}
	for i := range r.Calls {
		switch call := &r.Calls[i]; a {
		case addedUnits:
			c.units(&call.Units)
		case addedAudio:
			c.media(&call.Units.AudioTokens)
		case addedSaved:
			number(c, &call.Saved)
		}
	}
}

// course encodes or decodes the attempts of a record, what was left out, and its labels.
func (c *codec) course(r *accounting.Record) {
	length(c, &r.Attempts, leastAttempt)
	previous := new(accounting.Attempt)
	for i := range r.Attempts {
		c.attempt(&r.Attempts[i], previous)
		previous = &r.Attempts[i]
	}
	for _, names := range [...]*[]string{&r.Losses, &r.AnswerLosses, &r.Unchecked} {
		length(c, names, 1)
		for i := range *names {
			c.text(&(*names)[i], c.interned)
		}
	}
	length(c, &r.Tags, 2)
	for i := range r.Tags {
		c.text(&r.Tags[i].Name, c.interned)
		c.text(&r.Tags[i].Value, c.interned)
	}
	c.text(&r.Customer, c.interned)
}

// units encodes or decodes the units of a call, except for its tokens of sound.
func (c *codec) units(u *token.Units) {
	for _, n := range [...]*int64{&u.Images, &u.Seconds, &u.Characters, &u.Queries} {
		number(c, n)
	}
	c.media(&u.ImageTokens)
	flag(c, &u.Counted)
	flag(c, &u.Measured)
}

// media encodes or decodes the tokens of a medium.
func (c *codec) media(n *token.MediaTokens) {
	for _, n := range [...]*int32{&n.Input, &n.CacheRead, &n.Output} {
		number(c, n)
	}
}

// length encodes or decodes the number of elements, which follow. Each takes at least so many
// bytes, which bounds the memory for decoded ones.
func length[T any](c *codec, elements *[]T, least int) {
	n := len(*elements)
	number(c, &n)
	switch {
	case !c.reading:
	case n < 0 || n > len(c.bytes)/least:
		c.fail()
		*elements = nil
	default:
		*elements = slices.Grow((*elements)[:0], n)[:n]
	}
}

// leastCall is the length of a call without texts and numbers, in bytes. It bounds the
// memory for calls, which is about 14 times as large.
const leastCall = 19

// call encodes or decodes a call. previous is the call before it.
func (c *codec) call(call, previous *accounting.Call) {
	known := callNames(previous)
	for i, name := range callNames(call) {
		c.textAgain(name, *known[i])
	}
	number(c, &call.Status)
	number(c, &call.Source)
	for _, count := range tokenCounts(&call.Tokens) {
		number(c, count)
	}
	number(c, &call.Cost.Nanos)
	number(c, &call.Held.Nanos)
	c.terms(call)
}

// terms encodes or decodes the terms of a call, and why it ended and the source of its cost in the
// bits above, which earlier versions ignore.
func (c *codec) terms(call *accounting.Call) {
	const finishBits, sourceBits = 16, 32
	all := int64(call.Terms) | int64(call.Finish)<<finishBits | int64(call.CostSource)<<sourceBits
	number(c, &all)
	call.Terms, call.Finish, call.CostSource = token.Terms(all), accounting.Finish(all>>finishBits), accounting.CostSource(all>>sourceBits)
}

// leastAttempt is the length of an attempt without texts and numbers, in bytes.
const leastAttempt = 6

func (c *codec) attempt(a, previous *accounting.Attempt) {
	c.textAgain(&a.Provider, previous.Provider)
	c.textAgain(&a.Model, previous.Model)
	c.textAgain(&a.Format, previous.Format)
	c.textAgain(&a.End, previous.End)
	number(c, &a.Status)
	number(c, &a.Duration)
}

// recordNames returns the texts of a record that many records share.
func recordNames(r *accounting.Record) [7]*string {
	return [...]*string{&r.Key, &r.User, &r.Limit, &r.Model, &r.Operation, &r.Format, &r.Outcome}
}

// callNames returns the texts of a call, all of which many calls share.
func callNames(c *accounting.Call) [7]*string {
	return [...]*string{&c.Provider, &c.Model, &c.Answered, &c.Format, &c.Price, &c.Cost.Currency, &c.Held.Currency}
}

// tokenCounts returns the counts in the order of the columns of gateway_usage.
func tokenCounts(t *token.Counts) [7]*int64 {
	return [...]*int64{&t.Fresh, &t.CacheRead, &t.CacheWrite, &t.CacheWriteLong, &t.Answer, &t.Reasoning, &t.Searches}
}

// maxText is the size in bytes to which texts are cut: clients choose names of models.
const maxText = 512

func (c *codec) text(text *string, interned internedNames) {
	if !c.reading {
		written := (*text)[:min(len(*text), maxText)]
		c.bytes = binary.AppendUvarint(c.bytes, uint64(len(written)))
		c.bytes = append(c.bytes, written...)
		return
	}
	length, n := binary.Uvarint(c.bytes)
	if n <= 0 || length > uint64(min(maxText, len(c.bytes)-n)) {
		c.fail()
		return
	}
	read := c.bytes[n : n+int(length)]
	if *text != string(read) { // often it is the text of the previous record
		*text = interned.text(read)
	}
	c.bytes = c.bytes[n+int(length):]
}

// repeatMark is written instead of the length of a text that the call before has, too. The calls
// of a fan-out differ in their numbers alone, and a record with many calls must fit into an
// entry of the journal.
const repeatMark = maxText + 1

// textAgain encodes or decodes a text of a call. previous is that of the call before it.
func (c *codec) textAgain(text *string, previous string) {
	if !c.reading {
		if len(previous) > 2 && *text == previous {
			c.bytes = binary.AppendUvarint(c.bytes, repeatMark)
			return
		}
		c.text(text, nil)
		return
	}
	if length, n := binary.Uvarint(c.bytes); length == repeatMark && n > 0 {
		*text, c.bytes = previous, c.bytes[n:]
		return
	}
	c.text(text, c.interned)
}

func (c *codec) fail() { c.bytes, c.failed = nil, true }

// number encodes or decodes a field that is a number.
func number[T ~int | ~int32 | ~int64 | ~uint8](c *codec, field *T) {
	if !c.reading {
		c.bytes = binary.AppendVarint(c.bytes, int64(*field))
		return
	}
	value, n := binary.Varint(c.bytes)
	if n <= 0 {
		c.fail()
		return
	}
	*field = T(value)
	c.bytes = c.bytes[n:]
}

// flag encodes or decodes a field that is a bool.
func flag(c *codec, field *bool) {
	n := integer(*field)
	number(c, &n)
	*field = n != 0
}
