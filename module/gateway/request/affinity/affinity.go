// Package affinity derives a session number from a request, so that all requests of a
// conversation can go to the target that has cached its prompt.
//
// The number of a session is the same in every process, and differs between owners. The
// package keeps no state. It refuses a source that no request can have.
package affinity

import (
	"errors"
	"fmt"
	"net/textproto"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/rendezvous"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Source is a place in requests that can identify the session: "header.NAME", or the path
// of a string in the body, with at most two names, such as "metadata.user_id".
type Source string

// Sources are read in order. The first one that has a text identifies the session.
// Without sources, no request has a session.
type Sources []Source

// Default are the sources that well-known clients fill: Claude Code, opencode, Codex
// and the official SDKs.
var Default = Sources{
	"header.X-Claude-Code-Session-Id", "header.X-Session-Affinity",
	"prompt_cache_key", "metadata.user_id", "user",
}

// What coding agents send about themselves: Claude Code, Codex and opencode, in this order. Codex writes on
// sockets what its other requests have in headers.
var (
	// Sessions have the id of a session. They differ from Default, since no user is a session. A subagent of
	// opencode has a session of its own, and states that of its parent.
	Sessions = Sources{"header.X-Claude-Code-Session-Id", "header.Session-Id", "header.X-Parent-Session-Id", "header.X-Session-Affinity", "prompt_cache_key"}
	// Agents have the id of an agent within its session.
	Agents = Sources{"header.X-Claude-Code-Agent-Id", "header.Thread-Id"}
	// Subagents have a text in the requests of subagents and of work in the background alone.
	Subagents = Sources{
		"header.X-Claude-Code-Agent-Id", "header.X-Openai-Subagent", "header.X-Parent-Session-Id", "client_metadata.x-openai-subagent",
	}
)

const headerSource = "header."

var errOff = errors.New("off must be the only value")

// Check returns an error unless the source is valid.
func (s Source) Check() error {
	header, isHeader := strings.CutPrefix(string(s), headerSource)
	names := strings.Split(string(s), ".")
	switch {
	case s == "off":
		return errOff
	case isHeader && header != "" && strings.Trim(header, tokenCharacters) == "":
		return nil
	case !isHeader && len(names) <= 2 && !slices.ContainsFunc(names, isNoField):
		return nil
	}
	return fmt.Errorf("'%s' is neither header.NAME nor the name of a field, such as metadata.user_id", s)
}

// isNoField reports whether a name cannot be the name of a field. All formats write fields
// in lower case, so the name of a header without its prefix is recognized as a mistake.
func isNoField(name string) bool { return name == "" || strings.Trim(name, fieldCharacters) != "" }

// Check returns the error of the first source that is not valid.
func (s Sources) Check() error {
	for _, source := range s {
		if err := source.Check(); err != nil {
			return err
		}
	}
	return nil
}

const (
	tokenCharacters = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	fieldCharacters = "_0123456789abcdefghijklmnopqrstuvwxyz"
)

// Session returns the seed of the session of a request, 0 if no source has a text. Owners
// never share a session. body is valid JSON.
func (s Sources) Session(owner string, header func(name string) string, body []byte) uint64 {
	if text, _ := s.Text(header, body); text != "" {
		return rendezvous.Seed(owner, text)
	}
	return 0
}

// Text returns the text of the first source that has one, and that source. body is valid
// JSON, or nil.
func (s Sources) Text(header func(name string) string, body []byte) (text string, origin Source) {
	var members map[string][]byte // of the body, read when the first source needs them
	for _, source := range s {
		name, isHeader := strings.CutPrefix(string(source), headerSource)
		if isHeader {
			if text := header(textproto.CanonicalMIMEHeaderKey(name)); text != "" {
				return text, source
			}
			continue
		}
		if members == nil {
			members = s.members(body)
		}
		if text := textAt(members, string(source)); text != "" {
			return text, source
		}
	}
	return "", ""
}

// members returns the top-level members of the body that the sources name.
func (s Sources) members(body []byte) map[string][]byte {
	values := make(map[string][]byte, len(s))
	for name, value := range jsonscan.Members(body) {
		for _, source := range s {
			if first, _, _ := strings.Cut(string(source), "."); first == string(name) {
				values[first] = value
			}
		}
	}
	return values
}

// textAt returns the string at a path, "" if there is none.
func textAt(members map[string][]byte, path string) string {
	first, second, nested := strings.Cut(path, ".")
	if !nested {
		return jsonscan.TextOf(members[first])
	}
	for name, value := range jsonscan.Members(members[first]) {
		if string(name) == second {
			return jsonscan.TextOf(value)
		}
	}
	return ""
}
