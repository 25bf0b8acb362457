package messages

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

const versionHeader = "Anthropic-Version"

// The first version that was published, and the one that clients send.
const (
	oldestVersion = "2023-01-01"
	usualVersion  = "2023-06-01"
)

// sentVersion returns the version that providers with these traits are asked for.
func sentVersion(traits *trait.Traits) string { return traits.Version() }

// checkVersion refuses the values of a version header that are not one date. Any
// date since the oldest version passes: a fixed list would lock out new clients.
func checkVersion(values []string) *fault.Fault {
	switch {
	case len(values) == 0 || values[0] == "":
		return fault.VersionMissing()
	case len(values) > 1:
		return fault.CredentialRepeated("anthropic-version")
	case values[0] == usualVersion:
		return nil
	}
	if _, err := time.Parse(time.DateOnly, values[0]); err != nil {
		return fault.VersionInvalid(values[0])
	}
	if values[0] < oldestVersion {
		return fault.VersionTooOld(values[0])
	}
	return nil
}
