// Package pricefile reads prices from a file, and reads the file again after a change.
//
// The file has the columns of prices.Parse. If it contains an invalid row, the whole file is
// refused, and the previous prices stay valid.
package pricefile

import (
	"bytes"
	"context"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/filewatch"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
)

// File contains the prices of a file. A nil *File contains none.
type File struct {
	table atomic.Pointer[prices.Table]
}

// Open reads the file at a path, which may contain placeholders. Until the context ends, it
// reads the file again after each change. Open returns an error if the file cannot be read
// or is invalid.
func Open(ctx context.Context, path string, logger *zap.Logger) (*File, error) {
	f := new(File)
	file := filewatch.File{Path: path, Name: "prices file", Parts: "prices", Logger: logger, Accept: f.accept}
	if err := file.Start(ctx); err != nil {
		return nil, err
	}
	return f, nil
}

// accept parses the file. It keeps the previous prices if the text is invalid.
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

// Find returns the price of a provider's model at a time, nil if it is unknown.
func (f *File) Find(provider, model string, at time.Time) *prices.Price {
	if f == nil {
		return nil
	}
	return f.table.Load().Find(provider, model, at)
}
