package caddyfile

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/dustin/go-humanize"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/affinity"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/cors"
)

// Each function of this file reads the arguments of the current token, which is a word.

// readOne returns the only argument. Its error does not repeat the arguments, because
// one of them may be a misplaced secret.
func readOne(d *cf.Dispenser) (string, error) {
	name, args := d.Val(), d.RemainingArgs()
	if len(args) != 1 {
		return "", d.Errf("%s needs exactly one value", name)
	}
	return args[0], nil
}

// readDuration returns a duration above zero.
func readDuration(d *cf.Dispenser) (caddy.Duration, error) {
	name := d.Val()
	text, err := readOne(d)
	if err != nil {
		return 0, err
	}
	duration, err := caddy.ParseDuration(text)
	if err != nil || duration <= 0 {
		return 0, d.Errf("%s needs a duration above zero such as 30s, not '%s'", name, text)
	}
	return caddy.Duration(duration), nil
}

// readDurationOrOff is like readDuration, and returns -1 for off.
func readDurationOrOff(d *cf.Dispenser) (caddy.Duration, error) {
	if d.NextArg() {
		if d.Val() == "off" && d.CountRemainingArgs() == 0 {
			return -1, nil
		}
		d.Prev()
	}
	return readDuration(d)
}

// readSize returns a number of bytes above zero.
func readSize(d *cf.Dispenser) (int64, error) {
	name := d.Val()
	text, err := readOne(d)
	if err != nil {
		return 0, err
	}
	size, err := humanize.ParseBytes(text)
	if err != nil || size == 0 || size > math.MaxInt64 {
		return 0, d.Errf("%s needs a size above zero such as 32MiB, not '%s'", name, text)
	}
	return int64(size), nil
}

// readCount returns a whole number above zero.
func readCount(d *cf.Dispenser) (int, error) {
	name := d.Val()
	text, err := readOne(d)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, d.Errf("%s needs a whole number above zero, not '%s'", name, text)
	}
	return n, nil
}

// readOn reads the value of a word that is off by default.
func readOn(d *cf.Dispenser) (bool, error) {
	name := d.Val()
	value, err := readOne(d)
	if err == nil && value != "on" {
		err = d.Errf("%s is off by default and can only be on, not '%s'", name, value)
	}
	return true, err
}

// readPercentOrOff returns a whole percentage, "40%", or -1 for "off".
func readPercentOrOff(d *cf.Dispenser) (int, error) {
	name := d.Val()
	text, err := readOne(d)
	if err != nil || text == "off" {
		return -1, err
	}
	digits, isPercentage := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(digits)
	if err != nil || !isPercentage || n < 1 || n > 100 {
		return 0, d.Errf("%s needs a percentage from 1%% to 100%%, or off, not '%s'", name, text)
	}
	return n, nil
}

// readList returns earlier and all arguments. It refuses a line without arguments, and a
// value that occurs twice.
func readList(d *cf.Dispenser, earlier []string) ([]string, error) {
	name, args := d.Val(), d.RemainingArgs()
	if len(args) == 0 {
		return nil, d.Errf("%s needs at least one value", name)
	}
	list := earlier
	for _, arg := range args {
		if slices.Contains(list, arg) {
			return nil, d.Errf("%s names '%s' twice", name, arg)
		}
		list = append(list, arg)
	}
	return list, nil
}

// readReferences reads references to secrets.
func readReferences(d *cf.Dispenser) ([]string, error) {
	references, err := readList(d, nil)
	for _, reference := range references {
		if err == nil {
			err = checkSecret(d, reference)
		}
	}
	return references, err
}

// readPatterns is like readList, for model names and patterns.
func readPatterns(d *cf.Dispenser, earlier []string) ([]string, error) {
	list, err := readList(d, earlier)
	if err != nil {
		return nil, err
	}
	for _, pattern := range list {
		if _, err := aigateway.ParsePattern(pattern); err != nil {
			return nil, d.WrapErr(err)
		}
	}
	return list, nil
}

// readCORS reads the origins of web pages whose scripts may call the gateway.
func readCORS(d *cf.Dispenser, c *config) (err error) {
	if c.CORS, err = readList(d, nil); err != nil {
		return err
	}
	for _, origin := range c.CORS {
		if err := cors.Check(origin); err != nil {
			return d.Errf("cors: %w, not '%s'", err, origin)
		}
	}
	return nil
}

// readAffinity reads the headers and fields with the session of a request, or off.
func readAffinity(d *cf.Dispenser, c *config) error {
	list, err := readList(d, nil)
	if err != nil {
		return err
	}
	sources := affinity.Sources{}
	if !slices.Equal(list, []string{"off"}) {
		for _, source := range list {
			sources = append(sources, affinity.Source(source))
		}
	}
	if err := sources.Check(); err != nil {
		return d.Errf("affinity: %w", err)
	}
	c.Affinity = &sources
	return nil
}

// readTags reads the names of tags.
func readTags(d *cf.Dispenser, c *config) (err error) {
	if c.Tags, err = readList(d, nil); err != nil {
		return err
	}
	return checkNames(d, c)
}

// readCustomer reads the headers and fields with the customer of a request.
func readCustomer(d *cf.Dispenser, c *config) error {
	list, err := readList(d, nil)
	if err != nil {
		return err
	}
	for _, source := range list {
		c.Customer = append(c.Customer, affinity.Source(source))
	}
	return checkNames(d, c)
}

// checkNames returns an error for names of tags, or sources of customers, that are not valid.
func checkNames(d *cf.Dispenser, c *config) error {
	if err := c.Names.Check(); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

// readRetry reads the only value of retry, off.
func readRetry(d *cf.Dispenser, c *config) error {
	value, err := readOne(d)
	if err == nil && value != "off" {
		err = d.Errf("retry is on by default and can only be off, not '%s'", value)
	}
	c.DisableRetry = true
	return err
}

// checkSecret returns an error unless ref is a reference.
func checkSecret(d *cf.Dispenser, ref string) error {
	if err := aigateway.CheckSecretReference(ref); err != nil {
		return d.WrapErr(err)
	}
	return nil
}
