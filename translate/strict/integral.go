package strict

import (
	"bytes"
	"strconv"
)

// integral reports whether a JSON number is an integer, however it is written
// and however large it is: 16, 16.0, 1.6e1, but not 16.5.
func integral(number []byte) bool {
	mantissa, exponent := number, 0
	if e := bytes.IndexAny(number, "eE"); e >= 0 {
		mantissa = number[:e]
		// An exponent beyond the range of int is read as its extreme, which no
		// document is long enough to balance.
		exponent, _ = strconv.Atoi(string(number[e+1:]))
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	if digits := bytes.TrimRight(fraction, "0"); len(digits) > 0 {
		return exponent >= len(digits)
	}
	digits := bytes.TrimRight(whole, "0")
	zeros := len(whole) - len(digits)
	zero := len(bytes.TrimLeft(digits, "-")) == 0
	return zero || zeros+exponent >= 0
}
