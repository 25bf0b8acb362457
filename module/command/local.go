package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/user"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

var errBrokenOff = errors.New("reading answer: it broke off")

// local sends requests to a module ai_gateway.accounts in this process.
type local struct {
	handler http.Handler
	store   aigateway.Store
	cancel  context.CancelFunc
}

// openLocal loads a store and its accounts, which know the limits of the store's configuration,
// nil for the default store. It returns an error if the store cannot be reached.
func openLocal(parent caddy.Context, store json.RawMessage, config []byte) (*local, error) {
	ctx, cancel := caddy.NewContext(parent)
	handler, loaded, err := loadAdmin(ctx, store, config)
	if err != nil {
		cancel()
		return nil, err
	}
	return &local{handler, loaded, cancel}, nil
}

func loadAdmin(ctx caddy.Context, raw json.RawMessage, config []byte) (http.Handler, aigateway.Store, error) {
	store, err := loadStore(ctx, raw)
	if err != nil {
		return nil, nil, err
	}
	if _, _, err := store.Users(ctx, aigateway.Page{Limit: 1}); err != nil {
		return nil, nil, err // the error already names the store
	}
	mod, err := ctx.LoadModuleByID("ai_gateway.accounts", nil)
	if err != nil {
		return nil, nil, fmt.Errorf("loading accounts: %w", err)
	}
	accounts := mod.(aigateway.Accounts)
	accounts.UseStore(store)
	if limited, ok := mod.(aigateway.LimitAccounts); ok && config != nil {
		limits, err := limitsOf(config)
		if err != nil {
			return nil, nil, err
		}
		limited.UseLimits(limits)
	}
	return accounts.Admin(), store, nil
}

// newContext returns the context of an empty configuration, which logs only errors.
func newContext() (caddy.Context, error) {
	ctx, err := caddy.ProvisionContext(&caddy.Config{
		Admin:   &caddy.AdminConfig{Disabled: true},
		Logging: &caddy.Logging{Logs: map[string]*caddy.CustomLog{"default": {BaseLog: caddy.BaseLog{Level: "ERROR"}}}},
	})
	if err != nil {
		return ctx, fmt.Errorf("preparing Caddy: %w", err)
	}
	return ctx, nil
}

func (l *local) send(method, path string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(asCommand(context.Background()), method, path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("creating request: %w", err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer := &recorder{header: make(http.Header), status: http.StatusOK}
	if err := l.serve(answer, request); err != nil {
		return nil, err
	}
	if answer.status >= http.StatusBadRequest {
		return nil, errorOf(answer.Bytes())
	}
	return answer.Bytes(), nil
}

// asCommand returns a context for changes that a command of this machine makes, with the
// account of the operating system.
func asCommand(ctx context.Context) context.Context {
	name := ""
	if account, err := user.Current(); err == nil {
		name = account.Username
	}
	return aigateway.WithActor(ctx, aigateway.Actor{Name: aigateway.ActorCommand + name})
}

// serve calls the handler. The handler panics with http.ErrAbortHandler if it cannot write
// the rest of an answer; it has logged why.
func (l *local) serve(w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		switch v := recover(); v {
		case nil:
		case http.ErrAbortHandler:
			err = errBrokenOff
		default:
			panic(v)
		}
	}()
	l.handler.ServeHTTP(w, r)
	return nil
}

// close releases the store.
func (l *local) close() { l.cancel() }
