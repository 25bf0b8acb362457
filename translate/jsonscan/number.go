package jsonscan

import (
	"bytes"
	"math"
	"strconv"
)

// ParseFloat returns the float that is nearest to a JSON number, which is infinite for numbers
// beyond the range.
func ParseFloat(raw []byte) float64 {
	f, _ := strconv.ParseFloat(string(raw), 64) // the number is well formed; for a range error, f is infinite
	return f
}

// ParseInt returns the value of a JSON number if it is integral, in whatever notation.
// exact is false, and n 0, if it is not integral or beyond 64 bits.
func ParseInt(raw []byte) (n int64, exact bool) {
	number, negative := bytes.CutPrefix(raw, []byte("-"))
	magnitude, exact := parseDigits(number)
	if !exact {
		magnitude, exact = parseDecimal(number)
	}
	switch {
	case !exact:
		return 0, false
	case negative && magnitude <= -math.MinInt64:
		return -int64(magnitude), true
	case !negative && magnitude <= math.MaxInt64:
		return int64(magnitude), true
	}
	return 0, false
}

// parseDigits reads up to 18 digits and nothing else: the usual case.
func parseDigits(digits []byte) (n uint64, exact bool) {
	if len(digits) > 18 {
		return 0, false
	}
	for _, b := range digits {
		if b-'0' > 9 {
			return 0, false
		}
		n = n*10 + uint64(b-'0')
	}
	return n, len(digits) > 0
}

// maxDigits is the number of decimal digits that always fit into 64 bits without a sign.
const maxDigits = 19

// parseDecimal reads a number without a sign in any notation, if it is integral and has
// at most maxDigits digits. It adds zeros only when another digit follows, so that no
// notation of a small number overflows.
func parseDecimal(number []byte) (n uint64, exact bool) {
	mantissa, exponent := cutExponent(number)
	size, zeros := 0, 0
	for i, b := range mantissa {
		switch {
		case b == '.':
			exponent -= len(mantissa) - i - 1
		case b == '0' && n == 0:
		case b == '0':
			zeros++
		default:
			if size += zeros + 1; size > maxDigits {
				return 0, false
			}
			n = shift(n, zeros+1) + uint64(b-'0')
			zeros = 0
		}
	}
	exponent += zeros
	if n == 0 {
		return 0, len(mantissa) > 0
	}
	if exponent < 0 || size+exponent > maxDigits {
		return 0, false
	}
	return shift(n, exponent), true
}

// shift returns n with a number of zeros appended.
func shift(n uint64, zeros int) uint64 {
	for range zeros {
		n *= 10
	}
	return n
}

// cutExponent cuts a number before its exponent. An exponent that is too large for any
// document to compensate is returned as a smaller one with the same effect.
func cutExponent(number []byte) (mantissa []byte, exponent int) {
	e := bytes.IndexAny(number, "eE")
	if e < 0 {
		return number, 0
	}
	digits, negative := bytes.CutPrefix(number[e+1:], []byte("-"))
	for _, b := range bytes.TrimPrefix(digits, []byte("+")) {
		exponent = min(exponent*10+int(b-'0'), math.MaxInt/20)
	}
	if negative {
		exponent = -exponent
	}
	return number[:e], exponent
}
