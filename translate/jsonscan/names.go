package jsonscan

import (
	"bytes"
	"hash/maphash"
)

// fewNames is the number of names of one object that are searched one by one.
const fewNames = 32

// seed makes the hashes of names unpredictable for clients, who choose the names.
var seed = maphash.MakeSeed()

// met is a member name that was read: its hash by hashName, and the offset
// of its opening quote.
type met struct{ hash, offset uint32 }

// crowd is a hash table of the names of an object with more than fewNames members. It
// uses open addressing: a name whose slot is taken is in the next free one.
type crowd struct {
	first int
	exact bool
	index map[uint32]uint32
}

// names contains the names of the members read so far in the open objects, innermost
// last. The names of each object follow one entry for the enclosing object: its hash is
// twice the index of the first name of that object, plus 1 if that object is exact, and
// its offset is the bits of that object.
type names struct {
	near   [48]met // the first entries, which need no allocation
	far    []met   // the others
	len    int
	first  int     // the first name of the innermost object
	exact  bool    // the names of the innermost object are case-sensitive
	bits   uint32  // a bit for each hash in the innermost object: most names are new, and need no search
	crowds []crowd // of those open objects that have one
}

// enter begins an object, which is not exact.
func (n *names) enter() {
	outer := met{hash: uint32(n.first) << 1, offset: n.bits}
	if n.exact {
		outer.hash |= 1
	}
	n.push(outer)
	n.first, n.exact, n.bits = n.len, false, 0
}

// leave ends the innermost object.
func (n *names) leave() {
	if n.crowd() != nil {
		n.crowds = n.crowds[:len(n.crowds)-1]
	}
	n.len = n.first - 1
	outer := n.entry(n.len)
	n.first, n.exact, n.bits = int(outer.hash>>1), outer.hash&1 == 1, outer.offset
	if n.len < len(n.near) {
		n.far = n.far[:0]
	} else {
		n.far = n.far[:n.len-len(n.near)]
	}
}

// addNew is add for a name whose hash shows that it is new, as that of most names does. It
// returns false, and adds nothing, for any other.
func (n *names) addNew(hash uint32, offset int) bool {
	bit := uint32(1) << (hash % 32)
	if n.bits&bit != 0 || n.len >= len(n.near) || n.len-n.first >= fewNames {
		return false
	}
	n.near[n.len] = met{hash: hash, offset: uint32(offset)}
	n.len++
	n.bits |= bit
	return true
}

// add adds the name with that hash and the opening quote at an offset to the innermost
// object. If the object already has the name, add returns the offset of its first
// occurrence.
func (n *names) add(data, name []byte, hash uint32, offset int) (first uint32, twice bool) {
	if crowd := n.crowd(); crowd != nil {
		return crowd.add(data, name, uint32(offset))
	}
	m := met{hash: hash, offset: uint32(offset)}
	bit := uint32(1) << (hash % 32)
	for i := n.first; i < n.len && n.bits&bit != 0; i++ {
		if e := n.entry(i); e.hash == m.hash && sameName(data, e.offset, m.offset, n.exact) {
			return e.offset, true
		}
	}
	n.bits |= bit
	n.push(m)
	if n.len-n.first > fewNames {
		n.gather(data)
	}
	return 0, false
}

// gather indexes the names of the innermost object.
func (n *names) gather(data []byte) {
	c := crowd{first: n.first, exact: n.exact, index: make(map[uint32]uint32, 4*fewNames)}
	for i := n.first; i < n.len; i++ {
		offset := n.entry(i).offset
		c.add(data, nameAt(data, offset), offset)
	}
	n.crowds = append(n.crowds, c)
}

// crowd returns the index of the innermost object, nil if it has none.
func (n *names) crowd() *crowd {
	if last := len(n.crowds) - 1; last >= 0 && n.crowds[last].first == n.first {
		return &n.crowds[last]
	}
	return nil
}

// push appends an entry.
func (n *names) push(m met) {
	if n.len < len(n.near) {
		n.near[n.len] = m
	} else {
		n.far = append(n.far, m)
	}
	n.len++
}

// entry returns an entry.
func (n *names) entry(i int) *met {
	if i < len(n.near) {
		return &n.near[i]
	}
	return &n.far[i-len(n.near)]
}

// add is names.add for the object of the crowd.
func (c *crowd) add(data, name []byte, offset uint32) (first uint32, twice bool) {
	for hash := c.hash(name); ; hash++ {
		other, taken := c.index[hash]
		if !taken {
			c.index[hash] = offset
			return 0, false
		}
		if sameName(data, other, offset, c.exact) {
			return other, true
		}
	}
}

// hash returns equal, unpredictable hashes for names that are the same in the object.
func (c *crowd) hash(name []byte) uint32 {
	if c.exact {
		return uint32(maphash.Bytes(seed, name))
	}
	var buf [64]byte
	return uint32(maphash.Bytes(seed, fold(buf[:0], name)))
}

// sameName reports whether the names with the opening quotes at a and b are equal. Letter
// case counts only in exact objects.
func sameName(data []byte, a, b uint32, exact bool) bool {
	one, other := nameAt(data, a), nameAt(data, b)
	if exact {
		return bytes.Equal(one, other)
	}
	return bytes.EqualFold(one, other)
}

// nameAt returns the decoded name with the opening quote at an offset.
func nameAt(data []byte, offset uint32) []byte {
	end, _, _ := stringEnd(data, int(offset))
	return AppendText(nil, data[offset:end])
}
