package health

import (
	"math"
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// Stream identifies the streams whose times can be compared: those of a model of a provider for
// clients of a format.
type Stream struct {
	Provider string           // identity of the service, which several provider names may share
	Model    string           // the provider's own name
	Format   translate.Format // of the clients
}

// Latencies has the time to first content of recent streams. The zero value is empty. Its methods
// may be called concurrently.
//
// The median of a target is that of its streams before the current minute of the clock. So an order
// by medians changes once a minute at most, for all targets at the same moment. The weight of a
// stream halves every five minutes.
type Latencies struct {
	mu       sync.Mutex // guards the fields below
	byStream map[Stream]*histogram
}

// FirstContent has the streams of the process. All sites share it, and it survives reloads.
var FirstContent = new(Latencies)

// Note records a stream, by the times of its call and of its first content.
func (l *Latencies) Note(s Stream, called, began time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.byStream[s]
	if h == nil {
		h = l.add(s)
	}
	h.settle(began)
	h.current[bucketOf(began.Sub(called))]++
}

// add adds a histogram. If there are too many, any other one is removed.
func (l *Latencies) add(s Stream) *histogram {
	if l.byStream == nil {
		l.byStream = make(map[Stream]*histogram)
	}
	for other := range l.byStream {
		if len(l.byStream) < maxRemembered {
			break
		}
		delete(l.byStream, other)
	}
	h := new(histogram)
	l.byStream[s] = h
	return h
}

// Median returns the median time to first content. ok is false if there were too few streams, or
// only long ago: the last of them counts for ten minutes.
func (l *Latencies) Median(s Stream) (median time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.byStream[s]
	if h == nil {
		return 0, false
	}
	h.settle(time.Now())
	return h.median, h.median > 0
}

const (
	shortest = time.Millisecond // upper bound of the first bucket
	growth   = 1.05             // of the bounds, from bucket to bucket
	buckets  = 280              // the last one has 14 minutes and more

	fewest = 0.25 // weight of streams with which their median is known
)

// decay is the factor by which the weight of a stream shrinks each minute: to a half in five.
var decay = math.Pow(0.5, 1.0/5)

// histogram counts streams by their time to first content.
type histogram struct {
	minute  int64            // of the clock, in which current counts
	current [buckets]float32 // of this minute
	earlier [buckets]float32 // of the minutes before, each with the weight of its age
	median  time.Duration    // of earlier; 0 if it is unknown
}

// settle adds the streams of a minute that is over to the earlier ones.
func (h *histogram) settle(now time.Time) {
	minute := now.Unix() / 60
	if minute <= h.minute {
		return
	}
	aged := float32(math.Pow(decay, float64(minute-h.minute)))
	var weight float32
	for i := range h.earlier {
		h.earlier[i] = (h.earlier[i] + h.current[i]) * aged
		weight += h.earlier[i]
	}
	h.minute, h.current, h.median = minute, [buckets]float32{}, 0
	if weight < fewest {
		return
	}
	var sum float32
	for i, n := range h.earlier {
		if sum += n; sum >= weight/2 {
			h.median = boundOf(i)
			return
		}
	}
}

// bucketOf returns the bucket of a time, whose bound is the first that is not below it.
func bucketOf(d time.Duration) int {
	if d <= shortest {
		return 0
	}
	return min(buckets-1, int(math.Ceil(math.Log(float64(d)/float64(shortest))/math.Log(growth))))
}

// boundOf returns the upper bound of a bucket.
func boundOf(bucket int) time.Duration {
	return time.Duration(float64(shortest) * math.Pow(growth, float64(bucket)))
}
