package ledger

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/journal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

// open are the ledgers of this process by their directory. A new configuration is
// started before the old one is cleaned up, so that a ledger lasts over a reload. It
// also lasts as long as exchanges of an old configuration run, and may be used again
// meanwhile: its journal is locked.
var open = struct {
	sync.Mutex
	ledgers map[string]*shared
}{ledgers: make(map[string]*shared)}

// shared is a ledger of several configurations. It is closed when none of them uses it
// and no exchange runs.
type shared struct {
	*Ledger
	dir  string // in open
	uses int    // guarded by open
}

// Shared returns the ledger of a directory, the same one for the same directory, with
// the newest options. Without a directory in the options it is the usual one, or the
// next of its siblings that no other process uses. The module logs for the ledger.
func Shared(options aigateway.LedgerOptions, usual string, backend database.Backend, module caddy.ModuleID) (aigateway.Ledger, error) {
	logger := func() *zap.Logger { return caddy.Log().Named(string(module)) }
	dir := options.Journal
	if dir == "" {
		dir = usual
	}
	open.Lock()
	defer open.Unlock()
	known := open.ledgers[dir]
	if known == nil {
		opened, err := openFree(options, dir, backend, logger)
		if err != nil {
			return nil, err
		}
		known = &shared{Ledger: opened, dir: dir}
		known.idle = known.closeIdle
		open.ledgers[dir] = known
	}
	if err := known.reconfigure(options, backend); err != nil {
		return nil, err
	}
	known.uses++
	return known, nil
}

// reconfigure applies options to a ledger that is open.
func (s *shared) reconfigure(options aigateway.LedgerOptions, backend database.Backend) error {
	if s.db.Identity() != backend.Identity() {
		return fmt.Errorf("the journal %s belongs to another database until the process ends: name another journal", s.dir)
	}
	if err := options.Check(); err != nil {
		return err
	}
	options.Journal = s.options.Load().Journal
	s.configure(options)
	return nil
}

// Release implements aigateway.Ledger.
func (s *shared) Release() error {
	open.Lock()
	s.uses--
	open.Unlock()
	return s.closeUnused()
}

// closeIdle closes the ledger behind the last exchange, if nobody uses it.
func (s *shared) closeIdle() {
	open.Lock()
	unused := s.uses == 0
	open.Unlock()
	if !unused {
		return
	}
	go func() { // the client of the exchange does not wait
		if err := s.closeUnused(); err != nil {
			s.logger().Error("closing the ledger", zap.Error(err))
		}
	}()
}

func (s *shared) closeUnused() error {
	open.Lock()
	defer open.Unlock()
	if s.uses > 0 || s.running.Load() > 0 || open.ledgers[s.dir] != s {
		return nil
	}
	delete(open.ledgers, s.dir)
	return s.Close()
}

// mostSiblings is how many processes may use siblings of one directory.
const mostSiblings = 16

// siblings returns the directories that processes with the same usual one share.
func siblings(usual string) []string {
	dirs := []string{usual}
	for n := 2; n <= mostSiblings; n++ {
		dirs = append(dirs, fmt.Sprintf("%s-%d", usual, n))
	}
	return dirs
}

// openFree opens the ledger of a directory: a configured one, or the first of the usual
// ones that is free. What other processes have left in the others goes to the database.
func openFree(options aigateway.LedgerOptions, dir string, backend database.Backend, logger func() *zap.Logger) (*Ledger, error) {
	if options.Journal != "" {
		return Open(options, backend, logger)
	}
	var err error
	for _, options.Journal = range siblings(dir) {
		var opened *Ledger
		if opened, err = Open(options, backend, logger); err == nil {
			opened.done.Go(func() { opened.adopt(siblings(dir), backend) })
			return opened, nil
		}
		if !errors.Is(err, journal.ErrInUse) {
			break
		}
	}
	return nil, err
}

// adopt opens and closes the ledgers of directories that no process uses any more:
// what they have left goes to the database.
func (l *Ledger) adopt(dirs []string, backend database.Backend) {
	options := *l.options.Load()
	own := options.Journal
	for _, dir := range dirs {
		if _, err := os.Stat(dir); err != nil || dir == own {
			continue
		}
		options.Journal = dir
		left, err := Open(options, backend, l.logger)
		if err == nil {
			err = left.Close()
		}
		if err != nil && !errors.Is(err, journal.ErrInUse) {
			l.logger().Error("reading the journal of another process", zap.String("journal", dir), zap.Error(err))
		}
	}
}

var _ aigateway.Ledger = (*shared)(nil)
