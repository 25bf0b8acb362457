package journal

import (
	"cmp"
	"errors"
	"fmt"
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

	ErrTooLarge = errors.New("the entry is too large")
)

// The defaults of Options.
const (
	DefaultMax         = 4 << 30
	DefaultSegmentSize = 64 << 20
	DefaultSyncEvery   = time.Second
)

// Options configure a Journal.
type Options struct {
	Dir string // made if it is missing, readable for its owner alone

	// Max is the size of all segments, in bytes, beyond which nothing may begin;
	// what ends is still written. Default: DefaultMax.
	Max int64
	// SegmentSize is the size beyond which another segment begins. Default:
	// DefaultSegmentSize.
	SegmentSize int64
	// SyncEvery is how often what was written is put on the disk: what a loss of
	// power may take. Default: DefaultSyncEvery. Negative: with each write, before
	// Begin and End return.
	SyncEvery time.Duration

	Logger *zap.Logger
	// Damaged is called for bytes of a segment that are passed over. Default: nothing.
	Damaged func(path string, offset, bytes int64)
}

// Journal is an open journal. Its methods may be called at once.
type Journal struct {
	options Options
	locked  *os.File
	file    segmentFile // written by who holds writing

	writing sync.Mutex // guards file and frames, and the order of writes
	frames  []byte     // the memory of the batch that was written last

	mu       sync.Mutex // guards all below
	next     *batch
	last     ID
	open     map[ID][]byte // payloads of what has begun and not ended
	late     []Entry       // ends that could not be written yet
	segments []segment     // by number; the last one is written
	closed   bool

	largest, syncEvery atomic.Int64 // Options.Max and Options.SyncEvery, which may change

	written chan struct{} // has an element after a write
	stop    chan struct{}
	done    sync.WaitGroup
}

// segment is what is known of a segment's file.
type segment struct {
	number  uint64
	size    int64
	damaged bool
}

// Open opens the journal of a directory and begins a segment. What an earlier
// process left without an end is returned, in the order of IDs: the caller ends it.
func Open(o Options) (*Journal, []Entry, error) {
	o.setDefaults()
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("opening journal: %w", err)
	}
	locked, err := lock(filepath.Join(o.Dir, "lock"))
	if err != nil {
		return nil, nil, fmt.Errorf("opening journal %s: %w", o.Dir, err)
	}
	j := &Journal{
		options: o, locked: locked, next: new(batch), open: make(map[ID][]byte),
		written: make(chan struct{}, 1), stop: make(chan struct{}),
	}
	j.Configure(o)
	if err := j.recover(); err != nil {
		_ = locked.Close() // the first error is the cause
		return nil, nil, fmt.Errorf("opening journal %s: %w", o.Dir, err)
	}
	j.done.Go(j.maintain)
	return j, j.unended(), nil
}

// Configure applies Max and SyncEvery.
func (j *Journal) Configure(o Options) {
	o.setDefaults()
	j.largest.Store(o.Max)
	j.syncEvery.Store(int64(o.SyncEvery))
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

// recover reads what earlier processes left, and begins a new segment.
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
	return j.begin(next)
}

func (j *Journal) recoverSegment(number uint64) error {
	path := segmentPath(j.options.Dir, number)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if last, ok := parseSegmentHeader(text); ok {
		j.last = max(j.last, last)
	}
	damages := segmentContents(text, func(e Entry, _ int64) { j.note(e) })
	known := segment{number: number, size: int64(len(text))}
	for _, d := range damages {
		known.damaged = known.damaged || !d.Torn
		j.logDamage(path, d)
	}
	j.segments = append(j.segments, known)
	return nil
}

func (j *Journal) logDamage(path string, d damage) {
	fields := []zap.Field{zap.String("path", path), zap.Int64("offset", d.Offset), zap.Int64("bytes", d.Bytes)}
	if d.Torn {
		j.options.Logger.Warn("the journal ends within an entry, which was not confirmed", fields...)
		return
	}
	j.options.Logger.Error("the journal is damaged; the damaged bytes are passed over", fields...)
	j.options.Damaged(path, d.Offset, d.Bytes)
}

// note keeps the journal's view of what is open.
func (j *Journal) note(e Entry) {
	j.last = max(j.last, e.ID)
	if e.Kind == Ended {
		delete(j.open, e.ID)
		return
	}
	j.open[e.ID] = slices.Clone(e.Payload)
}

func (j *Journal) unended() (entries []Entry) {
	for id, payload := range j.open {
		entries = append(entries, Entry{Begun, id, payload})
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.ID, b.ID) })
	return entries
}

// Close writes what is late, puts all on the disk and gives the directory free.
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
	j.writing.Lock()
	defer j.writing.Unlock()
	err := errors.Join(j.writeLate(), j.file.close())
	return errors.Join(err, j.locked.Close())
}

// maintain writes what is late, and puts what was written on the disk.
func (j *Journal) maintain() {
	for {
		every := time.Duration(j.syncEvery.Load())
		if every < 0 {
			every = DefaultSyncEvery // for what is late
		}
		select {
		case <-j.stop:
			return
		case <-time.After(every):
			j.tick()
		}
	}
}

func (j *Journal) tick() {
	j.writing.Lock()
	_ = j.writeLate() // it stays late
	file := j.file
	j.file.dirty = false
	j.writing.Unlock()
	if err := file.sync(); err != nil && !errors.Is(err, os.ErrClosed) { // a finished segment was synced
		j.options.Logger.Error("syncing the journal", zap.Error(err))
	}
}
