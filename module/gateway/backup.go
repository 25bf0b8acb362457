package gateway

import (
	"archive/tar"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
)

// backupPath is the path of the admin API that copies the store and the ledger.
const backupPath = adminPath + "backup"

var errNoFiles = errors.New("the store has no files; for store postgres, use pg_dump: the database contains users, keys and usage")

// serveBackup answers with a backup as a tar archive. The gateway makes it in its own data
// directory, so that whoever may use the admin API needs no right to read the files of the
// service, and the service none to write where the backup goes.
func (a *app) serveBackup(w http.ResponseWriter, r *http.Request) error {
	sets := a.managed()
	if len(sets) != 1 {
		return notOne(sets)
	}
	files, ok := sets[0].Store.(accounting.StoreFiles)
	if !ok {
		return caddy.APIError{HTTPStatus: http.StatusConflict, Err: errNoFiles}
	}
	if err := os.MkdirAll(caddy.AppDataDir(), 0o700); err != nil {
		return err
	}
	folder, err := os.MkdirTemp(caddy.AppDataDir(), "backup-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	made := filepath.Join(folder, "made")
	ctx := context.WithoutCancel(r.Context()) // the admin API ends the context of a request after ten seconds
	if err := files.Backup(ctx, sets[0].Book.Options(), made); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/x-tar")
	archive := tar.NewWriter(w)
	if err := errors.Join(archive.AddFS(os.DirFS(made)), archive.Close()); err != nil {
		panic(http.ErrAbortHandler) // so that the client does not take it for whole
	}
	return nil
}
