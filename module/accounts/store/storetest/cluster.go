package storetest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Cluster is a PostgreSQL server for tests. Tests may stop and start it.
type Cluster struct {
	bin, dir  string
	databases atomic.Int64 // created so far, by parallel tests
	emptied   sync.Once    // creates the database of EmptyDatabase
	first     sync.Mutex   // held while a test starts the server for all
	lifeline  io.Closer    // closing it ends the server
	process   *exec.Cmd
}

// postgres is the server of this process, nil if PostgreSQL is not installed.
var postgres = sync.OnceValues(newCluster)

// Postgres returns a running server, and false if PostgreSQL is not installed, which is
// a failure if CI is set. The server ends with the process.
func Postgres(t testing.TB) (*Cluster, bool) {
	t.Helper()
	cluster, err := postgres()
	require.NoError(t, err)
	if cluster == nil {
		require.Empty(t, os.Getenv("CI"), "PostgreSQL is not installed")
		t.Log("PostgreSQL is not installed: its tests do not run")
		return nil, false
	}
	cluster.first.Lock()
	defer cluster.first.Unlock()
	if cluster.process == nil {
		cluster.Start(t)
	}
	return cluster, true
}

func newCluster() (*Cluster, error) {
	bin := binaries()
	if bin == "" {
		return nil, nil
	}
	// The path is short, because the length of the path of a socket is bounded. The
	// user of the server must be able to write to the folder. TMPDIR may be in memory,
	// of which a database needs much.
	dir, err := os.MkdirTemp("/tmp", "postgres")
	if err != nil {
		return nil, err
	}
	c := &Cluster{bin: bin, dir: dir}
	if output, err := exec.Command("chmod", "0777", dir).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, output)
	}
	output, err := c.command("initdb", "-D", c.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, output)
	}
	return c, nil
}

// binaries returns the folder of the newest initdb, empty if there is none.
func binaries() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.SortFunc(found, func(a, b string) int { return len(a) - len(b) + strings.Compare(a, b) })
	if output, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		found = append(found, filepath.Join(strings.TrimSpace(string(output)), "initdb"))
	}
	for _, initdb := range slices.Backward(found) {
		if _, err := os.Stat(initdb); err == nil {
			return filepath.Dir(initdb)
		}
	}
	return ""
}

// Dump returns a database as the statements that pg_dump writes.
func (c *Cluster) Dump(t testing.TB, dsn string) string {
	t.Helper()
	output, err := exec.Command(filepath.Join(c.bin, "pg_dump"), "--dbname", dsn).Output()
	require.NoError(t, err)
	return string(output)
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

// command runs a program of PostgreSQL, which refuses to run as root.
func (c *Cluster) command(program string, args ...string) *exec.Cmd {
	args = append([]string{filepath.Join(c.bin, program)}, args...)
	if os.Getuid() == 0 {
		owner := "postgres"
		if _, err := user.Lookup(owner); err != nil {
			owner = "nobody"
		}
		args = append([]string{"setpriv", "--reuid", owner, "--clear-groups"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = c.dir
	return cmd
}

// untilClosed runs a command until the standard input ends, and then runs its first
// argument. The standard input also ends if this process is killed.
const untilClosed = `after=$1; shift; "$@" & cat >/dev/null; kill -INT $!; wait $!; eval "$after"`

// Start starts the server, and waits until it answers.
func (c *Cluster) Start(t testing.TB) {
	t.Helper()
	require.Nil(t, c.process, "the server runs already")
	server := c.command("postgres", "-D", c.data(), "-k", c.dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200")
	cleanup := "test -e '" + c.dir + "/keep' || rm -rf '" + c.dir + "'"
	c.process = exec.Command("sh", append([]string{"-c", untilClosed, "sh", cleanup}, server.Args...)...)
	c.process.Dir = c.dir
	log, err := os.OpenFile(filepath.Join(c.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	defer log.Close()
	c.process.Stdout, c.process.Stderr = log, log
	c.lifeline, err = c.process.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, c.process.Start())
	require.Eventually(t, func() bool {
		return c.command("pg_isready", "-q", "-h", c.dir).Run() == nil
	}, patience, tick)
}

// Stop stops the server, and closes its connections.
func (c *Cluster) Stop(t testing.TB) {
	t.Helper()
	keep := filepath.Join(c.dir, "keep")
	require.NoError(t, os.WriteFile(keep, nil, 0o600))
	require.NoError(t, c.lifeline.Close())
	require.NoError(t, c.process.Wait())
	require.NoError(t, os.Remove(keep))
	c.process = nil
}

// NewDatabase creates an empty database, and returns its DSN.
func (c *Cluster) NewDatabase(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test%d", c.databases.Add(1))
	c.SQL(t, "postgres", "CREATE DATABASE "+name)
	return c.DSN("postgres", name)
}

// EmptyDatabase empties the database that its first call creates, and returns its DSN. This
// takes a fraction of the time of NewDatabase, but the tests must run one after the other.
func (c *Cluster) EmptyDatabase(t testing.TB) string {
	t.Helper()
	c.emptied.Do(func() { c.SQL(t, "postgres", "CREATE DATABASE emptied") })
	c.SQL(t, "emptied", "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
	return c.DSN("postgres", "emptied")
}

// DSN returns the DSN of a database for a user.
func (c *Cluster) DSN(user, database string) string {
	return fmt.Sprintf("host=%s user=%s password=%s dbname=%s", c.dir, user, Password, database)
}

// Environment returns the variables with which programs find those of PostgreSQL, and these
// find the server.
func (c *Cluster) Environment() []string {
	return []string{"PATH=" + c.bin + string(os.PathListSeparator) + os.Getenv("PATH"), "PGHOST=" + c.dir, "PGUSER=postgres"}
}

// Password is the password in every DSN. The server does not check it. No output may
// contain it.
const Password = "pw-canary-51a7c0de"

// SQL runs statements in a database, and returns the output of psql.
func (c *Cluster) SQL(t testing.TB, database, statements string) string {
	t.Helper()
	output, err := c.command("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", c.dir, "-U", "postgres", "-d", database, "-c", statements).CombinedOutput()
	require.NoError(t, err, string(output))
	return strings.TrimSpace(string(output))
}
