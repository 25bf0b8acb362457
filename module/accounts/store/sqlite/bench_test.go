package sqlite

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func TestLookupAllocatesNothing(t *testing.T) {
	path, key := filled(t)
	s := databaseAt(path).Open(t)
	storetest.Current(t, s)
	assert.Zero(t, testing.AllocsPerRun(1000, func() {
		if s.Lookup(key.Digest) == nil || s.Lookup(aigateway.Digest{}) != nil {
			panic("the snapshot has the wrong number of keys")
		}
	}))
}

func BenchmarkLookup(b *testing.B) {
	s := newFile(b).Open(b)
	key := storetest.NewKey(b, s, storetest.NewUser(b, s, "alice", aigateway.RoleUser).ID, "laptop")
	require.NotNil(b, s.Lookup(key.Digest))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			s.Lookup(key.Digest)
		}
	})
}
