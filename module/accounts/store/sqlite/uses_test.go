package sqlite

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func TestUsesAreWrittenWithinAboutAMinute(t *testing.T) {
	path, key := filled(t)
	synctest.Test(t, func(t *testing.T) {
		s := store.New(&file{schema: accounts, path: path}, zap.NewNop)
		defer func() { assert.NoError(t, s.Close()) }()
		s.Open()
		synctest.Wait()
		require.True(t, s.Complete())
		require.NotNil(t, s.Lookup(key.Digest))
		used := time.Now()
		time.Sleep(61 * time.Second)
		synctest.Wait()
		stored, err := s.Key(t.Context(), aigateway.AnyUser, key.ID)
		require.NoError(t, err)
		assert.WithinRange(t, stored.Used, used, used.Add(61*time.Second))

		// The key is not used again, so the time does not change.
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		reread, err := s.Key(t.Context(), aigateway.AnyUser, key.ID)
		require.NoError(t, err)
		assert.Equal(t, stored.Used, reread.Used)
	})
}

func TestUsesOfManyKeysAreAllWritten(t *testing.T) {
	const many = 120 // needs two statements
	path, _ := filled(t)
	s := store.New(&file{schema: accounts, path: path}, zap.NewNop)
	for i := range many {
		key := storetest.NewKey(t, s, 1, fmt.Sprint(i))
		require.NotNil(t, s.Lookup(key.Digest))
	}
	require.NoError(t, s.Close())
	keys, total, err := databaseAt(path).Open(t).Keys(t.Context(), aigateway.AnyUser, aigateway.Page{Limit: 2 * many})
	require.NoError(t, err)
	assert.Equal(t, many+1, total)
	for _, key := range keys {
		assert.Equal(t, key.Name == "laptop", key.Used.IsZero(), key.Name)
	}
}

func TestChangesOfOthersCountWithinTwoSeconds(t *testing.T) {
	t.Parallel()
	path, key := filled(t)
	synctest.Test(t, func(t *testing.T) {
		here, there := databaseAt(path).Open(t), databaseAt(path).Open(t)
		synctest.Wait()
		require.NotNil(t, there.Lookup(key.Digest))
		require.NoError(t, here.DeleteKey(t.Context(), aigateway.AnyUser, key.ID))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		assert.Nil(t, there.Lookup(key.Digest))
		assert.True(t, there.Complete())
	})
}
