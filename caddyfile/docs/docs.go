// Package docs contains the pages for users, so that a program can show those of its own
// version.
package docs

import "embed"

// Pages are the pages and their pictures.
//
//go:embed *.md pictures/*.svg speed/*.svg speed/*/*.svg
var Pages embed.FS
