package postgres

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

const (
	patience = time.Minute
	tick     = 5 * time.Millisecond
)

// fixture is a database with a user and a key.
type fixture struct {
	*storetest.Cluster
	dsn  string
	open storetest.Database
	key  *aigateway.StoredKey
}

func newFixture(t *testing.T, cluster *storetest.Cluster) *fixture {
	f := &fixture{Cluster: cluster, dsn: cluster.NewDatabase(t)}
	f.open = databaseAt(t, f.dsn)
	s := f.open.Open(t)
	f.key = storetest.NewKey(t, s, storetest.NewUser(t, s, "alice", aigateway.RoleRoot).ID, "laptop")
	return f
}

// connect returns a connection that no store uses.
func (f *fixture) connect(t *testing.T) *pgx.Conn {
	conn, err := pgx.Connect(t.Context(), f.dsn)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// deaf is a server without notifications.
type deaf struct{ database.Backend }

func (deaf) Listen(context.Context, func()) {}

func pollingAloneIsEnough(t *testing.T, f *fixture) {
	here, there := f.open.Open(t), storetest.Database(func() database.Backend { return deaf{f.open()} }).Open(t)
	storetest.Current(t, there)
	require.NotNil(t, there.Lookup(f.key.Digest))
	require.NoError(t, here.DeleteKey(t.Context(), aigateway.AnyUser, f.key.ID))
	require.Eventually(t, func() bool { return there.Lookup(f.key.Digest) == nil }, patience, tick)
}

func othersAreNotified(t *testing.T, f *fixture) {
	notified := make(chan struct{}, 10)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { // ends with cancel
		defer close(done)
		f.open().Listen(ctx, func() { notified <- struct{}{} })
	}()
	defer func() { cancel(); <-done }()
	<-notified // the first call means that LISTEN has succeeded
	s := store.New(f.open(), nop)
	require.NoError(t, s.DeleteKey(t.Context(), aigateway.AnyUser, f.key.ID))
	<-notified
	require.NoError(t, s.Close())

	// A new connection replaces a lost one, and changed is called for missed changes.
	f.terminateAll(t)
	<-notified
}

// terminateAll ends all connections to the database.
func (f *fixture) terminateAll(t *testing.T) {
	f.SQL(t, "postgres", `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`)
}

func downAtStart(t *testing.T, f *fixture) {
	f.Stop(t)
	s, logs := storetest.Observed(t, f.open())
	reason := storetest.Logged(t, logs, "not available")
	assert.Contains(t, reason, "PostgreSQL: dial: ")
	hidesDSN(t, f, reason)
	<-s.Opened() // the start of a gateway waits for it
	assert.False(t, s.Complete())
	_, err := s.UserByName(t.Context(), "alice")
	assert.ErrorIs(t, err, aigateway.ErrUnavailable)
	hidesDSN(t, f, err.Error())

	f.Start(t)
	storetest.Current(t, s)
	assert.NotNil(t, s.Lookup(f.key.Digest))
	storetest.Logged(t, logs, "available again")
}

func hidesDSN(t *testing.T, f *fixture, text string) {
	t.Helper()
	for part := range strings.FieldsSeq(f.dsn) {
		_, value, _ := strings.Cut(part, "=")
		if value != "postgres" { // the user, whose name is also part of "PostgreSQL"
			assert.NotContains(t, text, value)
		}
	}
}

func stoppedAndStarted(t *testing.T, f *fixture) {
	s, logs := storetest.Observed(t, f.open())
	storetest.Current(t, s)
	f.Stop(t)
	hidesDSN(t, f, storetest.Logged(t, logs, "not available"))
	assert.NotNil(t, s.Lookup(f.key.Digest), "known keys stay valid")
	// Unknown keys once still counted as invalid for two seconds.
	assert.False(t, s.Complete(), "the last check has failed")
	assert.ErrorIs(t, s.DeleteKey(t.Context(), aigateway.AnyUser, f.key.ID), aigateway.ErrUnavailable)

	f.Start(t)
	storetest.Current(t, s)
	assert.NotNil(t, s.Lookup(f.key.Digest), "what failed did not happen")
	require.NoError(t, s.DeleteKey(t.Context(), aigateway.AnyUser, f.key.ID))
	assert.Nil(t, s.Lookup(f.key.Digest))
}

// A change whose connection breaks while it waits for a lock is not made. The next change
// must succeed: it once failed if it got a pooled connection that was broken, too.
func cutInMidQuery(t *testing.T, f *fixture) {
	s := f.open.Open(t)
	storetest.Current(t, s)
	conn := f.connect(t)
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SELECT revision FROM gateway_state FOR UPDATE`)
	require.NoError(t, err)
	failed := make(chan error)
	go func() { failed <- s.DeleteKey(context.Background(), aigateway.AnyUser, f.key.ID) }() // ends by its own deadline
	require.Eventually(t, func() bool {
		return f.SQL(t, "postgres", `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'`) != "0"
	}, patience, tick)
	f.terminateAll(t)
	err = <-failed
	assert.ErrorIs(t, err, aigateway.ErrUnavailable)
	hidesDSN(t, f, err.Error())

	storetest.Current(t, s)
	assert.NotNil(t, s.Lookup(f.key.Digest))
	require.NoError(t, s.DeleteKey(t.Context(), aigateway.AnyUser, f.key.ID))
}

