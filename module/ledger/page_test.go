package ledger

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/journal"
)

// entryAt returns an entry with a record of alice. The number of calls determines its size.
func entryAt(id int64, calls int) entry {
	r := accounting.Record{Key: "laptop", User: "alice", Calls: make([]accounting.Call, calls)}
	return entry{id, appendRecord(nil, &r)}
}

func TestPagesHaveTheirRecords(t *testing.T) {
	begin := periodBegin(idAt(time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)))
	const full = pageSize / 10
	written := batch{
		entryAt(begin, 1), entryAt(begin+7, 0), entryAt(periodEnd(begin), full), // one period
		entryAt(periodEnd(begin)+1, 2), entryAt(periodEnd(begin)+2, full), // the next period
		entryAt(periodEnd(begin)+3, 1), // after a full page
	}
	unreadable := entry{begin + 9, []byte("no record")}
	var read batch
	var sizes []int
	c, err := slices.Insert(slices.Clone(written), 2, unreadable).contents(make(internedNames), make([]byte, 0, largestPage), func(p *page) error {
		n := len(read)
		require.NoError(t, p.each(func(id int64, text []byte) error {
			read = append(read, entry{id, bytes.Clone(text)})
			return nil
		}))
		assert.Equal(t, read[n].id, p.first)
		assert.Equal(t, read[len(read)-1].id, p.last)
		assert.Equal(t, map[owner]bool{{keyOwner, "laptop"}: true, {userOwner, "alice"}: true}, p.owners)
		sizes = append(sizes, len(read)-n)
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, 1, c.unreadable)
	assert.Len(t, c.pages, len(sizes))
	assert.Equal(t, written, read)
	assert.Equal(t, []int{3, 2, 1}, sizes)
}

// Old pages are deleted by their last record. A longer period would keep records for
// longer, and a reader would have to search more pages for an id.
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
