package promptfile

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// newFile returns a file of requests of Gemini clients.
func newFile() *File {
	for _, f := range formats.All() {
		for i := range f.Objects.Paths {
			if form := f.Objects.Paths[i].Form; form != nil && form.Resumable != nil {
				return New(form.Requests, 1<<20, true)
			}
		}
	}
	return nil
}

// The sum decided about the price of long prompts, so that each large batch was reserved at it.
func TestTheVolumeOfAFileIsThatOfItsRequests(t *testing.T) {
	const short = `{"request":{"contents":[{"parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":7,"candidateCount":2},"serviceTier":"priority"}}`
	const open = `{"request":{"contents":[{"parts":[{"text":"hi there"}]}],"tools":[{"googleSearch":{}}]}}`
	tokens := func(line string) int64 { return int64(len(line)-len(`{"request":}`))/token.DefaultBytesPerToken + 1 }
	text := short + "\n\r\n" + open + "\n" + short
	for size := 1; size <= len(text); size++ {
		f := newFile()
		for rest := text; rest != ""; rest = rest[min(size, len(rest)):] {
			f = f.copy()
			require.Nil(t, f.Add([]byte(rest[:min(size, len(rest))])))
		}
		requests, refused := f.End()
		require.Nil(t, refused)
		assert.Equal(t, exchange.Volume{Prompt: 2*tokens(short) + tokens(open), Longest: tokens(short), Answer: 28, Open: 1, Searches: token.DefaultSearches, Terms: token.Priority}, *requests.Volume)
	}
}

// Uploads that no client ends took memory for ever.
func TestUnfinishedFilesAreForgottenBeyondTheBounds(t *testing.T) {
	var u Unfinished
	for i := range mostUnfinished + 10 {
		u.Put(strconv.Itoa(i), newFile())
	}
	assert.Len(t, u.files, mostUnfinished)
	assert.NotContains(t, u.files, "9")
	long := strings.Repeat("{", 1<<20)
	for i := range 100 {
		f := newFile()
		require.Nil(t, f.Add([]byte(long)))
		u.Put("long"+strconv.Itoa(i), f)
	}
	assert.LessOrEqual(t, u.held, mostHeld)
	assert.Len(t, u.files, mostHeld>>20)
	assert.Len(t, u.order, mostHeld>>20)
	begin := newFile
	assert.NotNil(t, u.Next("long99", 1<<20, begin))
	assert.NotSame(t, u.files["long99"], u.Next("long99", 1<<20, begin), "a piece that fails is sent again")
	assert.Nil(t, u.Next("long99", 0, begin), "other bytes in place of those that are stored")
	assert.Nil(t, u.Next("unknown", 5, begin))
	assert.NotNil(t, u.Next("unknown", 0, begin))
	u.Put("refused", &File{refused: true})
	assert.Nil(t, u.Next("refused", 0, begin))
}

// Whoever uploads no requests is not kept from it by a line that is none.
func TestAFileOfAKeyWithoutLimitsIsNotRefused(t *testing.T) {
	f := newFile()
	f.strict = false
	require.Nil(t, f.Add([]byte(`{"request":{"contents":[]}}`+"\n"+`{"request":7}`+"\n")))
	requests, refused := f.End()
	assert.Nil(t, requests)
	assert.Equal(t, (*fault.Fault)(nil), refused)
}
