package backends

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// keeper is a store with a ledger whose Begin returns err.
type keeper struct {
	aigateway.Store
	accounting.LedgerReader
	err                error
	opened, begun, out int
	failures           []error // of the first calls of OpenLedger
}

func (k *keeper) OpenLedger(accounting.LedgerOptions) (accounting.Ledger, error) {
	k.opened++
	if k.opened <= len(k.failures) {
		return nil, k.failures[k.opened-1]
	}
	return k, nil
}

func (k *keeper) Begin(*accounting.Record) error { k.begun++; return k.err }
func (*keeper) End(*accounting.Record)           {}
func (k *keeper) Release() error                 { k.out++; return nil }
func (*keeper) Settled(context.Context) error    { return nil }

func book(t *testing.T, store aigateway.Store, onError string) *Book {
	b, err := newBook(Options{Ledger: &Ledger{OnError: onError}}, store)
	require.NoError(t, err)
	return b
}

func newExchange() *exchange.Exchange {
	return &exchange.Exchange{Key: new(aigateway.Key), Request: exchange.Request{Format: formats.Of(translate.Chat)}}
}

func TestABookIsOpenedOnceAndReleasedOnce(t *testing.T) {
	k := new(keeper)
	b := book(t, k, "")
	assert.Zero(t, k.opened, "validating a configuration creates no file")
	require.NoError(t, b.Start(zap.NewNop()))
	for range 2 {
		_, refused := b.Begin(newExchange(), nil, meter.Bound{}, false)
		assert.Nil(t, refused)
	}
	require.NoError(t, b.Release())
	assert.Equal(t, []int{1, 2, 1}, []int{k.opened, k.begun, k.out})
}

// Otherwise a request of an old configuration could open a ledger that is never released.
func TestAReleasedBookIsNotOpened(t *testing.T) {
	k := new(keeper)
	b := book(t, k, "")
	require.NoError(t, b.Release())
	_, err := b.Open()
	assert.Error(t, err)
	assert.Zero(t, k.opened)
}

func TestALedgerThatFailsBlocksOnlyIfConfigured(t *testing.T) {
	for onError, blocks := range map[string]bool{"": false, OnErrorServe: false, OnErrorBlock: true} {
		entry, refused := book(t, &keeper{err: errors.New("disk full")}, onError).Begin(newExchange(), nil, meter.Bound{}, false)
		assert.Equal(t, blocks, refused != nil, onError)
		assert.NotNil(t, entry, "writing the end of the exchange may succeed")
	}
}

func TestASiteInheritsWhatItDoesNotSet(t *testing.T) {
	global := Options{StoreRaw: json.RawMessage(`{"store":"global"}`)}
	for name, test := range map[string]struct {
		site Options
		want string // of the error
	}{
		"accounts of its own": {site: Options{DisableAccounts: true}},
		"the same option":     {site: Options{StoreRaw: json.RawMessage(`{}`)}, want: "store is set in the global option ai_gateway already"},
	} {
		err := test.site.Inherit(&global)
		if test.want != "" {
			assert.EqualError(t, err, test.want, name)
			continue
		}
		require.NoError(t, err, name)
		assert.True(t, test.site.DisableAccounts)
		assert.Equal(t, global.StoreRaw, test.site.StoreRaw)
	}
}

// A full disk once kept the gateway from starting, although its requests could be served.
func TestALedgerThatCannotBeOpenedNowIsOpenedLater(t *testing.T) {
	full := fmt.Errorf("%w: no space left on device", accounting.ErrLedger)
	for onError, blocks := range map[string]bool{OnErrorServe: false, OnErrorBlock: true} {
		synctest.Test(t, func(t *testing.T) {
			k := &keeper{failures: []error{full, full}}
			b := book(t, k, onError)
			require.NoError(t, b.Start(zap.NewNop()))
			_, refused := b.Begin(newExchange(), nil, meter.Bound{}, false)
			assert.Equal(t, blocks, refused != nil, onError)
			_, refused = b.Begin(newExchange(), nil, meter.Bound{}, true)
			assert.NotNil(t, refused, "a budget needs the ledger")
			time.Sleep(3 * retryEvery)
			_, refused = b.Begin(newExchange(), nil, meter.Bound{}, true)
			assert.Nil(t, refused)
			require.NoError(t, b.Release())
			assert.Equal(t, []int{3, 1, 1}, []int{k.opened, k.begun, k.out})
		})
	}
}

func TestAReleasedBookIsNotOpenedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{failures: []error{accounting.ErrLedger}}
		b := book(t, k, "")
		require.NoError(t, b.Start(zap.NewNop()))
		require.NoError(t, b.Release())
		time.Sleep(3 * retryEvery)
		assert.Equal(t, 1, k.opened)
	})
}

func TestAMistakeInAConfiguredLedgerIsAnErrorOfTheStart(t *testing.T) {
	k := &keeper{failures: []error{errors.New("another process uses the journal")}}
	assert.ErrorContains(t, book(t, k, "").Start(zap.NewNop()), "another process uses the journal")
}
