// Package pricefile has the prices of a file, which is followed while it changes.
//
// The file has the columns of prices.Parse. A text with a wrong row is refused as a
// whole: the prices before it stay in force.
package pricefile

import (
	"bytes"
	"context"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/filewatch"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/metrics"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/prices"
)

// File is a table of prices in a file. A nil *File has none.
type File struct {
	table atomic.Pointer[prices.Table]
}

// Open reads the file at a path, which may contain placeholders, and follows it until
// the context ends. A file that cannot be read, or is invalid, is an error.
func Open(ctx context.Context, path string, logger *zap.Logger) (*File, error) {
	f := new(File)
	file := filewatch.File{Path: path, Name: "prices file", Parts: "prices", Logger: logger, Accept: f.accept}
	if err := file.Start(ctx); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *File) accept(text []byte) error {
	table, err := prices.Parse(bytes.NewReader(text))
	if err == nil {
		err = table.CheckJumps(time.Now(), f.table.Load(), prices.Builtin())
	}
	if err == nil {
		f.table.Store(table)
		metrics.SetPricesTime("file", table.Newest())
	}
	return err
}

// Find returns the price of a provider's model at a moment, nil if it is unknown.
func (f *File) Find(provider, model string, at time.Time) *prices.Price {
	if f == nil {
		return nil
	}
	return f.table.Load().Find(provider, model, at)
}
