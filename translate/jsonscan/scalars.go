package jsonscan

import (
	"bytes"
	"iter"
	"reflect"
)

// Scalars returns an iterator over the raw strings and numbers in the value at a slot of a
// document that a cursor has read: the name of the innermost member that contains each, nil
// for none, and its slot. Names of members are not among the strings.
func Scalars(document []byte, slot Slot) iter.Seq2[[]byte, Slot] {
	return func(yield func([]byte, Slot) bool) {
		if slot.Start < slot.End {
			eachScalar(document[:slot.End], slot.Start, nil, nil, yield)
		}
	}
}

// Leaves is Scalars with the names of members among the strings, for which isName is true.
func Leaves(document []byte, slot Slot) iter.Seq2[bool, Slot] {
	return func(yield func(isName bool, slot Slot) bool) {
		if slot.Start < slot.End {
			onName := func(slot Slot) bool { return yield(true, slot) }
			eachScalar(document[:slot.End], slot.Start, nil, onName, func(_ []byte, slot Slot) bool { return yield(false, slot) })
		}
	}
}

// SlotOf returns the position of a part of a document that a cursor or Scalars has returned. ok
// is false for bytes that are no slice of the document. Parts have no capacity beyond their
// ends, so that only their addresses show where they are.
func SlotOf(document, part []byte) (slot Slot, ok bool) {
	first, start := reflect.ValueOf(document).Pointer(), reflect.ValueOf(part).Pointer()
	if len(part) == 0 || start < first || start-first > uintptr(len(document)-len(part)) {
		return Slot{}, false
	}
	i := int(start - first)
	return Slot{Start: i, End: i + len(part)}, true
}

// eachScalar yields the strings and numbers of the value at i, and returns its end, len(data)
// after the last one. It calls onName for the names, unless it is nil.
func eachScalar(data []byte, i int, name []byte, onName func(Slot) bool, yield func([]byte, Slot) bool) (end int) {
	switch kinds[data[i]] {
	case String, Number:
		end, _ = new(Texts).knownEnd(data, i)
		if !yield(name, Slot{Start: i, End: end}) {
			return len(data)
		}
		return end
	case Array, Object:
	default:
		end, _ = new(Texts).knownEnd(data, i)
		return end
	}
	isObject := data[i] == '{'
	for i = spaceEnd(data, i+1); i < len(data) && data[i] != '}' && data[i] != ']'; {
		if data[i] == ',' {
			i = spaceEnd(data, i+1)
			continue
		}
		if isObject {
			end, _ = knownStringEnd(data, i)
			if onName != nil && !onName(Slot{Start: i, End: end}) {
				return len(data)
			}
			if name = unquoted(data[i:end]); bytes.IndexByte(name, '\\') >= 0 {
				name = appendDecoded(nil, name)
			}
			if i = spaceEnd(data, spaceEnd(data, end)+len(":")); i >= len(data) {
				return len(data)
			}
		}
		i = spaceEnd(data, eachScalar(data, i, name, onName, yield))
	}
	return min(i+1, len(data))
}
