package journal

import "time"

// ID identifies an entry in a journal: the milliseconds since 2020, and a number of 8
// bits. Each new ID is larger than all IDs before it, even if the clock is set back.
type ID uint64

const sequenceBits = 8

var epoch = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// At returns the smallest ID of a point in time.
func At(t time.Time) ID { return ID(max(0, t.Sub(epoch).Milliseconds()) << sequenceBits) }

// Time returns the point in time of an ID, in whole milliseconds.
func (id ID) Time() time.Time {
	return epoch.Add(time.Duration(id>>sequenceBits) * time.Millisecond)
}

// Sequence returns the number of the ID within its millisecond.
func (id ID) Sequence() uint8 { return uint8(id) }
