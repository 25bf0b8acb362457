package accounts

import (
	"context"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// broken is a store that cannot be reached where a request begins.
type broken struct{ exchange.Store }

var errOutage = fmt.Errorf("%w: /secret/path/gateway.db: the disk is gone", exchange.ErrUnavailable)

func (broken) CreateUser(context.Context, *exchange.User) error { return errOutage }

func (broken) UserByName(context.Context, string) (*exchange.User, error) { return nil, errOutage }

func (broken) Session(context.Context, exchange.Digest) (*exchange.Session, *exchange.User, error) {
	return nil, nil, errOutage
}
