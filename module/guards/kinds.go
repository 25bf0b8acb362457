package guards

import (
	"regexp"
	"strings"
	"sync"
)

// span is a part of a text.
type span struct{ start, end int }

// kind is a built-in rule: what it finds, and the length of the longest match in bytes.
type kind struct {
	find    func(text string) []span
	longest int
}

// kinds are the built-in rules by name.
var kinds = map[string]kind{
	"card":  {cards, 2*mostCardDigits - 1},
	"iban":  {ibans, 2 * mostIBAN},
	"key":   {whenUsed(keyShapes), 256},
	"email": {whenUsed(emailShape), 64 + 1 + 190 + 1 + 24},
}

// all returns the find of a pattern.
func all(pattern *regexp.Regexp) func(string) []span {
	return func(text string) (found []span) {
		for _, at := range pattern.FindAllStringIndex(text, -1) {
			found = append(found, span{at[0], at[1]})
		}
		return found
	}
}

// whenUsed returns the find of a pattern that the first call compiles: compiling those below
// takes milliseconds, and most gateways have no guard.
func whenUsed(pattern string) func(string) []span {
	find := sync.OnceValue(func() func(string) []span { return all(regexp.MustCompile(pattern)) })
	return func(text string) []span { return find()(text) }
}

const (
	emailShape = `\b[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,190}\.[A-Za-z]{2,24}\b`
	// keyShapes are the forms of the keys of this gateway and of well-known services, and the
	// first line of private keys.
	keyShapes = `\b(?:sk-[A-Za-z0-9_-]{20,250}|AKIA[0-9A-Z]{16}|gh[opsur]_[A-Za-z0-9]{36,250}|github_pat_[A-Za-z0-9_]{22,240}|glpat-[A-Za-z0-9_-]{20,240}|xox[abeoprs]-[A-Za-z0-9-]{10,240}|AIza[0-9A-Za-z_-]{35}|hf_[A-Za-z]{30,240}|npm_[A-Za-z0-9]{36})\b|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----`
)

// runs returns the runs of characters of a class, with at most one separator between two
// neighbours.
func runs(text string, in func(byte) bool) (found []span) {
	for i := 0; i < len(text); i++ {
		if !in(text[i]) {
			continue
		}
		s := span{i, i + 1}
		for j := i + 1; j < len(text); j++ {
			if in(text[j]) {
				s.end = j + 1
			} else if s.end < j || text[j] != ' ' && text[j] != '-' {
				break
			}
		}
		found = append(found, s)
		i = s.end
	}
	return found
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isAlnum(b byte) bool { return isDigit(b) || b|0x20 >= 'a' && b|0x20 <= 'z' }

// begins and ends report whether a word begins or ends at an index of a text.
func begins(text string, i int) bool { return i == 0 || !isAlnum(text[i-1]) }
func ends(text string, i int) bool   { return i == len(text) || !isAlnum(text[i]) }

// The lengths of card numbers, in digits.
const (
	fewestCardDigits = 13
	mostCardDigits   = 19
)

// cards finds the numbers of payment cards: of a known issuer, with the right length and the
// right check digit (ISO/IEC 7812). They begin and end where a group of digits does.
func cards(text string) (found []span) {
	for _, run := range runs(text, isDigit) {
		for i := run.start; i < run.end; i++ {
			if !isDigit(text[i]) || !begins(text, i) {
				continue
			}
			if end := cardEnd(text, i, run.end); end > 0 {
				found = append(found, span{i, end})
				i = end
			}
		}
	}
	return found
}

// cardEnd returns the end of the longest card number that begins at an index, 0 if none does.
func cardEnd(text string, start, limit int) (end int) {
	var digits [mostCardDigits]byte
	n := 0
	for i := start; i < limit && n < mostCardDigits; i++ {
		if !isDigit(text[i]) {
			continue
		}
		digits[n] = text[i] - '0'
		n++
		if n >= fewestCardDigits && ends(text, i+1) && isIssued(digits[:n]) && passesLuhn(digits[:n]) {
			end = i + 1
		}
	}
	return end
}

// isIssued reports whether a number has the beginning and the length of an issuer of cards.
func isIssued(digits []byte) bool {
	first4, n := 0, len(digits)
	for _, d := range digits[:4] {
		first4 = 10*first4 + int(d)
	}
	switch first2 := first4 / 100; {
	case first2/10 == 4:
		return n == 13 || n == 16 || n == 19
	case first2 >= 51 && first2 <= 55, first4 >= 2221 && first4 <= 2720:
		return n == 16
	case first2 == 34, first2 == 37:
		return n == 15
	case first2 == 36, first2 == 38, first2 == 39, first4 >= 3000 && first4 <= 3059:
		return n >= 14
	case first2 == 35, first2 == 60, first2 >= 62 && first2 <= 65, first2 == 81, first2 == 97:
		return n >= 16
	case first2 == 50, first2 >= 56 && first2 <= 69:
		return true
	}
	return false
}

// passesLuhn reports whether the last digit is the check digit of the others.
func passesLuhn(digits []byte) bool {
	sum := 0
	for i, d := range digits {
		if (len(digits)-i)%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += int(d)
	}
	return sum%10 == 0
}

// mostIBAN is the length of the longest IBAN without separators.
const mostIBAN = 34

// ibanLengths are the lengths of IBANs by country, from the registry of ISO 13616.
const ibanLengths = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"

// ibans finds the IBANs with the right length and the right check digits (ISO 13616).
func ibans(text string) (found []span) {
	for _, run := range runs(text, isAlnum) {
		for i := run.start; i < run.end; i++ {
			if !begins(text, i) {
				continue
			}
			if end := ibanEnd(text, i, run.end); end > 0 {
				found = append(found, span{i, end})
				i = end
			}
		}
	}
	return found
}

// ibanEnd returns the end of the IBAN that begins at an index, 0 if none does.
func ibanEnd(text string, start, limit int) int {
	if limit-start < 4 || isDigit(text[start]) || isDigit(text[start+1]) || !isDigit(text[start+2]) || !isDigit(text[start+3]) {
		return 0
	}
	_, behind, known := strings.Cut(ibanLengths, strings.ToUpper(text[start:start+2]))
	if !known || !isAlnum(text[start+1]) {
		return 0
	}
	length := 10*int(behind[0]-'0') + int(behind[1]-'0')
	compact := make([]byte, 0, mostIBAN)
	for i := start; i < limit; i++ {
		if !isAlnum(text[i]) {
			continue
		}
		if compact = append(compact, text[i]); len(compact) == length {
			if ends(text, i+1) && passesMod97(compact) {
				return i + 1
			}
			return 0
		}
	}
	return 0
}

// passesMod97 reports whether the check digits of an IBAN are right.
func passesMod97(iban []byte) bool {
	rest := 0
	for _, b := range append(iban[4:len(iban):len(iban)], iban[:4]...) {
		if isDigit(b) {
			rest = (10*rest + int(b-'0')) % 97
		} else {
			rest = (100*rest + int(b|0x20-'a') + 10) % 97
		}
	}
	return rest == 1
}
