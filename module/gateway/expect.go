package gateway

import (
	"bytes"
	"math"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
)

// expect estimates what a request may use: its prompt, as often as it is sent,
// and all that its answers may have. A count of tokens uses none.
func expect(ex *exchange.Exchange, m *model) (b bill) {
	if ex.Operation == translate.CountTokens {
		return bill{}
	}
	v, first := &ex.View, m.targets[0]
	most := v.MaxTokens
	if most == 0 {
		most = first.traitsOf(v.Model).MaxTokens()
		b.assumed = most
	}
	most = timesAtMost(timesAtMost(most, v.Answers), v.Prompts)
	b.prompt = promptTokens(ex.Body)
	if v.Answers > 1 && first.fansOut(ex) {
		b.prompt = timesAtMost(b.prompt, v.Answers)
	}
	b.reserved = b.prompt + min(most, math.MaxInt64-b.prompt)
	return b
}

// fansOut reports whether each of several answers is a call of its own, with the
// whole prompt.
func (t target) fansOut(ex *exchange.Exchange) bool {
	format, _ := t.provider.speakFor(ex.Format)
	return format != ex.Format && (format == translate.Messages || t.traitsOf(ex.View.Model).FanOutN || ex.View.Prompts > 1)
}

// timesAtMost multiplies a number that is not negative, up to the largest there
// is; 0 times stand for once.
func timesAtMost(n, times int64) int64 {
	times = max(1, times)
	if n > math.MaxInt64/times {
		return math.MaxInt64
	}
	return n * times
}

// unbroken is from how many bytes on a string is looked at more closely.
const unbroken = 4 << 10

// promptTokens estimates the tokens of a body by its length, without reading it:
// a long string that looks like a file counts as an image, whatever its size.
func promptTokens(body []byte) int64 {
	text, files := len(body), 0
	for at := 0; len(body)-at > unbroken; {
		if quote := bytes.LastIndexByte(body[at:at+unbroken], '"'); quote >= 0 {
			at += quote + 1
			continue
		}
		rest := bytes.IndexByte(body[at+unbroken:], '"')
		if rest < 0 {
			break // there are no strings any more
		}
		end := at + unbroken + rest
		if isFile(body[at:end]) {
			files++
			text -= end - at
		}
		at = end
	}
	return int64(text)/messages.DefaultBytesPerToken + int64(files)*messages.TokensOfImage + 1
}

// Where a long string is looked at behind its beginning: at this many bytes,
// time and again. To read all of it would cost as much as to decode it.
const (
	sample      = 64
	sampleEvery = 1 << 10
)

// isFile reports whether a long string looks encoded throughout.
func isFile(s []byte) bool {
	s = withoutPrefix(s)
	if !looksEncoded(s[:unbroken/2]) || !looksEncoded(s[len(s)-sample:]) {
		return false
	}
	for at := unbroken / 2; at+sample < len(s); at += sampleEvery {
		if !looksEncoded(s[at : at+sample]) {
			return false
		}
	}
	return true
}

// withoutPrefix removes the beginning of a data URL.
func withoutPrefix(s []byte) []byte {
	const longest = 256
	marker := []byte(";base64,")
	if at := bytes.Index(s[:longest], marker); at >= 0 {
		return s[at+len(marker):]
	}
	return s
}

// looksEncoded reports whether a part of a string has only characters of base64:
// no language goes without others for long. Of what JSON escapes that is the
// slash alone, where others could stand for all that a language needs.
func looksEncoded(part []byte) bool {
	for i, b := range part {
		letter := b|0x20 >= 'a' && b|0x20 <= 'z'
		slash := b == '\\' && (i+1 == len(part) || part[i+1] == '/')
		if !letter && !slash && !(b >= '/' && b <= '9') && b != '+' && b != '-' && b != '_' && b != '=' {
			return false
		}
	}
	return true
}
