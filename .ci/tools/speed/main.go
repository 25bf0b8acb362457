// Command speed compares the benchmarks of translations with each other. It
// reads the output of any number of passes of `go test -bench` and prints, for
// each pair of formats, how many times as long it takes as messages clients with
// chat providers do: for a byte of a request or a JSON answer, and for a delta
// of text in a stream.
//
// No pair should take more than twice as long. One that does is marked and is no
// failure: machines are shared, and a busy one proves nothing. The quickest pass
// of each benchmark counts, for the same reason. It is an error if nothing can be
// compared.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// tolerated is how many times as long as the base a pair may take, unmarked.
const tolerated = 2

// policy is how the benchmarks of one function are compared.
type policy struct {
	base string         // what the others are compared with
	unit string         // of the compared value
	rate bool           // more of the unit is better
	only *regexp.Regexp // the compared benchmarks, nil for all
}

var policies = map[string]policy{
	"BenchmarkRequest": {base: "messages-chat", unit: "MB/s", rate: true},
	"BenchmarkAnswer":  {base: "chat-messages", unit: "MB/s", rate: true},
	"BenchmarkDelta":   {base: "chat_to_messages,_text", unit: "ns/op", only: regexp.MustCompile(`,_text$`)},
}

func main() {
	if err := compare(os.Stdout, os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(1)
	}
}

// compare writes a line for each benchmark in results, in their order.
func compare(w io.Writer, results io.Reader) error {
	all, err := read(results)
	if err != nil {
		return err
	}
	for function, p := range policies {
		if all.cost[benchmark{function, p.base}] == 0 {
			return fmt.Errorf("no result of %s/%s to compare with", function, p.base)
		}
	}
	for _, b := range all.order {
		times := all.cost[b] / all.cost[benchmark{b.function, policies[b.function].base}]
		mark := ""
		if times > tolerated {
			mark = " MORE THAN TWICE"
		}
		fmt.Fprintf(w, "%.2f %s/%s%s\n", times, b.function, b.name, mark)
	}
	return nil
}

type benchmark struct{ function, name string }

// passes is what several passes of the same benchmarks came to.
type passes struct {
	cost  map[benchmark]float64 // of the quickest pass
	order []benchmark           // of the first pass
}

// line is a result: function, name, number of processors, iterations, values.
var line = regexp.MustCompile(`^(Benchmark\w+)/(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)

func read(results io.Reader) (passes, error) {
	all := passes{cost: make(map[benchmark]float64)}
	lines := bufio.NewScanner(results)
	for lines.Scan() {
		match := line.FindStringSubmatch(lines.Text())
		if match == nil {
			continue
		}
		b, p := benchmark{match[1], match[2]}, policies[match[1]]
		if p.base == "" || p.only != nil && !p.only.MatchString(b.name) {
			continue
		}
		cost, err := p.cost(match[3])
		if err != nil {
			return all, fmt.Errorf("reading %s/%s: %w", b.function, b.name, err)
		}
		all.add(b, cost)
	}
	return all, lines.Err()
}

func (all *passes) add(b benchmark, cost float64) {
	least, known := all.cost[b]
	if !known {
		all.order = append(all.order, b)
	}
	if !known || cost < least {
		all.cost[b] = cost
	}
}

// cost returns the value of the policy's unit in "375.7 ns/op 713.42 MB/s",
// inverted for a rate.
func (p policy) cost(values string) (float64, error) {
	fields := strings.Fields(values)
	for i := 1; i < len(fields); i += 2 {
		if fields[i] != p.unit {
			continue
		}
		value, err := strconv.ParseFloat(fields[i-1], 64)
		if err == nil && value <= 0 {
			err = fmt.Errorf("%s %s is not positive", fields[i-1], p.unit)
		}
		if p.rate {
			value = 1 / value
		}
		return value, err
	}
	return 0, fmt.Errorf("no value in %s", p.unit)
}
