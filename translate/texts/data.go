package texts

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// The smallest number of digits that a number needs to be a text, and of bytes that a string needs
// to be data.
const (
	fewestDigits = 12
	fewestData   = 256
)

// isText reports whether a value that the reader has not recognised is a text. A number cannot
// become another text.
func isText(raw []byte, t *Text) bool {
	if !jsonscan.IsString(raw) {
		t.form = literal
		return len(spelledOut(raw)) >= fewestDigits
	}
	text := jsonscan.Inner(raw)
	return len(text) > 0 && (len(text) < fewestData || !isData(text))
}

// isData reports whether a long string has the form of base64 in one of its two alphabets, perhaps
// in a data URL. Guards do not search it: it is large, and random characters match some patterns.
// A string with a long number is no data, and neither are words that hyphens or underscores join.
func isData(text []byte) bool {
	const inURL = ";base64,"
	if i := bytes.Index(text[:fewestData], []byte(inURL)); i > 0 && bytes.HasPrefix(text, []byte("data:")) {
		text = text[i+len(inURL):]
	}
	text = bytes.TrimRight(text, "=")
	var upper, lower, digits, standard, url int
	for _, b := range text {
		switch {
		case b >= '0' && b <= '9':
			if digits++; digits > fewestDigits {
				return false
			}
			continue
		case b == '-': // it may be within a number
			url++
			continue
		case b >= 'A' && b <= 'Z':
			upper++
		case b >= 'a' && b <= 'z':
			lower++
		case b == '_':
			url++
		case b == '+', b == '/':
			standard++
		default:
			return false
		}
		digits = 0
	}
	const share = 8 // letters of each case are at least this part of random data
	return url == 0 || standard == 0 && share*min(upper, lower) >= len(text)
}

// appendSpelledOut appends JSON without strings, with its long numbers spelled out.
func appendSpelledOut(dst, raw []byte) []byte {
	for len(raw) > 0 {
		start := bytes.IndexAny(raw, "-0123456789")
		if start < 0 {
			break
		}
		number := raw[start:]
		number = number[:len(number)-len(bytes.TrimLeft(number, "+-.0123456789eE"))]
		dst, raw = append(dst, raw[:start]...), raw[start+len(number):]
		if spelled := spelledOut(number); len(spelled) >= fewestDigits {
			number = spelled
		}
		dst = append(dst, number...)
	}
	return append(dst, raw...)
}

// mostZeros bounds the digits that a number is spelled out with.
const mostZeros = 40

// spelledOut returns a number without an exponent, and without zeros behind the point: 4.2e3 and
// 4200.0 are 4200. A very large or small number stays as it is.
func spelledOut(raw []byte) []byte {
	mantissa, power, _ := bytes.Cut(bytes.ToLower(raw), []byte("e"))
	exponent, err := strconv.Atoi(cmp.Or(string(power), "0"))
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	whole, negative := bytes.CutPrefix(whole, []byte("-"))
	if err != nil || exponent > mostZeros || exponent < -mostZeros || len(raw) > 4*mostZeros || len(power) == 0 && len(fraction) == 0 {
		return raw
	}
	digits, point := slices.Concat(whole, fraction), len(whole)+exponent
	if point < 0 {
		digits, point = append(bytes.Repeat([]byte("0"), -point), digits...), 0
	}
	if missing := point - len(digits); missing > 0 {
		digits = append(digits, bytes.Repeat([]byte("0"), missing)...)
	}
	text := bytes.TrimLeft(digits[:point], "0")
	if len(text) == 0 {
		text = []byte("0")
	}
	if decimals := bytes.TrimRight(digits[point:], "0"); len(decimals) > 0 {
		text = slices.Concat(text, []byte("."), decimals)
	}
	if negative {
		text = append([]byte("-"), text...)
	}
	return text
}
