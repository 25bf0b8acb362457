package token

import "cmp"

// Units are what some models are charged for beside tokens, or in place of them.
type Units struct {
	Images     int64
	Seconds    int64 // of sound, begun ones included
	Characters int64 // of the text of speech
	Queries    int64 // of a rerank whose provider reports no searches

	ImageTokens ImageTokens

	Counted  bool // Images are those of the answer, even if it has none
	Measured bool // Seconds are those of the header of a file, and not an estimate by its size
}

// ImageTokens are those of the reported tokens that are of images. Some models charge other prices
// for them than for texts.
type ImageTokens struct {
	Input     int64 // those of CacheRead included
	CacheRead int64
	Output    int64
}

// Add returns the sum of the tokens of two answers.
func (t ImageTokens) Add(other ImageTokens) ImageTokens {
	return ImageTokens{sum(t.Input, other.Input), sum(t.CacheRead, other.CacheRead), sum(t.Output, other.Output)}
}

// The largest plausible units of an answer. One answer with more would exhaust the limit of a key.
const (
	MaxImages  = 1 << 10
	MaxSeconds = 1 << 20
)

// Or returns the units of u, and those of other of which u has none.
func (u Units) Or(other Units) Units {
	if u.Counted {
		other.Images = 0
	}
	return Units{
		Images: cmp.Or(u.Images, other.Images), Seconds: cmp.Or(u.Seconds, other.Seconds),
		Characters: cmp.Or(u.Characters, other.Characters), Queries: cmp.Or(u.Queries, other.Queries),
		ImageTokens: u.ImageTokens, Counted: u.Counted, // no request determines them
	}
}

// AtLeast returns the greater number of each unit.
func (u Units) AtLeast(other Units) Units {
	return Units{
		Images: max(u.Images, other.Images), Seconds: max(u.Seconds, other.Seconds),
		Characters: max(u.Characters, other.Characters), Queries: max(u.Queries, other.Queries),
		ImageTokens: ImageTokens{
			max(u.ImageTokens.Input, other.ImageTokens.Input), max(u.ImageTokens.CacheRead, other.ImageTokens.CacheRead),
			max(u.ImageTokens.Output, other.ImageTokens.Output),
		},
	}
}
