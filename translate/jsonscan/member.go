package jsonscan

// HasMember reports whether a valid object has a member with that name. Unlike
// a cursor it does not mind members that occur twice, so it suits objects that
// are only copied, such as schemas.
func HasMember(object []byte, name string) bool {
	if len(object) == 0 || object[0] != '{' {
		return false
	}
	for i := spaceEnd(object, 1); i < len(object) && object[i] == '"'; {
		end, escaped, _ := stringEnd(object, i)
		if found := inside(object[i:end]); string(found) == name || escaped && string(appendDecoded(nil, found)) == name {
			return true
		}
		i = spaceEnd(object, end) + len(":")
		if i, _ = valueEnd(object, spaceEnd(object, i), MaxDepth); i == len(object) || object[spaceEnd(object, i)] != ',' {
			return false
		}
		i = spaceEnd(object, spaceEnd(object, i)+len(","))
	}
	return false
}
