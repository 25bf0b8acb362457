package ledger

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
)

// watched contains the watches of this process. The applier sends them the records that it
// has written: requests do no work for them.
var watched struct {
	sync.Mutex
	all   []*watch
	count atomic.Int64 // length of all, which the applier reads without the lock
}

// watch is a receiver of the records of a database.
type watch struct {
	database string // its identity
	records  chan []accounting.Record
}

// watchPatience is the number of batches that may wait for a receiver.
const watchPatience = 16

// Watch implements accounting.WatchedReader.
func (r *Reader) Watch() (records <-chan []accounting.Record, stop func(), err error) {
	w := &watch{r.db.Identity(), make(chan []accounting.Record, watchPatience)}
	watched.Lock()
	defer watched.Unlock()
	if len(watched.all) >= accounting.MostWatches {
		return nil, nil, accounting.ErrManyWatches
	}
	watched.all = append(watched.all, w)
	watched.count.Store(int64(len(watched.all)))
	return w.records, w.stop, nil
}

// stop ends the watch.
func (w *watch) stop() {
	watched.Lock()
	defer watched.Unlock()
	w.drop()
}

// drop ends the watch. The caller holds the lock of watched.
func (w *watch) drop() {
	i := slices.Index(watched.all, w)
	if i < 0 {
		return
	}
	watched.all = slices.Delete(watched.all, i, i+1)
	watched.count.Store(int64(len(watched.all)))
	close(w.records)
}

// show sends the records of a batch, which is in the database, to the watches of the
// database. A watch whose receiver is too slow is dropped.
func (a *applier) show(written batch) {
	if watched.count.Load() == 0 {
		return
	}
	watched.Lock()
	defer watched.Unlock()
	var records []accounting.Record
	for _, w := range slices.Clone(watched.all) {
		if w.database != a.ledger.db.Identity() {
			continue
		}
		if records == nil {
			records = written.decode()
		}
		select {
		case w.records <- records:
		default:
			w.drop()
		}
	}
}

// decode returns the records of a batch, without those that cannot be read.
func (b batch) decode() []accounting.Record {
	records := make([]accounting.Record, 0, len(b))
	for _, e := range b {
		if r, err := parseRecord(e.text); err == nil {
			r.ID, r.Admitted = e.id, timeOf(e.id).UTC()
			clean(r)
			records = append(records, *r)
		}
	}
	return records
}

var _ accounting.WatchedReader = (*Reader)(nil)
