// Package written keeps the lines of a Caddyfile with the configuration that was adapted from
// them. Caddy runs the JSON alone: the lines show an operator what runs in the words of the file,
// and where a mistake is that only loading finds.
package written

import (
	"fmt"
	"slices"
	"strings"
)

// Caddyfile is the directive or the global option ai_gateway of a Caddyfile, with its imports and
// environment variables inserted. It is for operators: nothing else depends on it.
type Caddyfile struct {
	// Digest is that of the configuration. If the configuration is changed later, by the admin
	// API, the lines no longer describe it and are dropped.
	Digest string `json:"digest"`

	// Lines are the lines with their places.
	Lines []Line `json:"lines"`
}

// Line is a line of a Caddyfile.
type Line struct {
	Place string `json:"at"`   // the place, such as Caddyfile:12
	Text  string `json:"text"` // with a tab for each block around it
}

// Part is what runs of a Caddyfile: the global option, or the directive of a site.
type Part struct {
	*Caddyfile          // nil if the configuration was not adapted from a Caddyfile
	Addresses  []string // of the site; none for the global option
}

// Text returns the parts as one Caddyfile. A part without lines is a comment.
func Text(parts []Part) string {
	var blocks []string
	for len(parts) > 0 {
		end := slices.IndexFunc(parts, func(p Part) bool { return !slices.Equal(p.Addresses, parts[0].Addresses) })
		if end < 0 {
			end = len(parts)
		}
		blocks = append(blocks, site(parts[:end]))
		parts = parts[end:]
	}
	return strings.Join(blocks, "\n")
}

// site returns the global option, or the directives of a site. The digests make configurations differ
// that are equal but for what they hide.
func site(parts []Part) string {
	addresses := strings.Join(parts[0].Addresses, ", ")
	name, head := "the global option", "{\n"
	if addresses != "" {
		name, head = addresses, addresses+" {\n"
	}
	var comments, lines strings.Builder
	for _, part := range parts {
		if part.Caddyfile == nil || len(part.Lines) == 0 {
			fmt.Fprintf(&comments, "# %s: what runs was not adapted from a Caddyfile, or was changed since; the admin API shows it at /config/\n", name)
			continue
		}
		fmt.Fprintf(&comments, "# %s: configuration %s\n", name, part.Digest)
		for _, line := range part.Lines {
			lines.WriteString("\t" + line.Text + "\n")
		}
	}
	if lines.Len() == 0 {
		return comments.String()
	}
	return comments.String() + head + lines.String() + "}\n"
}

// Place returns the place of the line that an error is about. It looks in the block that the error
// names, as provider 'local' or as key alice:, for a line with a path or a placeholder of the error,
// then for one with the word with which the error begins. Without any, it is the first line.
func (c *Caddyfile) Place(message string) string {
	lines := c.named(message)
	if line := mentioned(lines, message); line != nil {
		return line.Place
	}
	return lines[0].Place
}

// named returns the block that a message names first, all lines if it names none.
func (c *Caddyfile) named(message string) []Line {
	found, first := c.Lines, len(message)
	for i, line := range c.Lines {
		word, name := words(line)
		for _, named := range []string{word + " '" + name + "'", word + " " + name + ":"} {
			if index := strings.Index(message, named); depth(line) == 1 && name != "" && index >= 0 && index < first {
				found, first = block(c.Lines[i:]), index
			}
		}
	}
	return found
}

// block returns the first block of the lines of a directive, without its end.
func block(lines []Line) []Line {
	isNext := func(line Line) bool { return depth(line) <= 1 }
	return lines[:1+slices.IndexFunc(lines[1:], isNext)]
}

// mentioned returns the first line with an argument that a message repeats, else the line whose
// word the message begins with, nil if there is none.
func mentioned(lines []Line, message string) *Line {
	for i, line := range lines {
		for argument := range strings.FieldsSeq(line.Text) {
			if len(argument) > 2 && strings.ContainsRune("{/", rune(argument[0])) && strings.Contains(message, argument) {
				return &lines[i]
			}
		}
	}
	message = strings.TrimPrefix(strings.TrimPrefix(message, "loading "), "opening ")
	for i, line := range lines {
		word, _ := words(line)
		if rest, begins := strings.CutPrefix(message, word); begins && word != "}" && (rest == "" || strings.ContainsAny(rest[:1], ": ")) {
			return &lines[i]
		}
	}
	return nil
}

func depth(line Line) int { return len(line.Text) - len(strings.TrimLeft(line.Text, "\t")) }

// words returns the word of a line, and its first argument.
func words(line Line) (word, name string) {
	word, rest, _ := strings.Cut(strings.TrimLeft(line.Text, "\t"), " ")
	name, _, _ = strings.Cut(rest, " ")
	return word, name
}
