package ledger

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/journal"
)

func entryAt(id int64, text string) entry {
	return entry{id: id, text: []byte(text), record: &aigateway.Record{Key: "laptop", User: "alice"}}
}

func TestPagesHaveTheirRecords(t *testing.T) {
	begin := periodBegin(idAt(time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)))
	long := string(make([]byte, pageSize))
	written := batch{
		entryAt(begin, "first of a period"), entryAt(begin+7, ""), entryAt(periodEnd(begin), long),
		entryAt(periodEnd(begin)+1, "of the next period"), entryAt(periodEnd(begin)+2, long), entryAt(periodEnd(begin)+3, "behind a full page"),
	}
	pages := pagesOf(written)
	var read batch
	var sizes []int
	for i := range pages {
		n := len(read)
		require.NoError(t, pages[i].each(func(id int64, text []byte) error {
			read = append(read, entryAt(id, string(text)))
			return nil
		}))
		assert.Equal(t, read[n].id, pages[i].first)
		assert.Equal(t, read[len(read)-1].id, pages[i].last)
		assert.Equal(t, map[owner]bool{{keyOwner, "laptop"}: true, {userOwner, "alice"}: true}, pages[i].owners)
		sizes = append(sizes, len(read)-n)
	}
	assert.Equal(t, written, read)
	assert.Equal(t, []int{3, 2, 1}, sizes)
}

// Retention deletes pages by their last record: a page of more time would keep records
// for longer, and a reader would have to look for ids in more pages.
func TestAPeriodIsAboutAMinute(t *testing.T) {
	id := idAt(time.Now())
	assert.LessOrEqual(t, periodBegin(id), id)
	assert.Equal(t, 65536*time.Millisecond, timeOf(periodEnd(id)+1).Sub(timeOf(periodBegin(id))))
}

func FuzzPage(f *testing.F) {
	f.Add([]byte{1, 2, 'a', 'b', 0, 0})
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, text []byte) {
		p := page{first: int64(journal.At(time.Now())), records: text}
		size := 0
		err := p.each(func(_ int64, record []byte) error {
			size += len(record)
			return nil
		})
		assert.LessOrEqual(t, size, len(text))
		if err != nil {
			assert.ErrorIs(t, err, errPage)
		}
	})
}
