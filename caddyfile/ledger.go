package caddyfile

import (
	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
)

var ledgerWords = words[*backends.Ledger]{
	"journal": {read: checked(func(d *cf.Dispenser, l *backends.Ledger) (err error) {
		l.Journal, err = readOne(d)
		return err
	})},
	"journal_max": {read: func(d *cf.Dispenser, l *backends.Ledger) (err error) {
		l.JournalMax, err = readSize(d)
		return err
	}},
	"sync": {read: checked(readSync)},
	"records": {read: func(d *cf.Dispenser, l *backends.Ledger) (err error) {
		l.Records, err = readCount(d)
		return err
	}},
	"zone": {read: checked(func(d *cf.Dispenser, l *backends.Ledger) (err error) {
		l.Zone, err = readOne(d)
		return err
	})},
	"on_error": {read: checked(func(d *cf.Dispenser, l *backends.Ledger) (err error) {
		l.OnError, err = readOne(d)
		return err
	})},
}

// checked returns a reader that also checks the ledger, so that an error has the line of
// the word.
func checked(read func(*cf.Dispenser, *backends.Ledger) error) func(*cf.Dispenser, *backends.Ledger) error {
	return func(d *cf.Dispenser, l *backends.Ledger) error {
		if err := read(d, l); err != nil {
			return err
		}
		if err := l.Check(); err != nil {
			return d.WrapErr(err)
		}
		return nil
	}
}

// readLedger reads the ledger. Syntax:
//
//	ledger off
//	ledger {
//		journal     <folder>
//		journal_max <size>
//		sync        <duration> | always
//		records     <days>
//		zone        <time zone>
//		on_error    serve | block
//	}
func readLedger(d *cf.Dispenser, c *config) error {
	switch args := d.RemainingArgs(); {
	case len(args) == 1 && args[0] == "off":
		c.gateway.DisableLedger = true
		if d.NextBlock(d.Nesting()) {
			return d.Err("ledger off has no block")
		}
		return nil
	case len(args) > 0:
		return d.Err("ledger has a block, or the value off")
	}
	c.gateway.Ledger = new(backends.Ledger)
	return ledgerWords.readBlock(d, "ledger", c.gateway.Ledger, nil)
}

// readSync reads how often the journal is flushed to the disk.
func readSync(d *cf.Dispenser, l *backends.Ledger) (err error) {
	if d.NextArg() {
		if d.Val() == "always" && d.CountRemainingArgs() == 0 {
			l.Sync = -1
			return nil
		}
		d.Prev()
	}
	l.Sync, err = readDuration(d)
	return err
}
