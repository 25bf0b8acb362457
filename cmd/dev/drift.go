package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// driftFolder has the versions of the SDKs, the program that walks their types, and what was
// judged of the differences.
const driftFolder = "testdata/drift"

// drift compares the newest types of the vendors' SDKs with what the formats know: each member of a
// request or an answer, and each of its words, alone, and the names of models with the table of models. It prints what is lost without a word, and
// fails if some of that is not judged in judged.txt, or if a line of that file is about nothing.
// The versions are those of package.json, or with latest the newest ones, which are written to it.
func drift(latest bool) error {
	if err := install(latest); err != nil {
		return err
	}
	walk := exec.Command("node", "walk.js")
	walk.Dir, walk.Stderr = driftFolder, os.Stderr
	samples, err := walk.Output()
	if err != nil {
		return fmt.Errorf("walking the types: %w", err)
	}
	findings, count, err := findingsOf(samples)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path.Join(driftFolder, "judged.txt"))
	if err != nil {
		return fmt.Errorf("reading what is judged: %w", err)
	}
	unjudged, unused := judge(findings, text)
	fmt.Printf("%d samples, %d findings, %d of them are not judged\n", count, len(findings), len(unjudged))
	for _, line := range unjudged {
		fmt.Println(line)
	}
	for _, line := range unused {
		fmt.Println("judged.txt: no finding is", line)
	}
	if len(unjudged)+len(unused) > 0 {
		return errors.New("mend what is wrong, and add what is right to " + driftFolder + "/judged.txt, below the reason")
	}
	return nil
}

// install installs the SDKs. The newest versions are asked for by number: without one, npm chooses
// the newest that fits the version of Node, which may be years old, and does not mention it.
func install(latest bool) error {
	command := []string{"npm", "ci", "--prefix", driftFolder, "--prefer-offline", "--loglevel=error"}
	if latest {
		text, err := os.ReadFile(path.Join(driftFolder, "package.json"))
		if err != nil {
			return fmt.Errorf("reading the versions: %w", err)
		}
		var list struct{ Dependencies map[string]string }
		if err := json.Unmarshal(text, &list); err != nil {
			return fmt.Errorf("reading the versions: %w", err)
		}
		command[1] = "install"
		for name := range list.Dependencies {
			version, err := output("npm", "view", name, "version")
			if err != nil {
				return err
			}
			command = append(command, name+"@"+strings.TrimSpace(version))
		}
	}
	return run(command...)
}

// findingsOf returns the findings of all samples, one a line of JSON, and the number of samples.
func findingsOf(samples []byte) (findings []string, count int, err error) {
	lines := bufio.NewScanner(bytes.NewReader(samples))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		s, err := readSample(lines.Bytes())
		if err != nil {
			return nil, 0, err
		}
		findings = append(findings, s.findings()...)
		count++
	}
	return findings, count, lines.Err()
}

// judge returns the findings that no line of a text covers, and the lines that cover none. A line
// is a finding in which "*" matches any text; lines that begin with "#" give the reasons.
func judge(findings []string, text []byte) (unjudged, unused []string) {
	covers := make(map[string]bool)
	var judged []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			judged = append(judged, line)
		}
	}
	for _, finding := range findings {
		i := slices.IndexFunc(judged, func(line string) bool { return matches(line, finding) })
		if i < 0 {
			unjudged = append(unjudged, finding)
			continue
		}
		covers[judged[i]] = true
	}
	for _, line := range judged {
		if !covers[line] {
			unused = append(unused, line)
		}
	}
	return unjudged, unused
}

// matches reports whether a pattern matches a text; "*" in it matches any text.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	last := len(parts) - 1
	if !strings.HasPrefix(text, parts[0]) || !strings.HasSuffix(text[len(parts[0]):], parts[last]) {
		return false
	}
	text = text[len(parts[0]) : len(text)-len(parts[last])]
	for _, part := range parts[1:last] {
		_, rest, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = rest
	}
	return true
}
