package core

import (
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// objects are the objects of requests, as the names of the rows describe them: a row about
// messages[*].content[*].text says that messages are objects with the member content, whose
// elements are objects with the member text.
type objects struct {
	index  string             // any index, as paths write it
	byPath map[string]*object // an element of an array has the index at its end
	snake  bool               // members are written in snake case as well
}

// object is one of them.
type object struct {
	table   *strict.Table
	members []strict.Member
	values  map[string]*value
	order   []string // the names of the values
	types   strict.Types
}

// value is what the rows say of the value of a member.
type value struct {
	rowMember
	objects *object // the value, or the elements of an array; nil for none
}

// member returns what is known of the member at a path.
func (all *objects) member(path string) (*object, *value) {
	outer, name := cutMember(path)
	o := all.at(outer)
	if o.values[name] == nil {
		o.values[name] = new(value)
		o.order = append(o.order, name)
		o.members = append(o.members, strict.Member{Name: name})
	}
	return o, o.values[name]
}

// at returns the object at a path.
func (all *objects) at(path string) *object {
	if o := all.byPath[path]; o != nil {
		return o
	}
	o := &object{table: new(strict.Table), values: make(map[string]*value)}
	all.byPath[path] = o
	if path != "" {
		_, v := all.member(strings.TrimSuffix(path, all.index))
		v.objects = o
	}
	return o
}

// add adds the members that the name of a row contains. Names with conditions are those of
// decisions. A hint without a concept documents a member that is lost as an unknown one is.
func (all *objects) add(r *Row, indices []string) {
	path := r.path()
	for _, index := range indices {
		if strings.Contains(path+".", index+".") {
			return
		}
	}
	ignored := r.Concept == Nothing && r.Lost == Hinted && r.path() == r.Name && !r.member.described()
	if ignored || strings.Contains(r.Name, "+") || path == "*" || strings.HasSuffix(path, ".*") {
		return
	}
	path = strings.TrimSuffix(path, all.index)
	o, v := all.member(path)
	v.merge(&r.member)
	_, name := cutMember(path)
	if r.member.need != nil || r.member.types != "" {
		o.members = append(o.members, strict.Member{Name: name, Types: r.member.types, Need: r.member.need})
	}
	if (name == "type" || name == "role") && r.value != "" && translate.PlainName(r.value) {
		o.addType(name, r)
	}
}

// addType adds the type of objects whose member states it. The role of a message is its type,
// unless the message has a type beside it.
func (o *object) addType(member string, r *Row) {
	switch o.types.Member {
	case member:
	case "type":
		return
	default:
		o.types = strict.Types{Member: member}
	}
	if !slices.Contains(o.types.Names, r.value) {
		o.types.Names = append(o.types.Names, r.value)
	}
	if r.member.untyped {
		o.types.Absent, o.types.Beside = r.value, r.member.companion
	}
}

// build completes the tables of all objects but the request itself.
func (all *objects) build() {
	for path, o := range all.byPath {
		if path == "" {
			continue
		}
		*o.table = *strict.NewTable(o.types, o.members...)
		for i, name := range o.table.Names() {
			v := o.values[name]
			o.table.Check(i, v.check, all.of(v), v.types)
		}
	}
}

// of returns the table of the objects in a value, nil for none.
func (all *objects) of(v *value) *strict.Table {
	switch {
	case v.pattern != "":
		return all.byPath[v.pattern].table
	case v.objects != nil:
		return v.objects.table
	}
	return nil
}

// fields returns the table of the fields that the strict pass reads.
func (all *objects) fields() (fields strict.Fields) {
	request := all.at("")
	for _, name := range request.order {
		v := request.values[name]
		if v.check == nil {
			continue
		}
		f := strict.Field{Name: name, Check: v.check, Objects: all.of(v), Must: v.required, Null: v.orNull}
		if all.snake {
			f.Other = jsonscan.SnakeCase(name)
		}
		fields = append(fields, f)
	}
	return fields
}
