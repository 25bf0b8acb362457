package shape

// Names maps the names of a list to their indices, faster than a map. The zero Names are
// an empty list.
type Names struct {
	list  []string
	slots [256]uint8 // indices of the list, plus 1; 0 for none
}

// NewNames returns the Names of at most 200 names, no two of which are the same.
func NewNames(list ...string) *Names {
	n := new(Names)
	for _, name := range list {
		n.Add(name)
	}
	return n
}

// Add adds a name that is not in the list, and returns its index.
func (n *Names) Add(name string) int {
	at := hashOf(name)
	for n.slots[at] != 0 {
		at++
	}
	n.list = append(n.list, name)
	n.slots[at] = uint8(len(n.list))
	return len(n.list) - 1
}

// Index returns the index of a name, -1 if it is not in the list.
func (n *Names) Index(name []byte) int {
	if len(name) == 0 {
		return -1
	}
	for at := hashOf(name); n.slots[at] != 0; at++ {
		if i := int(n.slots[at]) - 1; string(name) == n.list[i] {
			return i
		}
	}
	return -1
}

// List returns the names. They must not be changed.
func (n *Names) List() []string { return n.list }

// hashOf returns a hash of the length and the last bytes of a name, where the names
// of members differ most.
func hashOf[T string | []byte](name T) uint8 {
	last := len(name) - 1
	return uint8(len(name))*31 + name[0]*7 + name[last]*3 + name[last/2]
}
