package parts

import "bytes"

// Lead returns messages, each with a comma before it, that begin with the parts of a system text,
// for models without system texts. opening is the beginning of a message of the user up to its
// first part: if the messages begin with it, the parts become the first of that message, else a
// message of their own. moved is the number of bytes by which all that follows has moved.
func (c *Content) Lead(messages []byte, opening string) (led []byte, moved int) {
	c.ToArray()
	rest, joins := bytes.CutPrefix(messages, []byte(opening))
	led = append(append(make([]byte, 0, len(messages)+len(opening)+len(c.Buf)+len(`]}`)), opening...), c.Buf...)
	if joins {
		led = append(led, ',')
	} else {
		led = append(led, `]}`...)
	}
	moved = len(led) + len(rest) - len(messages)
	return append(led, rest...), moved
}
