package strict

// Faults are the place that a pass reads and the fault that comes first so far.
type Faults struct {
	path  path
	order uint64 // the position of a fault noted now in the order of validation
	found firstFault
}

// firstFault is the fault that comes first so far.
type firstFault struct {
	order    uint64
	at, what string
	value    string // the end of the message, for the client only
}

// Row sets the row of the table of fields that later faults belong to, from 1 to 255.
func (f *Faults) Row(row int) { f.order = uint64(row) << 56 }

// Item sets the element of the row's array that later faults belong to, the first being
// 0. They come before the faults of the element's parts.
func (f *Faults) Item(element int) { f.order = f.order>>56<<56 | uint64(element+1)<<28 }

// Part sets the part of the element that later faults belong to.
func (f *Faults) Part(part int) { f.order = f.order>>28<<28 | uint64(part) }

// Within returns how many members of the name the value at hand is in.
func (f *Faults) Within(name string) int { return f.path.count(name) }

// Note notes a fault of the field at the path, unless a fault that comes earlier in the
// order of validation has been noted.
func (f *Faults) Note(what string) { f.NoteValue(what, "") }

// NoteValue is Note with the value as the end of the client's message, see Shown. The
// value is not logged.
func (f *Faults) NoteValue(what, value string) {
	if f.order < f.found.order {
		f.found = firstFault{f.order, f.path.String(), what, value}
	}
}

// NoteMember notes a fault of a member of the object at the path.
func (f *Faults) NoteMember(name, what string) {
	f.path.push(step{name: name})
	f.Note(what)
	f.path.len--
}
