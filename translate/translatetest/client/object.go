package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Object is a JSON object whose numbers keep their digits.
type Object = map[string]any

// Decode decodes a document that is one JSON object.
func Decode(data []byte) (Object, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var o Object
	if err := decoder.Decode(&o); err != nil {
		return nil, fmt.Errorf("decoding %q: %w", data, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more than one value: %q", data)
	}
	return o, nil
}

// text returns a member that is a string.
func text(o Object, name string) string {
	s, _ := o[name].(string)
	return s
}

// object returns a member that is an object.
func object(o Object, name string) Object {
	inner, _ := o[name].(Object)
	return inner
}

// list returns a member that is an array.
func list(o Object, name string) []any {
	inner, _ := o[name].([]any)
	return inner
}

// number returns a member that is an integer, -1 for none.
func number(o Object, name string) int {
	n, _ := o[name].(json.Number)
	i, err := n.Int64()
	if err != nil {
		return -1
	}
	return int(i)
}

// counts checks that all numbers of a usage object are integers of at least 0.
func counts(value any) error {
	switch v := value.(type) {
	case Object:
		for name, member := range v {
			if err := counts(member); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	case json.Number:
		if n, err := v.Int64(); err != nil || n < 0 {
			return fmt.Errorf("%s is no count", v)
		}
	}
	return nil
}
