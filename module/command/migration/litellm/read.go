package litellm

import (
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration"
)

// source is a configuration that is read.
type source struct {
	file    *migration.Section
	gateway migration.Gateway
	report  migration.Report

	names  []string                 // of the models of the file, in its order
	byName map[string][]*deployment // the deployments of a name
	access map[string][]string      // the names of an access group
}

// Read returns the gateway that comes of a configuration file, for a site with an address, and
// of the tables of a database, nil for none. The report has what differs. It returns an error
// if the file is not a mapping in YAML.
func Read(config []byte, tables *Tables, site string) (*migration.Gateway, *migration.Report, error) {
	var file map[string]any
	if err := yaml.Unmarshal(config, &file); err != nil {
		return nil, nil, fmt.Errorf("reading YAML: %w", err)
	}
	s := &source{file: migration.NewSection("", file), byName: map[string][]*deployment{}, access: map[string][]string{}}
	s.gateway.Site = site
	s.deployments()
	router, settings, general := s.file.Inner("router_settings"), s.file.Inner("litellm_settings"), s.file.Inner("general_settings")
	s.models(router, settings)
	s.settings(router, settings, general)
	s.protections(general)
	for _, part := range [...]*migration.Section{s.file, router, settings, general} {
		for _, name := range part.Unread() {
			s.report.Add(migration.Lost, part.Within(name), "%s", reasonFor(part.Within(name)))
		}
	}
	if len(s.gateway.Models) == 0 {
		s.report.Add(migration.Lost, "model_list", "no model has a counterpart")
	}
	s.report.Kept = []string{migration.Count(len(s.gateway.Providers), "provider"), migration.Count(len(s.gateway.Models), "model")}
	if tables != nil {
		s.gateway.Keys = s.keys(tables, masterDigest(general.Text("master_key")))
	}
	s.gateway.Clean(&s.report)
	s.gateway.WarnOfSmallBudgets(&s.report)
	return &s.gateway, &s.report, nil
}

// masterDigest returns the digest of the master key, which the database also has; "" if the
// file names a variable that is not set.
func masterDigest(master string) string {
	if name, isVariable := strings.CutPrefix(master, environ); isVariable {
		master = os.Getenv(name)
	}
	if master == "" {
		return ""
	}
	return migration.Digest(master)
}
