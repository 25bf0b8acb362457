package core

import (
	"bytes"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Members are the members of a JSON object that is being written, separated by
// commas.
type Members []byte

// Name appends the name of a member, whose value follows.
func (m *Members) Name(name string) {
	*m = append(append(append(*m, `,"`...), name...), `":`...)
}

// Raw appends a member with a raw value.
func (m *Members) Raw(name string, raw []byte) {
	m.Name(name)
	*m = append(*m, raw...)
}

// Named appends a member with a decoded name of the client's and a raw value.
func (m *Members) Named(name, value []byte) {
	*m = jsonscan.AppendString(append(*m, ','), name)
	*m = append(append(*m, ':'), value...)
}

// Has reports whether there is a member with a name that needs no escapes.
func (m Members) Has(name string) bool {
	if !bytes.Contains(m, []byte(`,"`+name+`":`)) { // else it may be in a value
		return false
	}
	object := append(append([]byte{'{'}, m[1:]...), '}')
	return jsonscan.MemberOf(object, name) != nil
}

// Number appends a member with a number.
func (m *Members) Number(name string, n int64) {
	m.Name(name)
	*m = strconv.AppendInt(*m, n, 10)
}

// Word appends a member with a text that needs no escapes.
func (m *Members) Word(name, word string) {
	m.Name(name)
	*m = append(append(append(*m, '"'), word...), '"')
}

// Option appends a member with the value of an option, if the request has the option.
func (m *Members) Option(name string, o *Option) {
	if o.Raw != nil {
		m.Raw(name, o.Raw)
	}
}
