package client

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// kinds lists members by the kind of their values, on which clients rely that decode them into
// types. The members of one name have one kind in a format, wherever they are; null is of
// every kind. The names are separated by spaces.
type kinds struct {
	texts, numbers, flags, objects string
	lists                          string // of objects
	free                           string // whatever is in them is of any kind
}

// check checks the kinds of all members of an object.
func (k kinds) check(o Object) error {
	for name, value := range o {
		if value == nil || listed(k.free, name) {
			continue
		}
		if want := k.kindOf(name); want != "" && want != kindOf(value) {
			return fmt.Errorf("%s is %s, not %s", name, kindOf(value), want)
		}
		elements, isList := value.([]any)
		if !isList {
			elements = []any{value}
		}
		for _, element := range elements {
			inner, isObject := element.(Object)
			if !isObject && isList && listed(k.lists, name) {
				return fmt.Errorf("%s has an element that is %s", name, kindOf(element))
			}
			if err := k.check(inner); err != nil {
				return err
			}
		}
	}
	return nil
}

// kindOf returns the kind of a member, "" for any.
func (k kinds) kindOf(name string) string {
	for kind, names := range map[string]string{"a text": k.texts, "a number": k.numbers, "a flag": k.flags, "an object": k.objects, "a list": k.lists} {
		if listed(names, name) {
			return kind
		}
	}
	return ""
}

func listed(names, name string) bool { return slices.Contains(strings.Fields(names), name) }

func kindOf(value any) string {
	switch value := value.(type) {
	case string:
		return "a text"
	case bool:
		return "a flag"
	case Object:
		return "an object"
	case []any:
		return "a list"
	case json.Number:
		if _, err := value.Int64(); err == nil {
			return "a number"
		}
	}
	return "something else"
}
