// Command dev runs what changes of the code need again and again:
//
//	go run ./cmd/dev check             # format, vet, and the tests near the change
//	go run ./cmd/dev goldens           # write all golden files anew, and list those that changed
//	go run ./cmd/dev goldens caddyfile # the same for goldens whose command contains a word
//	go run ./cmd/dev bench             # the translation alone, and the gateway beside plain reverse_proxy
//	go run ./cmd/dev drift             # what the vendors' SDKs have and no format knows
//	go run ./cmd/dev drift latest      # the same with the newest versions of the SDKs
//	go run ./cmd/dev prices api.json   # what a public list of models has and the tables have not
//
// The change is what git calls one: what differs from the last commit, and files that are
// new. .ci/run runs everything that must pass before a merge.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"
)

// goldens are the commands that write golden files.
var goldens = []string{
	"go test ./translate/pairs -update",
	"go test ./caddyfile -update",
	"go test ./module -run TestTheAPIOfGuests -update",
	"go test ./module/command -run TestThePageOfTheCommands -update",
	"go test ./module/tests/faults -update",
}

// benchmarks are the commands whose figures a change of the hot path must not worsen.
// Figures of two runs cannot be compared, but ratios can.
var benchmarks = []string{
	"go test ./translate/pairs -run ^$ -bench ^Benchmark(Request|Answer|Delta)$ -benchmem",
	"go run ./cmd/benchmark -rounds 3",
}

func main() {
	var err error
	switch command, words := cmp.Or(slices.Concat(os.Args[1:], []string{""})[0], "help"), os.Args[min(2, len(os.Args)):]; command {
	case "check":
		err = check()
	case "goldens":
		err = write(words)
	case "bench":
		err = runAll(benchmarks, words)
	case "drift":
		err = drift(slices.Contains(words, "latest"))
	case "prices":
		err = propose(slices.Concat(words, []string{""})[0], os.Stdout, time.Now())
	default:
		err = errors.New("usage: go run ./cmd/dev check|goldens|bench|drift|prices [word]")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// write writes golden files, and lists the files that git sees changed afterwards.
func write(words []string) error {
	if err := runAll(goldens, words); err != nil {
		return err
	}
	fmt.Println("\nRead the difference of each golden file before you accept it:")
	return run("git", "status", "--short")
}

// runAll runs the commands that contain a word, or all without words, and goes on after
// one that failed.
func runAll(commands, words []string) error {
	var failed []error
	for _, command := range commands {
		if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return strings.Contains(command, w) }) {
			failed = append(failed, run(strings.Fields(command)...))
		}
	}
	return errors.Join(failed...)
}

// check formats nothing and changes nothing: it names what is wrong.
func check() error {
	folders, err := changed()
	if err != nil || len(folders) == 0 {
		return err
	}
	affected, err := importers(folders)
	if err != nil {
		return err
	}
	unformatted, err := output("gofmt", append([]string{"-l"}, folders...)...)
	if err == nil && unformatted != "" {
		err = fmt.Errorf("gofmt would change:\n%s", unformatted)
	}
	return errors.Join(
		err,
		run("go", "vet", "./..."),
		run(append([]string{"go", "test", "./module"}, affected...)...), // the tests of the repository itself are in module
	)
}

// changed returns the folders with changed or new Go files, "./" in front.
func changed() ([]string, error) {
	edited, err := output("git", "diff", "--name-only", "--diff-filter=d", "--relative", "HEAD")
	if err != nil {
		return nil, err
	}
	added, err := output("git", "ls-files", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	var folders []string
	for file := range strings.FieldsSeq(edited + "\n" + added) {
		if strings.HasSuffix(file, ".go") {
			folders = append(folders, "./"+path.Dir(file))
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders), nil
}

// importers returns the import paths of the packages in the folders, and of those that
// import one of them, without the integration tests, which run for minutes.
func importers(folders []string) ([]string, error) {
	own, err := output("go", append([]string{"list", "-e", "-f", "{{.ImportPath}}"}, folders...)...)
	if err != nil {
		return nil, err
	}
	changed := strings.Fields(own)
	all, err := output("go", "list", "-e", "-f", `{{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}`, "./...")
	if err != nil {
		return nil, err
	}
	affected := slices.Clone(changed)
	for line := range strings.Lines(all) {
		fields := strings.Fields(line)
		if slices.ContainsFunc(fields[1:], func(imported string) bool { return slices.Contains(changed, imported) }) && !strings.Contains(fields[0], "/module/tests/") {
			affected = append(affected, fields[0])
		}
	}
	slices.Sort(affected)
	return slices.Compact(affected), nil
}

func run(command ...string) error {
	fmt.Println("+", strings.Join(command, " "))
	c := exec.Command(command[0], command[1:]...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("running %s: %w", strings.Join(command, " "), err)
	}
	return nil
}

func output(name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Stderr = os.Stderr
	output, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("running %s: %w", name, err)
	}
	return string(output), nil
}
