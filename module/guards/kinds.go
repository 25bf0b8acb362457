package guards

import (
	"iter"
	"regexp"
	"strings"
)

// span is a part of a text.
type span struct{ start, end int }

// kind is a built-in rule: what it finds, and the length of the longest match in bytes.
type kind struct {
	find    func(text string) iter.Seq[span]
	longest int
}

// kinds are the built-in rules by name.
var kinds = map[string]kind{
	"card":  {cards, 2*mostCardDigits - 1},
	"iban":  {ibans, mostIBAN + mostGap*(mostIBAN-1)},
	"key":   {keys, longestKey},
	"email": {emails, mostLocal + 1 + mostHost + 1 + mostTop},
}

// all returns the find of a pattern.
func all(pattern *regexp.Regexp) func(string) iter.Seq[span] {
	return func(text string) iter.Seq[span] {
		return func(yield func(span) bool) {
			for _, match := range pattern.FindAllStringIndex(text, mostEdits+1) {
				if !yield(span{match[0], match[1]}) {
					return
				}
			}
		}
	}
}

// mostGap is the largest number of separators between two groups of a number.
const mostGap = 3

// The characters of numbers, and the separators between their groups.
var (
	digitSet = setOf("09", "")
	alnumSet = setOf("09AZaz", "")
	tightSet = setOf("", " -")
	gapSet   = setOf("", " \t\r\n-./_")
)

// runs finds the runs of characters of a set, with at most some separators between two neighbours.
func runs(text string, letters, gaps *set, limit int) iter.Seq[span] {
	return func(yield func(span) bool) {
		for i := 0; i < len(text); i++ {
			if !letters.has(text[i]) {
				continue
			}
			s := span{i, i + 1}
			for j := i + 1; j < len(text); j++ {
				if letters.has(text[j]) {
					s.end = j + 1
				} else if j-s.end >= limit || !gaps.has(text[j]) {
					break
				}
			}
			if !yield(s) {
				return
			}
			i = s.end
		}
	}
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func isAlnum(b byte) bool { return isDigit(b) || isLetter(b) }

// begins and ends report whether a word begins or ends at an index of a text.
func begins(text string, i int) bool { return i == 0 || !isAlnum(text[i-1]) }
func ends(text string, i int) bool   { return i == len(text) || !isAlnum(text[i]) }

// mostIBAN is the length of the longest IBAN without separators.
const mostIBAN = 34

// ibanLengths are the lengths of IBANs by country, from the registry of ISO 13616.
const ibanLengths = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"

// lengthOf are the lengths by the two letters of the country, 0 for none.
var lengthOf = func() (lengths [26][26]int) {
	for country := range strings.FieldsSeq(ibanLengths) {
		lengths[country[0]-'A'][country[1]-'A'] = 10*int(country[2]-'0') + int(country[3]-'0')
	}
	return lengths
}()

// ibans finds the IBANs with the right length and the right check digits (ISO 13616).
func ibans(text string) iter.Seq[span] {
	return func(yield func(span) bool) {
		for run := range runs(text, &alnumSet, &gapSet, mostGap) {
			for i := run.start; i < run.end; i++ {
				if !begins(text, i) {
					continue
				}
				if end := ibanEnd(text, i, run.end); end > 0 {
					if !yield(span{i, end}) {
						return
					}
					i = end
				}
			}
		}
	}
}

// ibanEnd returns the end of the IBAN that begins at an index, 0 if none does.
func ibanEnd(text string, start, limit int) int {
	if limit-start < 4 || !isLetter(text[start]) || !isLetter(text[start+1]) || !isDigit(text[start+2]) || !isDigit(text[start+3]) {
		return 0
	}
	length := lengthOf[text[start]|0x20-'a'][text[start+1]|0x20-'a']
	if length == 0 {
		return 0
	}
	var digits [mostIBAN]byte
	compact := digits[:0]
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
	for i := range iban {
		b := iban[(i+4)%len(iban)]
		if isDigit(b) {
			rest = (10*rest + int(b-'0')) % 97
		} else {
			rest = (100*rest + int(b|0x20-'a') + 10) % 97
		}
	}
	return rest == 1
}
