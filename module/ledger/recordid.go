package ledger

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/journal"
)

// The id of a record in the database consists of the milliseconds since 2020, the node,
// and the sequence number of the journal's ID within its millisecond.
const (
	sequenceBits = 8
	nodeBits     = 14
	maxNodes     = 1<<nodeBits - 1
)

// recordID returns the id of an entry in the journal of a node.
func recordID(node int64, id journal.ID) int64 {
	return int64(id)>>sequenceBits<<(nodeBits+sequenceBits) | node<<sequenceBits | int64(id.Sequence())
}

// nodeOf returns the node of an id.
func nodeOf(id int64) int64 { return id >> sequenceBits & maxNodes }

// idAt returns the smallest id of a point in time.
func idAt(t time.Time) int64 {
	return int64(journal.At(t)) >> sequenceBits << (nodeBits + sequenceBits)
}

// timeOf returns the point in time of an id.
func timeOf(id int64) time.Time {
	return journal.ID(id >> (nodeBits + sequenceBits) << sequenceBits).Time()
}
