package playtime

import (
	"bytes"
	"regexp"
	"strconv"
)

// times is the line of a subtitle's times, in SubRip and in WebVTT.
var times = regexp.MustCompile(`-->[ \t]*(?:(\d{1,4}):)?([0-5]?\d):([0-5]?\d)(?:[.,]\d{1,3})?[ \t\r\n]`)

// OfSubtitles returns the last time of subtitles in seconds, begun ones included. text may be the
// end of the subtitles alone.
func OfSubtitles(text []byte) (seconds int64, ok bool) {
	for i := bytes.LastIndex(text, []byte("-->")); i >= 0; i = bytes.LastIndex(text[:i], []byte("-->")) {
		m := times.FindSubmatch(append(bytes.Clone(text[i:min(i+32, len(text))]), '\n'))
		if m == nil {
			continue // a spoken arrow
		}
		for _, part := range m[1:] {
			n, _ := strconv.ParseInt(string(part), 10, 64) // an absent hour is 0
			seconds = seconds*60 + n
		}
		return seconds + 1, true
	}
	return 0, false
}
