package sqlite

import (
	"errors"
	"fmt"
	"io/fs"

	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Explain implements database.Backend.
func (f *file) Explain(err error) error {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return f.unavailable(err)
	}
	switch failure.Code() {
	case codes.SQLITE_CONSTRAINT_UNIQUE, codes.SQLITE_CONSTRAINT_PRIMARYKEY:
		return aigateway.ErrTaken
	}
	if reason, ok := reasons[failure.Code()&0xff]; ok {
		return f.unavailable(fmt.Errorf("%s: %w", reason, err))
	}
	return f.unavailable(err)
}

// isBusy reports whether another process has locked the file.
func isBusy(err error) bool {
	var failure *sqlite.Error
	return errors.As(err, &failure) && failure.Code()&0xff == codes.SQLITE_BUSY
}

// reasons are explanations of primary result codes, for the operator.
var reasons = map[int]string{
	codes.SQLITE_BUSY:      "another process has locked the file",
	codes.SQLITE_LOCKED:    "another process has locked the file",
	codes.SQLITE_NOTADB:    "the file is not a database, is damaged or is truncated: restore a backup",
	codes.SQLITE_CORRUPT:   "the file is damaged or truncated: restore a backup",
	codes.SQLITE_FULL:      "the disk is full",
	codes.SQLITE_READONLY:  "the file or its folder is read-only",
	codes.SQLITE_CANTOPEN:  "the file cannot be opened",
	codes.SQLITE_PERM:      "permission to open the file was denied",
	codes.SQLITE_INTERRUPT: "the statement took too long",
	codes.SQLITE_IOERR:     "an I/O error occurred",
}

func (f *file) unavailable(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) && path.Path == f.path {
		err = path.Err // otherwise, the error would contain the path twice
	}
	return fmt.Errorf("%w: %s: %w", aigateway.ErrUnavailable, f.path, err)
}
