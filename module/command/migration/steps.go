package migration

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strings"
)

// Share is a target with its share of the requests.
type Share struct {
	Target Target
	Weight float64 // 0 if the source gives none
	Order  float64 // of the step; smaller ones come first
}

// Steps returns targets in the order in which they are tried: a step for each order, whose
// targets share the requests. One without a weight beside others that have one becomes the
// last of its order. Flattened is that of Behind.
func Steps(shares []Share) (targets []Target, flattened bool) {
	shares = distinct(shares)
	slices.SortStableFunc(shares, func(a, b Share) int { return cmp.Compare(a.Order, b.Order) })
	for len(shares) > 0 {
		n := 1
		for n < len(shares) && shares[n].Order == shares[0].Order {
			n++
		}
		all, flat := Behind(targets, step(shares[:n]))
		targets, flattened, shares = all, flattened || flat, shares[n:]
	}
	return targets, flattened
}

// distinct returns the first share of each target, which a model has once.
func distinct(shares []Share) (all []Share) {
	for _, s := range shares {
		if !slices.ContainsFunc(all, func(known Share) bool { return known.Target.Same(s.Target) }) {
			all = append(all, s)
		}
	}
	return all
}

// Behind returns targets with the steps that are tried after them. Two steps with weights
// would be one, so that the targets of the second one are tried one after the other; flattened
// reports that.
func Behind(targets, next []Target) (all []Target, flattened bool) {
	if n := len(targets); n > 0 && targets[n-1].Weight > 0 {
		next = slices.Clone(next)
		for i := range next {
			flattened = flattened || next[i].Weight > 0
			next[i].Weight = 0
		}
	}
	return append(targets, next...), flattened
}

// step returns the targets of one step.
func step(shares []Share) (targets []Target) {
	smallest := math.Inf(1)
	for _, s := range shares {
		if s.Weight > 0 {
			smallest = min(smallest, s.Weight)
		}
	}
	var last []Target
	for _, s := range shares {
		t := s.Target
		switch {
		case math.IsInf(smallest, 1):
			t.Weight = 1
		case s.Weight > 0:
			t.Weight = int(min(math.Round(s.Weight/smallest), 1e6))
		default:
			last = append(last, t)
			continue
		}
		targets = append(targets, t)
	}
	if len(targets) == 1 {
		targets[0].Weight = 0
	}
	return append(targets, last...)
}

// Decimal returns a number without an exponent.
func Decimal(n float64) string {
	text := big.NewFloat(n).Text('f', 9)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}
