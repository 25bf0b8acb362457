package journal

import (
	"bytes"
	"fmt"
	"slices"
	"time"
)

// batch is the frames of several writers, which are written at once by one of them.
type batch struct {
	frames []byte
	led    bool          // a writer is going to write it
	done   chan struct{} // closed when it is written; nil while no other writer waits
	err    error         // why it was not
}

// Begin writes that something begins, and returns its ID. The ID is valid even
// if nothing was written, for which the error has the reason: what begins may also be
// written by End alone.
func (j *Journal) Begin(payload []byte) (ID, error) {
	j.mu.Lock()
	id := max(j.last+1, At(time.Now()))
	j.last = id
	if err := j.mayBegin(payload); err != nil {
		j.mu.Unlock()
		return id, err
	}
	j.open[id] = bytes.Clone(payload)
	err := j.append(Entry{Begun, id, payload}) // unlocks
	if err != nil {
		j.mu.Lock()
		delete(j.open, id)
		j.mu.Unlock()
	}
	return id, err
}

func (j *Journal) mayBegin(payload []byte) error {
	switch {
	case j.closed:
		return ErrClosed
	case len(payload) > MaxPayload:
		return ErrTooLarge
	case j.size() > j.largest.Load():
		return ErrFull
	}
	return nil
}

// Size returns the size of all segments, in bytes.
func (j *Journal) Size() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size()
}

// size is Size for a caller that holds mu.
func (j *Journal) size() (bytes int64) {
	for _, s := range j.segments {
		bytes += s.size
	}
	return bytes
}

// mostLate bounds the ends that wait for room on the disk.
const mostLate = 100_000

// End writes that something has ended. If that fails, End returns an error, and
// the write is repeated until Close; Begin fails meanwhile.
func (j *Journal) End(id ID, payload []byte) error {
	if len(payload) > MaxPayload {
		return ErrTooLarge
	}
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return ErrClosed
	}
	delete(j.open, id)
	err := j.append(Entry{Ended, id, payload}) // unlocks
	if err == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.late) >= mostLate {
		return fmt.Errorf("dropped, as %d others wait: %w", mostLate, err)
	}
	j.late = append(j.late, Entry{Ended, id, slices.Clone(payload)})
	return err
}

// append adds a frame to the next batch, and returns when the batch is written. The
// caller holds mu, which append unlocks. The first writer of a batch writes it, as
// soon as the batch before is written; until then, others join.
func (j *Journal) append(e Entry) error {
	b := j.next
	b.frames = appendFrame(b.frames, e)
	if b.led {
		return j.wait(b)
	}
	b.led = true
	j.mu.Unlock()

	j.writing.Lock()
	defer j.writing.Unlock()
	j.mu.Lock()
	j.next = &batch{frames: j.frames[:0]}
	j.mu.Unlock()
	if b.err = j.writeLate(); b.err == nil {
		b.err = j.write(b.frames)
	}
	j.frames = b.frames
	if b.done != nil {
		close(b.done)
	}
	return b.err
}

// wait returns when another writer has written a batch. The caller holds mu, which wait
// unlocks.
func (j *Journal) wait(b *batch) error {
	if b.done == nil {
		b.done = make(chan struct{})
	}
	j.mu.Unlock()
	<-b.done
	return b.err
}

// write appends whole frames to the current segment, or to another one if it is
// full. The caller holds writing.
func (j *Journal) write(frames []byte) error {
	if j.file.size+int64(len(frames)) > j.options.SegmentSize && j.file.size > j.file.began {
		if err := j.begin(j.file.number + 1); err != nil {
			return err
		}
	}
	if err := j.file.append(frames); err != nil {
		return err
	}
	if j.syncEvery.Load() < 0 {
		if err := j.file.sync(); err != nil {
			return err
		}
	}
	j.grown()
	return nil
}

// grown makes the size of the current segment known to readers.
func (j *Journal) grown() {
	j.mu.Lock()
	j.segments[len(j.segments)-1].size = j.file.size
	j.mu.Unlock()
	j.Wake()
}

// writeLate writes the ends that could not be written before. The caller holds
// writing.
func (j *Journal) writeLate() error {
	j.mu.Lock()
	late := j.late
	j.mu.Unlock()
	if len(late) == 0 {
		return nil
	}
	var frames []byte
	for _, e := range late {
		frames = appendFrame(frames, e)
	}
	if err := j.write(frames); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.late = slices.Clone(j.late[len(late):])
	return nil
}

// begin ends the current segment and begins another one, with all that is open: the
// segments before it can go when they are read. The caller holds writing, or is the
// only one.
func (j *Journal) begin(number uint64) error {
	j.mu.Lock()
	head := appendSegmentHeader(nil, j.last)
	for _, e := range j.unended() {
		head = appendFrame(head, e)
	}
	j.mu.Unlock()
	file, err := createSegment(segmentPath(j.options.Dir, number), number, head)
	if err != nil {
		return fmt.Errorf("beginning a segment: %w", err)
	}
	if err := j.file.close(); err != nil {
		return fmt.Errorf("ending a segment: %w", err)
	}
	j.file = file
	j.mu.Lock()
	j.segments = append(j.segments, segment{number: number, size: file.size})
	j.mu.Unlock()
	return nil
}
