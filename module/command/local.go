package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// local asks accounts in this process, over a store of its own.
type local struct {
	handler http.Handler
	cancel  context.CancelFunc
}

// openLocal loads a store, and accounts on it, beside the configuration of a
// context. It fails where the store cannot be reached.
func openLocal(parent caddy.Context, store json.RawMessage) (*local, error) {
	ctx, cancel := caddy.NewContext(parent)
	handler, err := loadAdmin(ctx, store)
	if err != nil {
		cancel()
		return nil, err
	}
	return &local{handler, cancel}, nil
}

func loadAdmin(ctx caddy.Context, config json.RawMessage) (http.Handler, error) {
	holder := struct {
		StoreRaw json.RawMessage `caddy:"namespace=ai_gateway.stores inline_key=store"`
	}{config}
	mod, err := ctx.LoadModule(&holder, "StoreRaw")
	if err != nil {
		return nil, fmt.Errorf("loading store: %w", err)
	}
	store := mod.(aigateway.Store)
	if _, _, err := store.Users(ctx, aigateway.Page{Limit: 1}); err != nil {
		return nil, err // it names the store and what is wrong with it
	}
	if mod, err = ctx.LoadModuleByID("ai_gateway.accounts", nil); err != nil {
		return nil, fmt.Errorf("loading accounts: %w", err)
	}
	accounts := mod.(aigateway.Accounts)
	accounts.UseStore(store)
	return accounts.Admin(), nil
}

// quietContext is one outside of any configuration, in which only errors are
// logged.
func quietContext() (caddy.Context, error) {
	ctx, err := caddy.ProvisionContext(&caddy.Config{
		Admin:   &caddy.AdminConfig{Disabled: true},
		Logging: &caddy.Logging{Logs: map[string]*caddy.CustomLog{"default": {BaseLog: caddy.BaseLog{Level: "ERROR"}}}},
	})
	if err != nil {
		return ctx, fmt.Errorf("preparing Caddy: %w", err)
	}
	return ctx, nil
}

func (l *local) ask(method, path string, body []byte) ([]byte, error) {
	request, err := http.NewRequest(method, path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("making request: %w", err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer := &recorder{header: make(http.Header), status: http.StatusOK}
	l.handler.ServeHTTP(answer, request)
	if answer.status != http.StatusOK {
		return nil, refusal(answer.Bytes())
	}
	return answer.Bytes(), nil
}

// close gives the store back.
func (l *local) close() { l.cancel() }
