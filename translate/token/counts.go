package token

// Counts are the tokens of one or more calls. No token is in two of the counts, so their sum
// is the number of all tokens.
type Counts struct {
	Fresh          int64 // input neither read from a cache nor written to one
	CacheRead      int64 // input read from a prompt cache
	CacheWrite     int64 // input written to a prompt cache, without CacheWriteLong
	CacheWriteLong int64 // input written to a cache with a lifetime of an hour
	Answer         int64 // output without Reasoning
	Reasoning      int64 // output spent on reasoning
	Searches       int64 // searches of the web by the provider, which are no tokens
}

// Input returns the number of all input tokens: prompt_tokens in the chat and completions
// formats.
func (n Counts) Input() int64 {
	return min(bounded(n.Fresh)+bounded(n.CacheRead)+bounded(n.CacheWrite)+bounded(n.CacheWriteLong), maxCount)
}

// Written returns the number of input tokens written to caches.
func (n Counts) Written() int64 { return sum(n.CacheWrite, n.CacheWriteLong) }

// Output returns the number of all output tokens: completion_tokens in the chat and
// completions formats.
func (n Counts) Output() int64 { return min(bounded(n.Answer)+bounded(n.Reasoning), maxCount) }

// Total returns the number of all tokens: total_tokens in the chat and completions formats.
func (n Counts) Total() int64 { return sum(n.Input(), n.Output()) }

// Add returns the sum of two counts.
func (n Counts) Add(other Counts) Counts {
	return Counts{
		Fresh:          sum(n.Fresh, other.Fresh),
		CacheRead:      sum(n.CacheRead, other.CacheRead),
		CacheWrite:     sum(n.CacheWrite, other.CacheWrite),
		CacheWriteLong: sum(n.CacheWriteLong, other.CacheWriteLong),
		Answer:         sum(n.Answer, other.Answer),
		Reasoning:      sum(n.Reasoning, other.Reasoning),
		Searches:       sum(n.Searches, other.Searches),
	}
}

// maxCount bounds counts and their sums. Clients that read numbers as doubles cannot
// represent all larger ones.
const maxCount = 1 << 53

// sum adds counts, up to maxCount. Negative counts are 0.
func sum(counts ...int64) (total int64) {
	for _, n := range counts {
		total = min(total+bounded(n), maxCount)
	}
	return total
}

// bounded returns the valid count nearest to n.
func bounded(n int64) int64 { return min(max(n, 0), maxCount) }
