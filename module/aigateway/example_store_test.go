package aigateway_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func init() {
	caddy.RegisterModule(new(Archive))
}

// Archive is a store whose users cannot be deleted. It embeds another store for all other
// methods. Its configuration, which is JSON because Archive has no
// UnmarshalCaddyfile:
//
//	"store": {"store": "archive"}
type Archive struct {
	aigateway.Store `json:"-"`
}

func (*Archive) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "ai_gateway.stores.archive",
		New: func() caddy.Module { return new(Archive) },
	}
}

func (a *Archive) Provision(ctx caddy.Context) error {
	store, err := ctx.LoadModuleByID("ai_gateway.stores.sqlite", nil)
	if err != nil {
		return fmt.Errorf("loading store: %w", err)
	}
	a.Store = store.(aigateway.Store)
	return nil
}

var errArchived = errors.New("users cannot be deleted")

func (*Archive) DeleteUser(context.Context, int64, func(*aigateway.User) error) error {
	return errArchived
}

func ExampleStore() {
	var store aigateway.Store = new(Archive)
	acceptAll := func(*aigateway.User) error { return nil }
	fmt.Println(store.DeleteUser(context.Background(), 1, acceptAll))
	// Output: users cannot be deleted
}
