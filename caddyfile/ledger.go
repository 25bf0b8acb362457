package caddyfile

import (
	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/userbase"
)

var ledgerWords = words[*userbase.Ledger]{
	"journal": {read: func(d *cf.Dispenser, l *userbase.Ledger) (err error) {
		l.Journal, err = readOne(d)
		return err
	}},
	"journal_max": {read: func(d *cf.Dispenser, l *userbase.Ledger) (err error) {
		l.JournalMax, err = readSize(d)
		return err
	}},
	"sync": {read: readSync},
	"records": {read: func(d *cf.Dispenser, l *userbase.Ledger) (err error) {
		l.Records, err = readCount(d)
		return err
	}},
	"zone": {read: func(d *cf.Dispenser, l *userbase.Ledger) (err error) {
		l.Zone, err = readOne(d)
		return err
	}},
	"on_error": {read: func(d *cf.Dispenser, l *userbase.Ledger) (err error) {
		l.OnError, err = readOne(d)
		return err
	}},
}

// readLedger reads the ledger. Syntax:
//
//	ledger {
//		journal     <folder>
//		journal_max <size>
//		sync        <duration> | always
//		records     <days>
//		zone        <time zone>
//		on_error    serve | block
//	}
func readLedger(d *cf.Dispenser, c *config) error {
	line := *d // errors about the whole block contain its first line
	if d.CountRemainingArgs() > 0 {
		return d.Err("ledger has only a block")
	}
	c.Ledger = new(userbase.Ledger)
	if err := ledgerWords.readBlock(d, "ledger", c.Ledger, nil); err != nil {
		return err
	}
	if err := c.Ledger.Check(); err != nil {
		return line.WrapErr(err)
	}
	return nil
}

// readSync reads how often the journal is put on the disk.
func readSync(d *cf.Dispenser, l *userbase.Ledger) (err error) {
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

// readPrice reads what models of a provider cost. Syntax:
//
//	price <model> <column> <value> [<column> <value>...]
func readPrice(d *cf.Dispenser, p *provider) error {
	args := d.RemainingArgs()
	if len(args) < 3 || len(args)%2 == 0 {
		return d.Err("a price is: price <model> input <number> output <number>, per million tokens")
	}
	columns := map[string]string{"models": args[0]}
	for i := 1; i < len(args); i += 2 {
		if columns[args[i]] != "" {
			return d.Errf("price names %s twice", args[i])
		}
		columns[args[i]] = args[i+1]
	}
	p.Prices = append(p.Prices, columns)
	if err := catalog.CheckPrices(p.ProviderConfig); err != nil {
		return d.WrapErr(err)
	}
	return nil
}
