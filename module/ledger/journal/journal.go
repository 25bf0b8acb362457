package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// The errors of a Journal.
var (
	ErrInUse  = errors.New("another process uses the journal")
	ErrFull   = errors.New("the journal has reached its largest size")
	ErrClosed = errors.New("the journal is closed")
	// ErrTooLarge is returned for payloads of more than MaxPayload bytes.
	ErrTooLarge = errors.New("the entry is too large")
)

// lockName is the name of the file that a process locks while it uses the directory.
const lockName = "lock"

// The defaults of Options.
const (
	DefaultMax         = 4 << 30
	DefaultSegmentSize = 64 << 20
	DefaultSyncEvery   = time.Second
)

// Options configure a Journal.
type Options struct {
	Dir string // is created if it is missing, readable only by its owner

	// Max is the size of all segments, in bytes, above which Begin returns ErrFull.
	// End still writes. Default: DefaultMax.
	Max int64
	// SegmentSize is the size, in bytes, above which a new segment begins, without the
	// copies of open entries. It is at most a quarter of Max. Default: DefaultSegmentSize.
	SegmentSize int64
	// SyncEvery is the time between two syncs of the file. A loss of power loses the
	// entries since the last sync. Default: DefaultSyncEvery. If it is negative, each
	// write is synced before Begin and End return.
	SyncEvery time.Duration

	Logger *zap.Logger // default: no log
	// Damaged is called for bytes of a segment that are skipped. Default: no call.
	Damaged func(path string, offset, bytes int64)
}

// Journal is an open journal. Its methods may be called concurrently.
type Journal struct {
	options  Options
	settings settings
	lock     io.Closer
	writer   writer // guards itself, and the order of writes

	mu       sync.Mutex // guards the fields up to closed
	next     *batch     // the batch that writers join
	entries  entries
	segments segments // by number; the last one is the current segment
	closed   bool

	reader reader
	stop   chan struct{}
	done   sync.WaitGroup
}

// settings are the options that Configure changes.
type settings struct{ max, syncEvery atomic.Int64 }

// writer has the current segment, to which one goroutine at a time writes.
type writer struct {
	sync.Mutex
	file   segmentFile
	failed bool   // the last write failed
	spare  *batch // empty, with the memory of the batch that was written last
}

// reader belongs to the goroutine that reads.
type reader struct {
	written chan struct{} // has an element after a write
	memory  []byte        // of the last read
}

// entries are what the journal knows of its entries.
type entries struct {
	last    ID            // the newest ID
	open    map[ID][]byte // payloads of the entries that have begun and not ended
	delayed delayed       // ends that could not be written yet
}

// segments are the files of a journal, by number.
type segments []segment

// segment describes the file of a segment.
type segment struct {
	number  uint64
	size    int64
	damaged bool
}

// Open opens the journal of a directory and begins a segment. If that fails, for example
// because the disk is full, the journal can be read, and tries again to begin a segment
// until it can write. Open returns the entries that an earlier process began and did not
// end, by ID. The caller must end them.
func Open(o Options) (*Journal, []Entry, error) {
	o.setDefaults()
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("opening journal: %w", err)
	}
	locked, err := lock(filepath.Join(o.Dir, lockName))
	if err != nil {
		return nil, nil, fmt.Errorf("opening journal %s: %w", o.Dir, err)
	}
	j := &Journal{
		options: o, lock: locked, next: new(batch), writer: writer{spare: new(batch)}, entries: entries{open: make(map[ID][]byte)},
		reader: reader{written: make(chan struct{}, 1)}, stop: make(chan struct{}),
	}
	j.Configure(o)
	if err := j.recover(); err != nil {
		_ = locked.Close() // the first error is the cause
		return nil, nil, fmt.Errorf("opening journal %s: %w", o.Dir, err)
	}
	j.done.Go(j.maintain)
	return j, j.entries.unended(), nil
}

// Configure changes Max and SyncEvery. It ignores the other options.
func (j *Journal) Configure(o Options) {
	o.setDefaults()
	j.settings.max.Store(o.Max)
	j.settings.syncEvery.Store(int64(o.SyncEvery))
}

func (o *Options) setDefaults() {
	if o.Max == 0 {
		o.Max = DefaultMax
	}
	if o.SegmentSize == 0 {
		o.SegmentSize = DefaultSegmentSize
	}
	if o.SyncEvery == 0 {
		o.SyncEvery = DefaultSyncEvery
	}
	if o.Logger == nil {
		o.Logger = zap.NewNop()
	}
	if o.Damaged == nil {
		o.Damaged = func(string, int64, int64) {}
	}
}

