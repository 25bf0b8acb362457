package caddyfile

import (
	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
)

// readPrice reads a price of models of a provider. Syntax:
//
//	price <model> <column> <value> [<column> <value>...]
func readPrice(d *cf.Dispenser, p *provider) error {
	const usage = "a price is: price <model> input <number> output <number>, per million tokens"
	if !d.NextArg() {
		return d.Err(usage)
	}
	model := d.Val()
	columns, err := readColumns(d, usage)
	if err != nil {
		return err
	}
	columns["models"] = model
	p.config.Prices = append(p.config.Prices, columns)
	if err := catalog.CheckPrices(p.config); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

// readTargetPrice returns a function that reads a price of a target, or of all targets of
// a model. Syntax:
//
//	price <column> <value> [<column> <value>...]
func readTargetPrice[T any](pricesOf func(T) *[]map[string]string) func(*cf.Dispenser, T) error {
	return func(d *cf.Dispenser, t T) error {
		columns, err := readColumns(d, "a price is: price input <number> output <number>, per million tokens")
		if err != nil {
			return err
		}
		prices := pricesOf(t)
		*prices = append(*prices, columns)
		if err := catalog.CheckTargetPrices(*prices); err != nil {
			return d.WrapErr(err)
		}
		return nil
	}
}

// readColumns reads pairs of a column of a price and its value. usage is the error for
// arguments that are not pairs.
func readColumns(d *cf.Dispenser, usage string) (map[string]string, error) {
	args := d.RemainingArgs()
	if len(args) < 2 || len(args)%2 != 0 {
		return nil, d.Err(usage)
	}
	columns := make(map[string]string)
	for i := 0; i < len(args); i += 2 {
		if columns[args[i]] != "" {
			return nil, d.Errf("price names %s twice", args[i])
		}
		columns[args[i]] = args[i+1]
	}
	return columns, nil
}
