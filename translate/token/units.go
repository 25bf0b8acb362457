package token

import (
	"cmp"
	"math"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Units are what some models are charged for beside tokens, or in place of them.
type Units struct {
	Images     int64
	Seconds    int64 // of sound, begun ones included
	Characters int64 // of the text of speech
	Queries    int64 // of a rerank whose provider reports no searches

	ImageTokens MediaTokens
	AudioTokens MediaTokens

	Counted  bool // Images are those of the answer, even if it has none
	Measured bool // Seconds are those of the header of a file, and not an estimate by its size
}

// MediaTokens are those of the reported tokens that are of images, or of sound. Some models charge other
// prices for them than for texts.
type MediaTokens struct {
	Input     int32 // those of CacheRead included
	CacheRead int32
	Output    int32
}

// Media returns the tokens of a medium with some counts, of which one counts no more than an int32 can.
func Media(input, cacheRead, output int64) MediaTokens {
	count := func(n int64) int32 { return int32(min(max(n, 0), math.MaxInt32)) }
	return MediaTokens{count(input), count(cacheRead), count(output)}
}

// Add returns the sum of the tokens of two answers.
func (t MediaTokens) Add(other MediaTokens) MediaTokens {
	return Media(int64(t.Input)+int64(other.Input), int64(t.CacheRead)+int64(other.CacheRead), int64(t.Output)+int64(other.Output))
}

// atLeast returns the greater number of each kind of tokens.
func (t MediaTokens) atLeast(other MediaTokens) MediaTokens {
	return MediaTokens{max(t.Input, other.Input), max(t.CacheRead, other.CacheRead), max(t.Output, other.Output)}
}

// The largest plausible units of an answer. One answer with more would exhaust the limit of a key.
const (
	MaxImages  = 1 << 10
	MaxSeconds = 1 << 20
)

// SecondsOf returns a raw number of seconds, or a text with one, begun ones included: 0 for a value
// that is none, and for an implausible one.
func SecondsOf(raw []byte) int64 {
	if jsonscan.IsString(raw) {
		raw = jsonscan.Inner(raw)
	}
	length, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || !(length > 0 && length <= MaxSeconds) {
		return 0
	}
	return int64(math.Ceil(length))
}

// Or returns the units of u, and those of other of which u has none.
func (u Units) Or(other Units) Units {
	if u.Counted {
		other.Images = 0
	}
	return Units{
		Images: cmp.Or(u.Images, other.Images), Seconds: cmp.Or(u.Seconds, other.Seconds),
		Characters: cmp.Or(u.Characters, other.Characters), Queries: cmp.Or(u.Queries, other.Queries),
		ImageTokens: u.ImageTokens, AudioTokens: u.AudioTokens, Counted: u.Counted, // no request determines them
	}
}

// AtLeast returns the greater number of each unit.
func (u Units) AtLeast(other Units) Units {
	return Units{
		Images: max(u.Images, other.Images), Seconds: max(u.Seconds, other.Seconds),
		Characters: max(u.Characters, other.Characters), Queries: max(u.Queries, other.Queries),
		ImageTokens: u.ImageTokens.atLeast(other.ImageTokens), AudioTokens: u.AudioTokens.atLeast(other.AudioTokens),
	}
}
