package ledger

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/events"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/journal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/metrics"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

// Ledger is a ledger in use.
type Ledger struct {
	options atomic.Pointer[aigateway.LedgerOptions]
	journal *journal.Journal
	*Reader
	logger  func() *zap.Logger
	failing database.Outage // of the journal
	pruning database.Outage // of the deletion of old records
	backlog backlog

	running atomic.Int64 // exchanges that have begun and not ended
	idle    func()       // called when none runs any more

	applier *applier
	unwatch func() // ends the metrics of the backlog
	waiters *waiters
	stop    context.CancelFunc
	done    sync.WaitGroup
}

// The defaults of options.
const (
	defaultRecords = 90
	defaultZone    = "UTC"
)

// Open opens a ledger: its journal at once, its database when there is something to
// apply. Exchanges that an earlier process left are ended as crashed.
func Open(options aigateway.LedgerOptions, backend database.Backend, logger func() *zap.Logger) (*Ledger, error) {
	if err := options.Check(); err != nil {
		return nil, err
	}
	opened, crashed, err := journal.Open(journalOptions(options, logger()))
	if err != nil {
		return nil, err
	}
	identity, err := readIdentity(options.Journal)
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	l := &Ledger{journal: opened, logger: logger, idle: func() {}, stop: func() {}, waiters: newWaiters()}
	l.Reader = NewReader(backend, logger)
	l.configure(options)
	l.applier = newApplier(l, identity)
	l.endCrashed(crashed)
	l.start()
	return l, nil
}

func journalOptions(o aigateway.LedgerOptions, logger *zap.Logger) journal.Options {
	return journal.Options{Dir: o.Journal, Max: o.JournalMax, SyncEvery: time.Duration(o.Sync), Logger: logger, Damaged: damaged}
}

// configure applies valid options. All but the directory of the journal and the zone,
// which is fixed in the database, may change while the ledger is open.
func (l *Ledger) configure(options aigateway.LedgerOptions) {
	options.Records = cmp.Or(options.Records, defaultRecords)
	options.Zone = cmp.Or(options.Zone, defaultZone)
	l.options.Store(&options)
	l.journal.Configure(journalOptions(options, l.logger()))
}

// readIdentity returns the name of the journal in the database, which is made with
// the journal: a random one, since hosts change their names.
func readIdentity(dir string) (string, error) {
	path := filepath.Join(dir, "identity")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte(rand.Text())
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("reading identity of journal: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// endCrashed ends what an earlier process left.
func (l *Ledger) endCrashed(entries []journal.Entry) {
	for _, entry := range entries {
		r, err := parseRecord(entry.Payload)
		if err != nil {
			l.logger().Error("an exchange that crashed is lost", zap.Error(err))
			r = new(aigateway.Record)
		}
		r.ID, r.Outcome = int64(entry.ID), aigateway.OutcomeCrashed
		l.end(r)
	}
	metrics.LedgerOrphans(len(entries))
	if len(entries) > 0 {
		l.logger().Warn("exchanges had not ended when the gateway did; they are in the ledger as crashed", zap.Int("exchanges", len(entries)))
	}
}

func (l *Ledger) start() {
	ctx, cancel := context.WithCancel(context.Background())
	l.stop, l.unwatch = cancel, metrics.WatchLedger(l.state)
	l.done.Go(func() { l.applier.run(ctx) })
}

// Close applies what the journal has, as far as that takes no longer than a
// transaction, and closes journal and database.
func (l *Ledger) Close() error {
	l.unwatch()
	l.stop()
	l.done.Wait()
	return errors.Join(l.journal.Close(), l.db.Close())
}

// Begin is that of aigateway.Ledger.
func (l *Ledger) Begin(r *aigateway.Record) error {
	l.running.Add(1)
	defer timeAppend(time.Now())
	encoded := encode(r)
	id, err := l.journal.Begin(*encoded)
	encodings.Put(encoded)
	r.ID, r.Admitted = int64(id), id.Time()
	if err == nil {
		return nil
	}
	l.blocked(err)
	return fmt.Errorf("%w: %w", aigateway.ErrLedger, err)
}

// End is that of aigateway.Ledger.
func (l *Ledger) End(r *aigateway.Record) {
	defer timeAppend(time.Now())
	l.end(r)
	if l.running.Add(-1) == 0 {
		l.idle()
	}
}

// encodings are buffers of encode.
var encodings = sync.Pool{New: func() any { return new([]byte) }}

// encode returns a record as the journal has it. The caller puts it back into encodings.
func encode(r *aigateway.Record) *[]byte {
	buffer := encodings.Get().(*[]byte)
	*buffer = appendRecord((*buffer)[:0], r)
	return buffer
}

func (l *Ledger) end(r *aigateway.Record) {
	encoded := encode(r)
	defer encodings.Put(encoded)
	if err := l.journal.End(journal.ID(r.ID), *encoded); err != nil {
		l.blocked(err)
		return
	}
	l.backlog.add(1)
	if l.failing.End(l.logger, "ledger can be written again") {
		events.Emit(events.LedgerRecovered, nil)
	}
}
