package journal

import "encoding/binary"

const (
	// maxDelayed is the largest number of ends that wait until they can be written.
	maxDelayed = 100_000
	// largestPart is the size, in bytes, up to which waiting ends are written at once.
	largestPart = 1 << 20
)

// delayed are the frames of ends that could not be written yet, the oldest first. They are
// written in parts: all of them may be more than the disk has room for, and what is written
// makes room once the readers have it.
type delayed struct {
	frames []byte
	ends   int
	part   int // the size of the next part, unless its first frame is larger; at first 0
}

// add adds an end, and returns false if too many wait.
func (d *delayed) add(e Entry) bool {
	if d.ends >= maxDelayed {
		return false
	}
	d.frames = appendFrame(d.frames, e)
	d.ends++
	return true
}

// next returns the frames of the next part, at least one if there is any.
func (d *delayed) next() (frames []byte, ends int) {
	size := 0
	for size < len(d.frames) {
		length := frameHeader + int(binary.LittleEndian.Uint32(d.frames[size:]))
		if ends > 0 && size+length > d.part {
			break
		}
		size += length
		ends++
	}
	return d.frames[:size], ends
}

// wrote removes a part that was written. The next part is larger then, and smaller after a
// failure: a request on a full disk costs one small write.
func (d *delayed) wrote(size, ends int, err error) {
	if err != nil {
		d.part = size / 2
		return
	}
	d.frames, d.ends, d.part = d.frames[size:], d.ends-ends, min(2*max(d.part, size), largestPart)
	if d.ends == 0 {
		*d = delayed{}
	}
}

// writeDelayed writes the ends that could not be written before, as many as there is room for.
// It returns an error if there are others left. The caller holds the writer.
func (j *Journal) writeDelayed() error {
	for {
		j.mu.Lock()
		frames, ends := j.entries.delayed.next()
		j.mu.Unlock()
		if ends == 0 {
			return nil
		}
		err := j.write(frames)
		j.mu.Lock()
		j.entries.delayed.wrote(len(frames), ends, err)
		j.mu.Unlock()
		if err != nil && ends == 1 {
			return err
		}
	}
}
