// Package pass decides which endpoints of a provider clients may call as they are, and what of
// their requests and answers is passed on.
//
// It promises that a client chooses nothing but a path that an operator has allowed, and that the
// path that was checked is the one that is sent, byte for byte. It refuses paths that a server could
// read in another way, the administration of the provider's account, and objects that are not the
// client's.
package pass

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Config passes requests below a prefix on to a provider.
type Config struct {
	// Prefix is the beginning of the paths of clients, with /* at the end: /pass/openai/*. The
	// provider gets what follows it.
	Prefix string `json:"prefix"`

	// Provider is the name of the provider that is called, with the first of its API keys.
	Provider string `json:"provider"`

	// Allow lists what is passed on. At least one rule is needed.
	Allow []Rule `json:"allow"`

	// Deny lists what is refused although Allow has it.
	Deny []Rule `json:"deny,omitempty"`

	// AllowUnpriced lets keys with a budget call endpoints and models whose cost is unknown. The budget
	// counts nothing for them. Default: such calls are refused.
	AllowUnpriced bool `json:"allow_unpriced,omitempty"`

	// AllowAdmin lets keys call the endpoints by which the provider's account is administered, such as
	// those of its users and API keys, where Allow has them. Default: they are refused.
	AllowAdmin bool `json:"allow_admin,omitempty"`

	// Headers are further headers that are passed on in both directions. Default: those of the
	// official SDKs.
	Headers []string `json:"headers,omitempty"`

	// IDs are how clients get the ids of the objects that the provider stores: "off" refuses the
	// requests that read, list or create objects; "sealed" passes those on whose ids are known, with ids that
	// are encrypted for the client, so that no other one can use them; "passthrough" passes the ids on, so that
	// all keys share all objects of the account. Default: off.
	IDs string `json:"ids,omitempty"`

	// MaxBody is the largest request body in bytes. A body is passed on while it is read. Default:
	// 536870912 (512 MiB), the largest file that OpenAI accepts.
	MaxBody int64 `json:"max_body,omitempty"`
}

// Rule selects requests.
type Rule struct {
	// Methods are the methods of HTTP. GET includes HEAD. Default: GET and POST.
	Methods []string `json:"methods,omitempty"`

	// Paths are patterns of paths. A * is one segment, and at the end of a pattern any further
	// segments: /v1/models/*.
	Paths []string `json:"paths"`
}

// The values of Config.IDs.
const (
	IDsOff    = "off"
	IDsSealed = "sealed"
	IDsShared = "passthrough"
)

// methods are those that can be allowed. The others open tunnels, repeat the request with its
// credential, or ask for what the gateway itself answers.
var methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

var usualMethods = methods[:2]

const defaultMaxBody = 512 << 20

var errPrefix = errors.New("a prefix is a path with /* at the end, such as /pass/openai/*")

// Check returns an error for a configuration that is not valid.
func (c *Config) Check() error {
	root := c.Root()
	switch {
	case root == "" || root == c.Prefix || !isPlain(root):
		return errPrefix
	case c.Provider == "":
		return errors.New("names no provider")
	case len(c.Allow) == 0:
		return errors.New("needs allow with the paths that are passed on")
	case !slices.Contains([]string{"", IDsOff, IDsSealed, IDsShared}, c.IDs):
		return fmt.Errorf("ids must be off, sealed or passthrough, not '%s'", c.IDs)
	case c.MaxBody < 0:
		return errors.New("max_body must be positive")
	}
	for _, rule := range slices.Concat(c.Allow, c.Deny) {
		if err := rule.check(); err != nil {
			return err
		}
	}
	return checkHeaders(c.Headers)
}

// Root returns the prefix without its end.
func (c *Config) Root() string { return strings.TrimSuffix(c.Prefix, "/*") }

// Limit returns the largest request body in bytes.
func (c *Config) Limit() int64 {
	if c.MaxBody == 0 {
		return defaultMaxBody
	}
	return c.MaxBody
}

func (r *Rule) check() error {
	for _, method := range r.Methods {
		if !slices.Contains(methods, method) {
			return fmt.Errorf("%s cannot be passed on; methods are: %s", method, strings.Join(methods, ", "))
		}
	}
	if len(r.Paths) == 0 {
		return errors.New("a rule needs a path, such as /v1/models/*")
	}
	for _, path := range r.Paths {
		if !isPlain(path) {
			return fmt.Errorf("'%s' is no pattern of paths: a pattern begins with / and has no escapes and no empty segments", path)
		}
	}
	return nil
}

// allowed returns the methods of the rule, with HEAD beside GET.
func (r *Rule) allowed() []string {
	all := r.Methods
	if all == nil {
		all = usualMethods
	}
	if slices.Contains(all, "GET") {
		all = append(slices.Clip(all), "HEAD")
	}
	return all
}

func (r *Rule) hasPath(path string) bool {
	return slices.ContainsFunc(r.Paths, func(pattern string) bool { return matches(pattern, path) })
}

// matches reports whether a path matches a pattern.
func matches(pattern, path string) bool {
	wanted, segments := strings.Split(pattern, "/"), strings.Split(path, "/")
	for i, want := range wanted {
		switch {
		case i >= len(segments):
			return false
		case want == "*" && i == len(wanted)-1:
			return true
		case want != "*" && want != segments[i]:
			return false
		}
	}
	return len(wanted) == len(segments)
}
