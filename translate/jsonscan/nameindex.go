package jsonscan

// NameIndex maps the names of a list to their indices, faster than a map. The zero NameIndex
// is that of an empty list.
type NameIndex struct {
	list      []string   // the names, and behind them other spellings
	slots     [256]uint8 // indices of the list, plus 1; 0 for none
	spellings []uint8    // the indices of the names that the other spellings stand for
}

// NewNameIndex returns the NameIndex of at most 200 names, no two of which are the same.
func NewNameIndex(list ...string) *NameIndex {
	n := new(NameIndex)
	for _, name := range list {
		n.Add(name)
	}
	return n
}

// Add adds a name that is not in the list, and returns its index.
func (n *NameIndex) Add(name string) int {
	at := hashOf(name)
	for n.slots[at] != 0 {
		at++
	}
	n.list = append(n.list, name)
	n.slots[at] = uint8(len(n.list))
	return len(n.list) - 1
}

// InSnakeCase returns the index, by which names in snake case are found as well: "functionCall" as
// "function_call". No name may be added behind them.
func (n *NameIndex) InSnakeCase() *NameIndex {
	for i, name := range n.list {
		if snake := SnakeCase(name); snake != name {
			n.Add(snake)
			n.spellings = append(n.spellings, uint8(i))
		}
	}
	return n
}

// SnakeCase returns "responseMimeType" as "response_mime_type".
func SnakeCase(name string) string {
	var snake []byte
	for _, b := range []byte(name) {
		if 'A' <= b && b <= 'Z' {
			snake = append(snake, '_')
			b += 'a' - 'A'
		}
		snake = append(snake, b)
	}
	return string(snake)
}

// Find returns the index of a name in one of its spellings, -1 if it is not in the list.
func (n *NameIndex) Find(name []byte) int {
	if len(name) == 0 {
		return -1
	}
	for at := hashOf(name); n.slots[at] != 0; at++ {
		if i := int(n.slots[at]) - 1; string(name) == n.list[i] {
			if spelling := i - n.size(); spelling >= 0 {
				return int(n.spellings[spelling])
			}
			return i
		}
	}
	return -1
}

// Name returns a name as the list has it, "" if it is not in the list.
func (n *NameIndex) Name(name []byte) string {
	if i := n.Find(name); i >= 0 {
		return n.list[i]
	}
	return ""
}

// Names returns the names by their indices, without other spellings. They must not be changed.
func (n *NameIndex) Names() []string { return n.list[:n.size()] }

func (n *NameIndex) size() int { return len(n.list) - len(n.spellings) }

// hashOf returns a hash of the length and the last bytes of a name, where the names
// of members differ most.
func hashOf[T string | []byte](name T) uint8 {
	last := len(name) - 1
	return uint8(len(name))*31 + name[0]*7 + name[last]*3 + name[last/2]
}
