package answer

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// details are the reasoning_details of a choice: its reasoning as the provider wants it back with
// the calls that follow from it, with signatures and encrypted parts.
type details struct {
	all  []detail
	size int // of what was read, in bytes
}

// detail contains the members of an element.
type detail []detailMember

type detailMember struct {
	name, value []byte // raw
}

// add adds the elements of a message or a delta. The fragments of a text become one element,
// since its signature is that of the whole text.
func (d *details) add(list []byte) {
	if d.size += len(list); d.size > seal.MaxRemembered {
		return
	}
	c := jsonscan.Again(list)
	for c.EnterArray(); c.Element(); {
		element := c.Skip()
		last := len(d.all) - 1
		if last < 0 || !d.all[last].isContinuedBy(element) {
			d.all = append(d.all, nil)
			last++
		}
		for name, value := range jsonscan.Members(element) {
			d.all[last].join(name, value)
		}
	}
}

// isContinuedBy reports whether an element is another fragment of d: it has nothing of which d
// has another value, and no text behind the signature. Encrypted elements are whole.
func (d detail) isContinuedBy(element []byte) bool {
	for name, value := range jsonscan.Members(element) {
		own := d.member(name)
		switch string(name) {
		case "type", "index", "id":
			if !jsonscan.Blank(own) && !jsonscan.Blank(value) && !bytes.Equal(own, value) {
				return false
			}
		case "data":
			return false
		case "text", "summary":
			if !jsonscan.Blank(value) && !jsonscan.Blank(d.member([]byte("signature"))) {
				return false
			}
		}
	}
	return true
}

// member returns the value of a member, nil for none.
func (d detail) member(name []byte) []byte {
	for i := range d {
		if bytes.Equal(d[i].name, name) {
			return d[i].value
		}
	}
	return nil
}

// join adds a member of a fragment: a text behind the text so far, and any other value in place of
// that of an earlier fragment, unless it is blank.
func (d *detail) join(name, value []byte) {
	for i := range *d {
		m := &(*d)[i]
		if !bytes.Equal(m.name, name) {
			continue
		}
		isText := string(name) == "text" || string(name) == "summary"
		switch {
		case jsonscan.Blank(value):
		case isText && jsonscan.IsString(m.value) && jsonscan.IsString(value):
			m.value = append(m.value[:len(m.value)-1], value[1:]...)
		default:
			m.value = bytes.Clone(value)
		}
		return
	}
	*d = append(*d, detailMember{bytes.Clone(name), bytes.Clone(value)})
}

// list returns the elements as JSON, nil for none and for those that are too long to be
// remembered.
func (d *details) list() []byte {
	if len(d.all) == 0 || d.size > seal.MaxRemembered {
		return nil
	}
	var list []byte
	for _, element := range d.all {
		list = append(list, ',', '{')
		for i, m := range element {
			if i > 0 {
				list = append(list, ',')
			}
			list = append(append(append(append(list, '"'), m.name...), `":`...), m.value...)
		}
		list = append(list, '}')
	}
	list[0] = '['
	return append(list, ']')
}
