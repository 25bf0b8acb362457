package gatewaytest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig"
)

// gracePeriod is the default grace_period of configurations in nanoseconds. Without one,
// Caddy waits for running requests for ever when it stops.
const gracePeriod = 2_000_000_000

// Adapt returns the JSON of a Caddyfile, or its error.
func Adapt(caddyfile string) ([]byte, error) {
	raw, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(caddyfile), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		return nil, fmt.Errorf("adapting: %w", err)
	}
	return raw, nil
}

var portWord = regexp.MustCompile(`PORT\((\w+)\)`)

// expand inserts the ports and the replacements into a configuration.
func (c *Caddy) expand(text string) string {
	text = strings.NewReplacer(c.replace...).Replace(text)
	return portWord.ReplaceAllStringFunc(text, func(word string) string {
		return strconv.Itoa(c.Port(portWord.FindStringSubmatch(word)[1]))
	})
}

// node is a JSON object of the configuration.
type node map[string]any

// sub returns the object with this name, and creates it if it is missing.
func (n node) sub(name string) node {
	if m, ok := n[name].(map[string]any); ok {
		return m
	}
	m := make(map[string]any)
	n[name] = m
	return m
}

func (n node) setDefault(name string, value any) {
	if _, there := n[name]; !there {
		n[name] = value
	}
}

// adapt returns the JSON of a configuration, with settings that isolate it from the
// machine: the admin endpoint, the storage, the logs and the listeners.
func (c *Caddy) adapt(config string) ([]byte, error) {
	raw := []byte(c.expand(config))
	if !strings.HasPrefix(strings.TrimSpace(config), "{") || !json.Valid(raw) {
		var err error
		if raw, err = Adapt(string(raw)); err != nil {
			return nil, err
		}
	}
	var root node
	if err := json.Unmarshal(raw, &root); err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	c.isolate(root)
	raw, err := json.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("writing the configuration: %w", err)
	}
	return raw, nil
}

func (c *Caddy) isolate(root node) {
	root.sub("admin")["listen"] = c.admin
	root["storage"] = node{"module": "file_system", "root": c.Dir}
	root.sub("logging").sub("sink")["writer"] = node{"output": "gatewaytest"} // the standard logger
	logs := root.sub("logging").sub("logs")
	logs.sub("default").setDefault("level", "DEBUG")
	for name := range logs {
		logs.sub(name).setDefault("writer", node{"output": "gatewaytest"})
		logs.sub(name).setDefault("encoder", node{"format": "json"})
	}
	http := root.sub("apps").sub("http")
	http.setDefault("grace_period", gracePeriod)
	for _, server := range http.sub("servers") {
		bindToLoopback(server)
	}
}

// bindToLoopback sets the host of listeners without a host to 127.0.0.1.
func bindToLoopback(server any) {
	s, _ := server.(map[string]any)
	list, _ := s["listen"].([]any)
	for i, address := range list {
		if text, ok := address.(string); ok && strings.HasPrefix(text, ":") {
			list[i] = "127.0.0.1" + text
		}
	}
}