func slowServer(t *testing.T, f *fixture) {
	t.Parallel()
	s, logs := storetest.Observed(t, f.open())
	storetest.Current(t, s)
	tx, err := f.connect(t).Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `LOCK TABLE gateway_state, gateway_users IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := s.UserByName(context.Background(), "alice")
		assert.ErrorIs(t, err, aigateway.ErrUnavailable)
		assert.ErrorContains(t, err, "no answer")
	})
	wg.Go(func() {
		assert.ErrorIs(t, s.DeleteKey(context.Background(), aigateway.AnyUser, f.key.ID), aigateway.ErrUnavailable)
	})
	wg.Wait()
	assert.NotNil(t, s.Lookup(f.key.Digest))
	assert.False(t, s.Complete())
	storetest.Logged(t, logs, "not available")

	require.NoError(t, tx.Rollback(t.Context()))
	storetest.Current(t, s)
	assert.NotNil(t, s.Lookup(f.key.Digest), "what failed did not happen")
}

// Ensures that a gateway that vanishes during a change blocks others only for seconds.
func vanishedWriter(t *testing.T, f *fixture) {
	t.Parallel()
	tx, err := f.connect(t).Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), f.open().Dialect().LockWrites)
	require.NoError(t, err)
	s := f.open.Open(t)
	require.Eventually(t, func() bool {
		return s.DeleteKey(t.Context(), aigateway.AnyUser, f.key.ID) == nil
	}, patience, tick)
}

func olderSchema(t *testing.T, f *fixture) {
	open := databaseAt(t, f.NewDatabase(t))
	storetest.Migrated(t, open, storetest.MakeOlder(t, open()))
}

func newerSchema(t *testing.T, f *fixture) {
	_, err := f.connect(t).Exec(t.Context(), `UPDATE gateway_state SET version = 99`)
	require.NoError(t, err)
	s, logs := storetest.Observed(t, f.open())
	assert.Contains(t, storetest.Logged(t, logs, "not available"), "newer gateway")
	assert.ErrorIs(t, s.CreateUser(t.Context(), &aigateway.User{Name: "bob"}), aigateway.ErrUnavailable)
	assert.Equal(t, 1, logs.FilterMessageSnippet("not available").Len(), "%v", logs.All())
}

func refusedLogin(t *testing.T, f *fixture) {
	s, logs := storetest.Observed(t, databaseAt(t, strings.Replace(f.dsn, "user=postgres", "user=mallory", 1))())
	reason := storetest.Logged(t, logs, "not available")
	assert.Contains(t, reason, "the login was refused (SQLSTATE 28000)")
	hidesDSN(t, f, reason)
	assert.NotContains(t, reason, "mallory")
	_, err := s.User(t.Context(), 1)
	assert.ErrorIs(t, err, aigateway.ErrUnavailable)

	_, logs = storetest.Observed(t, databaseAt(t, strings.Replace(f.dsn, "dbname=", "dbname=no", 1))())
	assert.Contains(t, storetest.Logged(t, logs, "not available"), "the database does not exist")
}

func readOnlyServer(t *testing.T, f *fixture) {
	s := databaseAt(t, f.dsn+" default_transaction_read_only=on").Open(t)
	storetest.Current(t, s)
	assert.NotNil(t, s.Lookup(f.key.Digest))
	err := s.DeleteKey(t.Context(), aigateway.AnyUser, f.key.ID)
	assert.ErrorIs(t, err, aigateway.ErrUnavailable)
	assert.ErrorContains(t, err, "the database is read-only")
}

// During a failover, the pool connected to a server that was read-only at that moment. Each of its
// connections answered pings, and stayed for ever: nothing could be changed until a restart, and the
// store seemed to be well.
func readOnlyForAWhile(t *testing.T, f *fixture) {
	s := f.open.Open(t)
	storetest.Current(t, s)
	require.NoError(t, s.Degraded())
	database := f.connect(t).Config().Database
	f.SQL(t, "postgres", `ALTER DATABASE "`+database+`" SET default_transaction_read_only = on`)
	f.terminateAll(t)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.ErrorContains(c, s.Degraded(), "the database is read-only (SQLSTATE 25006)", "nothing is changed, all the same it is known")
	}, patience, tick)
	storetest.Current(t, s)
	assert.NotNil(t, s.Lookup(f.key.Digest), "keys can be read")
	f.SQL(t, "postgres", `ALTER DATABASE "`+database+`" RESET default_transaction_read_only`)
	require.Eventually(t, func() bool { return s.Degraded() == nil }, patience, tick, "without a change, and without a restart")
	require.NoError(t, s.DeleteKey(t.Context(), aigateway.AnyUser, f.key.ID))
}
