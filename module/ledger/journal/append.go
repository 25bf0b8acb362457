package journal

import (
	"bytes"
	"fmt"
	"time"
)

// batch contains the frames of several writers. The first of them writes the batch.
type batch struct {
	frames    []byte
	hasWriter bool
	done      chan struct{} // is closed after the write; nil while no other writer waits
	err       error         // the error of the write
}

// Begin writes that something begins, and returns its ID. The ID is valid even with an
// error: End may be called for an entry whose beginning was not written.
func (j *Journal) Begin(payload []byte) (ID, error) { return j.BeginAt(time.Now(), payload) }

// BeginAt is Begin for a time that is not before that of the entries so far.
func (j *Journal) BeginAt(moment time.Time, payload []byte) (ID, error) {
	j.mu.Lock()
	id := max(j.entries.last+1, At(moment))
	j.entries.last = id
	if err := j.checkBegin(payload); err != nil {
		j.mu.Unlock()
		return id, err
	}
	j.entries.open[id] = bytes.Clone(payload)
	err := j.append(Entry{Begun, id, payload}) // unlocks mu
	if err != nil {
		j.mu.Lock()
		delete(j.entries.open, id)
		j.mu.Unlock()
	}
	return id, err
}

// checkBegin returns the error of a Begin that may not write. The caller holds mu.
func (j *Journal) checkBegin(payload []byte) error {
	switch {
	case j.closed:
		return ErrClosed
	case len(payload) > MaxPayload:
		return ErrTooLarge
	case j.segments.size() > j.settings.max.Load():
		return ErrFull
	}
	return nil
}

// Size returns the size of all segments, in bytes.
func (j *Journal) Size() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.segments.size()
}

func (all segments) size() (bytes int64) {
	for _, s := range all {
		bytes += s.size
	}
	return bytes
}

// End writes that something has ended. If the write fails, End returns an error and keeps
// the entry: later writes, and Close, try again. Begin fails until then.
func (j *Journal) End(id ID, payload []byte) error {
	if len(payload) > MaxPayload {
		return ErrTooLarge
	}
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return ErrClosed
	}
	delete(j.entries.open, id)
	err := j.append(Entry{Ended, id, payload}) // unlocks mu
	if err == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.entries.delayed.add(Entry{Ended, id, payload}) {
		return fmt.Errorf("dropping an entry, because %d others wait to be written: %w", maxDelayed, err)
	}
	return err
}

// append adds a frame to the next batch, and returns after the write of the batch. The
// caller holds mu, which append unlocks. The first writer of a batch waits until the batch
// before it is written, and then writes. Until then, other writers join the batch.
func (j *Journal) append(e Entry) error {
	b := j.next
	b.frames = appendFrame(b.frames, e)
	if b.hasWriter {
		return j.wait(b)
	}
	b.hasWriter = true
	j.mu.Unlock()

	j.writer.Lock()
	defer j.writer.Unlock()
	j.mu.Lock()
	j.next = j.writer.spare
	j.mu.Unlock()
	if b.err = j.writeDelayed(); b.err == nil {
		b.err = j.write(b.frames)
	}
	return j.writer.finish(b)
}

// finish returns the error of a batch that was written. It wakes the writers that wait for the
// batch, and prepares another one with its memory.
func (w *writer) finish(b *batch) error {
	err := b.err
	w.spare = b
	if b.done != nil {
		close(b.done)
		w.spare = new(batch) // the others read the error of b
	}
	*w.spare = batch{frames: b.frames[:0]}
	return err
}

// wait returns after another writer has written a batch. The caller holds mu, which wait
// unlocks.
func (j *Journal) wait(b *batch) error {
	if b.done == nil {
		b.done = make(chan struct{})
	}
	j.mu.Unlock()
	<-b.done
	return b.err
}

// write appends whole frames to the current segment, or to a new one if the current
// segment is full. After a failure, readers are woken, because what they release may make
// room. The caller holds the writer.
func (j *Journal) write(frames []byte) (err error) {
	defer func() {
		if j.writer.failed = err != nil; j.writer.failed {
			j.Wake()
		}
	}()
	if j.writer.file.broken || j.writer.file.written() > 0 && j.writer.file.written()+int64(len(frames)) > j.segmentSize() {
		if err := j.startSegment(j.writer.file.number + 1); err != nil {
			return err
		}
	}
	if err := j.writer.file.append(frames); err != nil {
		return err
	}
	if j.settings.syncEvery.Load() < 0 {
		if err := j.writer.file.sync(); err != nil {
			return err
		}
	}
	j.publishSize()
	return nil
}

// segmentSize is the size at which a new segment begins. A journal has room for several
// segments: only whole segments are removed, and the current one is not among them.
func (j *Journal) segmentSize() int64 {
	return min(j.options.SegmentSize, j.settings.max.Load()/segmentsInMax)
}

// segmentsInMax is the number of segments for which Options.Max has room.
const segmentsInMax = 4

// publishSize lets readers read up to the end of the current segment.
func (j *Journal) publishSize() {
	j.mu.Lock()
	j.segments[len(j.segments)-1].size = j.writer.file.size
	j.mu.Unlock()
	j.Wake()
}

// startSegment closes the current segment and begins another one. The new segment begins
// with copies of all open entries, so that the segments before it can be removed once they
// are read. The caller holds the writer, or no other goroutine has the journal yet.
func (j *Journal) startSegment(number uint64) error {
	j.mu.Lock()
	head := newSegmentHeader(j.entries.last)
	for _, e := range j.entries.unended() {
		head = appendFrame(head, e)
	}
	j.mu.Unlock()
	file, err := createSegment(segmentPath(j.options.Dir, number), number, head)
	if err != nil {
		return fmt.Errorf("beginning a segment: %w", err)
	}
	previous := j.writer.file
	j.writer.file = file
	j.mu.Lock()
	j.segments = append(j.segments, segment{number: number, size: file.size})
	j.mu.Unlock()
	if err := previous.close(); err != nil {
		return fmt.Errorf("ending a segment: %w", err)
	}
	return nil
}
