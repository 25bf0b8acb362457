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
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/queue"
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

// readOther reads the value of a word that has one value in place of its default.
func readOther(d *cf.Dispenser, byDefault, value string) error {
	name := d.Val()
	text, err := readOne(d)
	if err == nil && text != value {
		err = d.Errf("%s is %s by default and can only be %s, not '%s'", name, byDefault, value, text)
	}
	return err
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

// readList returns earlier and all arguments, which commas may separate. It refuses a line
// without arguments, and a value that occurs twice.
func readList(d *cf.Dispenser, earlier []string) ([]string, error) {
	return addTo(d, d.Val(), earlier, aigateway.SplitList(d.RemainingArgs()))
}

// addTo returns earlier and the values of a line.
func addTo(d *cf.Dispenser, name string, earlier, args []string) ([]string, error) {
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

// readReferences reads references to secrets. Commas may be part of one: {file./a,b}.
func readReferences(d *cf.Dispenser) ([]string, error) {
	references, err := addTo(d, d.Val(), nil, d.RemainingArgs())
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

// checkSecret returns an error unless ref is a reference.
func checkSecret(d *cf.Dispenser, ref string) error {
	if err := aigateway.CheckSecretReference(ref); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

// readQueue reads a queue: its length, and perhaps how long requests wait in it.
func readQueue(d *cf.Dispenser) (*queue.Config, error) {
	args := d.RemainingArgs()
	if len(args) != 1 && len(args) != 2 {
		return nil, d.Err("a queue is: queue <number of requests> [<longest wait>]")
	}
	length, err := strconv.Atoi(args[0])
	if err != nil || length < 1 {
		return nil, d.Errf("queue needs a whole number above zero, not '%s'", args[0])
	}
	c := &queue.Config{Length: length}
	if len(args) == 2 {
		patience, err := caddy.ParseDuration(args[1])
		if err != nil || patience <= 0 {
			return nil, d.Errf("queue: '%s' is no duration above zero, such as 10s", args[1])
		}
		c.Patience = caddy.Duration(patience)
	}
	if err := c.Check(1); err != nil {
		return nil, d.WrapErr(err)
	}
	return c, nil
}