// recover reads the segments of earlier processes, and begins a new one.
func (j *Journal) recover() error {
	numbers, err := listSegments(j.options.Dir)
	if err != nil {
		return err
	}
	next := uint64(1)
	for _, number := range numbers {
		if err := j.recoverSegment(number); err != nil {
			return err
		}
		next = number + 1
	}
	if err := j.startSegment(next); err != nil {
		j.writer.file.number, j.writer.file.broken, j.writer.failed = next-1, true, true
		j.options.Logger.Error("the journal cannot be written; it tries again", zap.String("path", j.options.Dir), zap.Error(err))
		j.Wake()
	}
	return nil
}

// recoverSegment reads a segment of an earlier process in parts: a whole one would multiply the
// memory of a process that starts.
func (j *Journal) recoverSegment(number uint64) error {
	path := segmentPath(j.options.Dir, number)
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	s := scan{visit: j.entries.track}
	for s.offset < info.Size() {
		data, err := j.reader.read(path, s.offset, info.Size())
		if err != nil {
			return err
		}
		s.part(data, s.offset+int64(len(data)) == info.Size())
	}
	s.end()
	j.entries.last = max(j.entries.last, s.last)
	recovered := segment{number: number, size: s.size}
	for _, d := range s.damages {
		recovered.damaged = recovered.damaged || !d.torn
		j.reportDamage(path, d)
	}
	j.segments = append(j.segments, recovered)
	return nil
}

func (j *Journal) reportDamage(path string, d damage) {
	fields := []zap.Field{zap.String("path", path), zap.Int64("offset", d.offset), zap.Int64("bytes", d.bytes)}
	if d.torn {
		j.options.Logger.Warn("the journal ends in the middle of an entry; its write did not finish", fields...)
		return
	}
	j.options.Logger.Error("the journal is damaged; the damaged bytes are skipped", fields...)
	j.options.Damaged(path, d.offset, d.bytes)
}

// track updates the last ID and the open entries with an entry of a segment.
func (n *entries) track(e Entry) {
	n.last = max(n.last, e.ID)
	if e.Kind == Ended {
		delete(n.open, e.ID)
		return
	}
	n.open[e.ID] = slices.Clone(e.Payload)
}

// unended returns the open entries, by ID.
func (n *entries) unended() (open []Entry) {
	for id, payload := range n.open {
		open = append(open, Entry{Begun, id, payload})
	}
	slices.SortFunc(open, func(a, b Entry) int { return cmp.Compare(a.ID, b.ID) })
	return open
}

// Close writes the delayed entries, syncs the file, and unlocks the directory.
func (j *Journal) Close() error {
	j.mu.Lock()
	already := j.closed
	j.closed = true
	j.mu.Unlock()
	if already {
		return nil
	}
	close(j.stop)
	j.done.Wait()
	j.writer.Lock()
	defer j.writer.Unlock()
	err := errors.Join(j.writeDelayed(), j.writer.file.close())
	return errors.Join(err, j.lock.Close())
}

// maintain writes delayed entries and syncs the file, at intervals of SyncEvery.
func (j *Journal) maintain() {
	for {
		every := time.Duration(j.settings.syncEvery.Load())
		if every < 0 {
			every = DefaultSyncEvery // delayed entries need it
		}
		select {
		case <-j.stop:
			return
		case <-time.After(every):
			j.writeAndSync()
		}
	}
}

// writeAndSync writes delayed entries, begins a segment if none can be written, and syncs
// the file. It does not hold the writer during the sync, which may take long.
func (j *Journal) writeAndSync() {
	j.writer.Lock()
	_ = j.writeDelayed() // the next call tries again
	if j.writer.file.broken {
		_ = j.write(nil) // begins a segment; the next call tries again
	}
	file := j.writer.file
	j.writer.file.dirty = false
	j.writer.Unlock()
	if err := file.sync(); err != nil && !errors.Is(err, os.ErrClosed) { // startSegment syncs a segment and closes it
		j.options.Logger.Error("syncing the journal", zap.Error(err))
		j.distrust(file.file)
	}
}

// distrust ends the writes to memory of a segment whose sync has failed: a system call returns
// an error if its disk is, for example, read-only.
func (j *Journal) distrust(failed *os.File) {
	j.writer.Lock()
	defer j.writer.Unlock()
	if j.writer.file.file == failed {
		_ = j.writer.file.trim() // the next write returns the error
	}
}
