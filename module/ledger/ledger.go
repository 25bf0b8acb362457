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

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/journal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
)

// Ledger is an open ledger: a journal, and a goroutine that writes its records to the
// database.
type Ledger struct {
	options atomic.Pointer[accounting.LedgerOptions]
	journal *journal.Journal
	*Reader
	logger  func() *zap.Logger
	failing database.Outage // failures to write to the journal
	pruning database.Outage // failures to delete old records
	backlog backlog

	exchanges exchanges
	applier   *applier
	waiters   *waiters
	stop      func() // removes the ledger from the metrics, and ends the goroutine
	done      sync.WaitGroup
}

// exchanges are those that have begun and not ended.
type exchanges struct {
	running atomic.Int64
	idle    func() // is called when the last one has ended
}

func (e *exchanges) begin() { e.running.Add(1) }

func (e *exchanges) end() {
	if e.running.Add(-1) == 0 {
		e.idle()
	}
}

// The defaults of the options.
const (
	defaultRecords = 90
	defaultZone    = "UTC"
)

// Open opens a ledger and its journal. The database is opened when it is first needed.
// Exchanges that an earlier process began and did not end get the outcome OutcomeCrashed.
// The error wraps accounting.ErrLedger if a later call may succeed.
func Open(options accounting.LedgerOptions, backend database.Backend, logger func() *zap.Logger) (*Ledger, error) {
	if err := options.Check(); err != nil {
		return nil, err
	}
	opened, crashed, err := journal.Open(journalOptions(options, logger()))
	if err != nil {
		return nil, passing(err)
	}
	identity, err := readIdentity(options.Journal)
	if err != nil {
		return nil, passing(errors.Join(err, opened.Close()))
	}
	l := &Ledger{journal: opened, logger: logger, stop: func() {}, waiters: newWaiters()}
	l.exchanges.idle = func() {}
	l.Reader = NewReader(backend, logger)
	l.configure(options)
	l.applier = newApplier(l, identity)
	l.applier.earlier = opened.State().End
	l.endCrashed(crashed)
	l.start()
	return l, nil
}

// passing wraps accounting.ErrLedger around an error of the files of the journal, unless it
// is a mistake of the configuration, which does not pass by itself.
func passing(err error) error {
	if errors.Is(err, journal.ErrInUse) || errors.Is(err, fs.ErrPermission) {
		return err
	}
	return fmt.Errorf("%w: %w", accounting.ErrLedger, err)
}

func journalOptions(o accounting.LedgerOptions, logger *zap.Logger) journal.Options {
	return journal.Options{Dir: o.Journal, Max: o.JournalMax, SyncEvery: time.Duration(o.Sync), Logger: logger, Damaged: damaged}
}

// configure applies options, which must be valid. The directory of the journal cannot
// change while the ledger is open, and the zone never changes in the database.
func (l *Ledger) configure(options accounting.LedgerOptions) {
	options.Records = cmp.Or(options.Records, defaultRecords)
	options.Zone = cmp.Or(options.Zone, defaultZone)
	l.options.Store(&options)
	l.journal.Configure(journalOptions(options, l.logger()))
}

// readIdentity returns the name of the journal in the database. A new journal gets a
// random name, because the name of the host may change.
func readIdentity(dir string) (string, error) {
	path := filepath.Join(dir, "identity")
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("reading identity of journal: %w", err)
	}
	identity := strings.TrimSpace(string(text)) // a full disk leaves an empty file
	if identity != "" {
		return identity, nil
	}
	identity = rand.Text()
	if err := os.WriteFile(path, []byte(identity), 0o600); err != nil {
		_ = os.Truncate(path, 0) // a part of it would be taken for the identity
		return "", fmt.Errorf("writing identity of journal: %w", err)
	}
	return identity, nil
}

// endCrashed ends the exchanges that an earlier process did not end.
func (l *Ledger) endCrashed(entries []journal.Entry) {
	for _, entry := range entries {
		r, err := parseRecord(entry.Payload)
		if err != nil {
			l.logger().Error("the record of an exchange that crashed is lost", zap.Error(err))
			r = new(accounting.Record)
		}
		r.ID, r.Outcome = int64(entry.ID), accounting.OutcomeCrashed
		l.end(r)
	}
	metrics.LedgerOrphans(len(entries))
	if len(entries) > 0 {
		l.logger().Warn("exchanges were running when the last process ended; the ledger contains them as crashed", zap.Int("exchanges", len(entries)))
	}
}

func (l *Ledger) start() {
	ctx, cancel := context.WithCancel(context.Background())
	unwatch := metrics.WatchLedger(l.state)
	l.stop = func() {
		unwatch()
		cancel()
	}
	l.done.Go(func() { l.applier.run(ctx) })
}

// Close writes the records of the journal to the database, until a transaction fails, and
// closes the journal and the database. Records that remain are written after the next Open.
func (l *Ledger) Close() error {
	l.stop()
	l.done.Wait()
	return errors.Join(l.journal.Close(), l.db.Close())
}

// Begin implements accounting.Ledger.
func (l *Ledger) Begin(r *accounting.Record) error {
	l.exchanges.begin()
	defer timeAppend(time.Now())
	encoded := encode(r)
	admitted := time.Now()
	if r.Outcome == accounting.OutcomeImported && !r.Admitted.IsZero() {
		admitted = r.Admitted
	}
	id, err := l.journal.BeginAt(admitted, *encoded)
	encodings.Put(encoded)
	r.ID, r.Admitted = int64(id), id.Time()
	if err == nil {
		return nil
	}
	l.blocked(err)
	return fmt.Errorf("%w: %w", accounting.ErrLedger, err)
}

// End implements accounting.Ledger.
func (l *Ledger) End(r *accounting.Record) {
	defer timeAppend(time.Now())
	l.end(r)
	l.exchanges.end()
}

// encodings contains buffers for encode.
var encodings = sync.Pool{New: func() any { return new([]byte) }}

// encode returns an encoded record. The caller must put it back into encodings.
func encode(r *accounting.Record) *[]byte {
	buffer := encodings.Get().(*[]byte)
	*buffer = appendRecord((*buffer)[:0], r)
	return buffer
}

// end writes the end of an exchange to the journal.
func (l *Ledger) end(r *accounting.Record) {
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

// Degraded implements aigateway.Degradable: the journal cannot be written.
func (l *Ledger) Degraded() error {
	if l.journal.State().Delayed == 0 {
		return nil
	}
	return l.failing.Problem()
}
