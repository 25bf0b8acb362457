package ledger

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/journal"
)

// open contains the open ledgers of this process by directory. Caddy starts a new
// configuration before it cleans up the old one, so a ledger stays open during a reload.
// A ledger also stays open while exchanges of an old configuration run. A new
// configuration must then use the same ledger, because its journal is locked.
var open = struct {
	sync.Mutex
	ledgers map[string]*shared
}{ledgers: make(map[string]*shared)}

// shared is a ledger that several configurations may use. It is closed when no
// configuration uses it and no exchange runs.
type shared struct {
	*Ledger
	dir  string // the key in open
	uses int    // guarded by open
}

// Shared returns the ledger of a directory. Calls with the same directory return the same
// ledger, with the options of the last call. If the options contain no directory, Shared
// uses the usual one, or its first sibling that no other process uses. backend is called for
// each ledger that is opened, those of siblings included: a backend belongs to one database
// handle. The ledger logs with the name of the module.
func Shared(options accounting.LedgerOptions, usual string, backend func() database.Backend, module caddy.ModuleID) (accounting.Ledger, error) {
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
		known.exchanges.idle = known.closeIdle
		open.ledgers[dir] = known
	}
	if err := known.reconfigure(options, backend()); err != nil {
		return nil, err
	}
	known.uses++
	return known, nil
}

// reconfigure applies options to a ledger that is open.
func (s *shared) reconfigure(options accounting.LedgerOptions, backend database.Backend) error {
	if s.db.Identity() != backend.Identity() {
		return fmt.Errorf("the journal %s is in use for another database until the process ends: name another journal", s.dir)
	}
	if err := options.Check(); err != nil {
		return err
	}
	options.Journal = s.options.Load().Journal
	s.configure(options)
	return nil
}

// Release implements accounting.Ledger.
func (s *shared) Release() error {
	open.Lock()
	s.uses--
	open.Unlock()
	return s.closeUnused()
}

// closeIdle closes the ledger after the last exchange, if no configuration uses it.
func (s *shared) closeIdle() {
	open.Lock()
	unused := s.uses == 0
	open.Unlock()
	if !unused {
		return
	}
	go func() { // so that the client of the exchange does not wait
		if err := s.closeUnused(); err != nil {
			s.logger().Error("closing the ledger", zap.Error(err))
		}
	}()
}

// closeUnused closes the ledger if no configuration uses it and no exchange runs.
func (s *shared) closeUnused() error {
	open.Lock()
	defer open.Unlock()
	if s.uses > 0 || s.exchanges.running.Load() > 0 || open.ledgers[s.dir] != s {
		return nil
	}
	delete(open.ledgers, s.dir)
	return s.Close()
}

// maxSiblings is the number of processes that can have the same usual directory.
const maxSiblings = 16

// siblings returns the directories for processes with the same usual directory.
func siblings(usual string) []string {
	dirs := []string{usual}
	for n := 2; n <= maxSiblings; n++ {
		dirs = append(dirs, fmt.Sprintf("%s-%d", usual, n))
	}
	return dirs
}

// openFree opens a ledger in the configured directory. Without one, it opens a ledger in
// the first sibling of dir that no process uses, and adopts the others.
func openFree(options accounting.LedgerOptions, dir string, backend func() database.Backend, logger func() *zap.Logger) (*Ledger, error) {
	if options.Journal != "" {
		return Open(options, backend(), logger)
	}
	var err error
	for _, options.Journal = range siblings(dir) {
		var opened *Ledger
		if opened, err = Open(options, backend(), logger); err == nil {
			opened.done.Go(func() { opened.adopt(siblings(dir), backend) })
			return opened, nil
		}
		if !errors.Is(err, journal.ErrInUse) {
			break
		}
	}
	return nil, err
}

// adopt opens and closes the ledgers of other directories that no process uses any more, so
// that their records are written to the database.
func (l *Ledger) adopt(dirs []string, backend func() database.Backend) {
	options := *l.options.Load()
	own := options.Journal
	for _, dir := range dirs {
		if _, err := os.Stat(dir); err != nil || dir == own {
			continue
		}
		options.Journal = dir
		other, err := Open(options, backend(), l.logger)
		if err == nil {
			err = other.Close()
		}
		if err != nil && !errors.Is(err, journal.ErrInUse) {
			l.logger().Error("reading the journal of another process", zap.String("journal", dir), zap.Error(err))
		}
	}
}

var _ accounting.Ledger = (*shared)(nil)
