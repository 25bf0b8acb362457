package keys

import (
	"errors"
	"fmt"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/filewatch"
)

// FileKeys are the keys of a file. A change of the file takes effect within about
// two seconds, without a reload of the configuration. While the file cannot be read
// or is invalid, the previous keys stay valid, and the log contains the reason.
type FileKeys struct {
	// Path is the absolute path of the file. It may contain placeholders such as
	// {env.*}. The file has the keys of a Caddyfile, "key <name> <reference or
	// digest>" and an optional block, and comments, which begin with "#". The file
	// has at most 16 MiB. The files of secrets are followed, too.
	Path string `json:"path"`

	source
	file filewatch.File
}

// CaddyModule returns the Caddy module information.
func (*FileKeys) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.keys.file",
		New: func() caddy.Module { return new(FileKeys) },
	}
}

// Provision reads the file, and starts to follow it until ctx ends.
func (f *FileKeys) Provision(ctx caddy.Context) error {
	f.ctx, f.logger = ctx, ctx.Logger()
	f.file = filewatch.File{Path: f.Path, Name: "keys file", Parts: "keys", Logger: f.logger, Accept: f.accept}
	return f.file.Start(ctx)
}

// accept replaces the keys by those of a text, if every check allows it.
func (f *FileKeys) accept(text []byte) error {
	return f.replace(func(keys *set) error { return f.parse(text, keys) })
}

// parse adds the keys of a text. Its errors contain the file and the line.
func (f *FileKeys) parse(text []byte, keys *set) error {
	keys.file = f.file.Path
	tokens, err := caddyfile.Tokenize(text, f.file.Path)
	if err != nil {
		return fmt.Errorf("reading %s: %w", f.file.Path, err)
	}
	for d := caddyfile.NewDispenser(tokens); d.Next(); {
		line := *d // errors about the whole key contain its first line
		if d.Val() != "key" {
			return d.WrapErr(errNoKey)
		}
		entry, err := readEntry(d)
		if err != nil {
			return err
		}
		if err := keys.add(entry, line.Line()); err != nil {
			return line.WrapErr(err)
		}
	}
	return nil
}

// errNoKey does not repeat the wrong word, which may be a key.
var errNoKey = errors.New("each entry of a keys file begins with the word key: key <name> sha256:<digest>")

// Interface guards
var (
	_ caddy.Provisioner       = (*FileKeys)(nil)
	_ caddyfile.Unmarshaler   = (*FileKeys)(nil)
	_ aigateway.KeySource     = (*FileKeys)(nil)
	_ aigateway.LiveKeyLister = (*FileKeys)(nil)
)
