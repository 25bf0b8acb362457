package pairs

import (
	"strconv"
)

// writeTokens writes under a name how many tokens the answer may have, at most as
// many as the model gives: the raw value of the client's member.
func (x *conversion) writeTokens(name string, raw []byte, member string) {
	if n, ok := integer(raw); ok {
		x.name(name)
		x.out = strconv.AppendInt(x.out, x.boundTokens(n, member), 10)
	}
}

// boundTokens returns n, or the most that the model gives, which is reported.
func (x *conversion) boundTokens(n int64, member string) int64 {
	most, less := x.traits.BoundTokens(n)
	if less {
		x.shaping(member)
	}
	return most
}
