package accounts

import (
	"context"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// broken is a store that is not available.
type broken struct{ aigateway.Store }

var errOutage = fmt.Errorf("%w: /secret/path/gateway.db: the disk is gone", aigateway.ErrUnavailable)

func (broken) CreateUser(context.Context, *aigateway.User) error { return errOutage }

func (broken) UserByName(context.Context, string) (*aigateway.User, error) { return nil, errOutage }

func (broken) Session(context.Context, aigateway.Digest) (*aigateway.Session, *aigateway.User, error) {
	return nil, nil, errOutage
}
