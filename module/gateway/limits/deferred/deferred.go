// Package deferred settles charges that become known after the exchange has ended: those of answers
// that a provider generates in the background, and of batches.
//
// The record of such an exchange ends with the answer to the client, and has what was reserved: so
// the ledger and the budgets that read it count the highest possible cost, whenever the process ends.
// The ledger keeps the charge beside the record. Whoever sees the final state first settles it: a
// request of the client for the object, or Run, which asks the provider. The ledger settles a charge
// once, whatever the number of gateways, and the counters of the gateway that has settled it get
// the difference. A charge that stays unknown is what was reserved: after an hour without an end, or a
// day and an hour for a batch, for a final state without usage, and for an object that the provider
// does not have any more.
//
// The cost of a batch is in its results alone. Who downloads them first settles it, a client or Run,
// which a client that sees the end of the batch hastens. Results in a file are for Run: the id of a file
// does not show its batch. A batch whose answers are counted, but not there yet, or not found, is due again.
//
// What the requests of a batch in a file may cost is kept for a month, as a charge of the file that is never
// settled: who creates the batch reserves it.
package deferred

import (
	"context"
	"errors"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/keyring"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// Settler settles the deferred charges of a site.
type Settler struct {
	Book    *backends.Book
	Catalog *catalog.Catalog
	Limits  *limits.Limits
	Keys    keyring.Sources
	Seals   func() *seal.Ring
	Logger  *zap.Logger

	ended chan *accounting.Deferred // charges of batches of which a client has seen the end
}

// New returns a Settler of a site.
func New(s Settler) *Settler {
	s.ended = make(chan *accounting.Deferred, mostEnded)
	return &s
}

// mostEnded is the number of ended batches that wait for Run. Others wait until they are due.
const mostEnded = 64

// The longest times for one question to a provider or to the database, and for a download of
// results.
const (
	patience         = 30 * time.Second
	downloadPatience = 10 * time.Minute
)

// Seen settles the charge for the object of an exchange, if its answer shows the end of the object. A
// charge that cannot be settled now is settled by Run.
func (s *Settler) Seen(ex *exchange.Exchange) {
	if ex.Course.Result == nil || ex.Course.Result.Head.Ended == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience) // the client may have left
	defer cancel()
	charge, err := s.chargeOf(ctx, ex.Course.Attempt.Provider, ex.Course.Attempt.APIKey, ex.Objects)
	switch {
	case err != nil || charge == nil:
	case meter.IsBatch(&charge.Record):
		s.hasten(charge)
	default:
		err = s.end(ctx, s.Book.Deferring(), charge, s.callsOf(charge, ex.Course.Attempt, ex.Course.Result.Head.Ended))
	}
	s.warn(err)
}

// hasten makes Run download the results of a batch that has ended.
func (s *Settler) hasten(charge *accounting.Deferred) {
	select {
	case s.ended <- charge:
	default: // it is due again later
	}
}

// warn logs an error of a charge that Run settles later.
func (s *Settler) warn(err error) {
	if err != nil {
		s.Logger.Warn("a deferred charge is not settled yet", zap.Error(err))
	}
}

// chargeOf returns the charge of the object that a request names, which an account of a provider
// stores; nil if there is none.
func (s *Settler) chargeOf(ctx context.Context, provider string, apiKey int, o *exchange.Objects) (*accounting.Deferred, error) {
	ledger, named := s.Book.Deferring(), o.ProviderIDs()
	if ledger == nil || len(named) == 0 {
		return nil, nil
	}
	return ledger.Deferred(ctx, seal.AccountOf(provider, apiKey).String(), named[0])
}

// File returns the charge of a file with requests of a batch, whose call has what they may cost; nil if
// that is not known.
func (s *Settler) File(ctx context.Context, account seal.Account, id string) (*accounting.Deferred, error) {
	ledger := s.Book.Deferring()
	if ledger == nil {
		return nil, nil
	}
	return ledger.Deferred(ctx, account.String(), id)
}

// BeforeDeletion settles the charge of a batch that a client is about to delete: nobody could read its
// results then.
func (s *Settler) BeforeDeletion(ctx context.Context, ex *exchange.Exchange, p *catalog.Provider, apiKey int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience) // the client may leave
	defer cancel()
	charge, err := s.chargeOf(ctx, p.Name, apiKey, ex.Objects)
	if err == nil && charge != nil && meter.IsBatch(&charge.Record) {
		var end *exchange.Ended
		if end, err = s.endOf(ctx, charge, p, apiKey); end != nil {
			err = s.download(ctx, charge)
		}
	}
	s.warn(err)
}

// Tally returns what adds up the results of a batch that a client downloads, nil if its charge is
// settled.
func (s *Settler) Tally(ex *exchange.Exchange, p *catalog.Provider, apiKey int) *meter.Tally {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	charge, err := s.chargeOf(ctx, p.Name, apiKey, ex.Objects)
	s.warn(err)
	if charge == nil {
		return nil
	}
	a := &exchange.Attempt{Provider: p.Name, Format: ex.Request.Format, APIKey: apiKey, Traits: p.Traits()}
	return meter.NewTally(s.Catalog, charge, a)
}

// Downloaded settles the charge of a batch whose results were all added to a tally.
func (s *Settler) Downloaded(t *meter.Tally) {
	ctx, cancel := context.WithTimeout(context.Background(), patience) // the client may have left
	defer cancel()
	s.warn(s.endBatch(ctx, t, 1))
}

// endBatch ends the charge of a tally of results that have at least a number of lines. If there are none yet,
// the batch is due again later.
func (s *Settler) endBatch(ctx context.Context, t *meter.Tally, lines int64) error {
	if t.IsEmpty() && lines > 0 {
		return s.expire(ctx, t.Charge)
	}
	calls, whole := t.End(lines)
	if !whole {
		s.Logger.Warn("a batch costs what was reserved, since the usage of an answer is unknown", zap.String("request_id", t.Charge.Record.Request))
	}
	return s.end(ctx, s.Book.Deferring(), t.Charge, calls)
}

// expire ends a charge whose usage is not known in time.
func (s *Settler) expire(ctx context.Context, charge *accounting.Deferred) error {
	if time.Now().Before(charge.Expires) {
		return nil
	}
	return s.giveUp(ctx, s.Book.Deferring(), charge, false)
}

// callsOf returns the calls of the record of a charge by the end of its object, nil if its usage
// stays unknown.
func (s *Settler) callsOf(charge *accounting.Deferred, asked *exchange.Attempt, end *exchange.Ended) []accounting.Call {
	result := exchange.Result{Status: http.StatusOK, Sent: true, Head: exchange.Head{AnsweredBy: end.Model}, Usage: end.Usage}
	switch {
	case end.Usage.Known:
		result.Finish(end.Usage)
	case end.Failed != nil:
		result.Fail(end.Failed)
	default:
		return nil
	}
	attempt := *asked
	attempt.Model = charge.Record.Calls[len(charge.Record.Calls)-1].Model
	attempt.Exchange = &exchange.Exchange{Request: exchange.Request{Operation: translate.Generate, Format: asked.Format}}
	return meter.Settled(s.Catalog, charge, &attempt, &result)
}

// end ends a charge with the calls of its record, nil for those that were reserved, and changes
// what budgets have counted.
func (s *Settler) end(ctx context.Context, ledger accounting.DeferringLedger, charge *accounting.Deferred, calls []accounting.Call) error {
	if ledger == nil { // it cannot be opened any more
		return nil
	}
	started := time.Now()
	settled, err := ledger.SettleDeferred(ctx, charge, calls)
	if err != nil || !settled || calls == nil {
		return err
	}
	key := s.keyOf(&charge.Record)
	chains := []*limits.Chain{s.Limits.For(key, charge.Record.Model)}
	if t := s.TargetOf(&charge.Record); t != nil {
		chains = append(chains, s.Limits.Calls.Of(t))
	}
	for _, chain := range chains {
		if chain == nil || chain.Currency() == "" {
			continue
		}
		err = errors.Join(err, chain.Amend(ctx, key, aigateway.Amendment{
			Admitted: charge.Record.Admitted, At: started,
			Nanos: meter.Spent(calls, chain.Currency()) - meter.Spent(charge.Record.Calls, chain.Currency()),
		}))
	}
	return err
}

// TargetOf returns the target whose call has the charge of a record: that of its model, or else the
// provider. It returns nil if the configuration has neither any more.
func (s *Settler) TargetOf(r *accounting.Record) *catalog.Target {
	call := &r.Calls[len(r.Calls)-1]
	if m := s.Catalog.Model(r.Model); m != nil {
		for i := range m.Targets {
			if t := &m.Targets[i]; t.Provider.Name == call.Provider && t.UpstreamModel(r.Model) == call.Model {
				return t
			}
		}
	}
	if p := s.Catalog.Provider(call.Provider); p != nil {
		return &p.Alone().Targets[0]
	}
	return nil
}

// keyOf returns the key of a record, with the labels of its request. One that is gone has the
// names that the record has.
func (s *Settler) keyOf(r *accounting.Record) *aigateway.Key {
	key := aigateway.Key{ID: r.Key, Owner: r.User, Limit: r.Limit}
	if known := s.Keys.ByID(r.Key); known != nil {
		key = *known
	}
	key.Labels = r.Labels
	return &key
}

// askEvery is the time between two looks for charges that are due.
const askEvery = 2 * time.Second

// Run asks providers for the charges of their accounts that are due, until ctx ends. It downloads
// results beside that, since large ones take long.
func (s *Settler) Run(ctx context.Context) {
	go s.downloadAll(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(askEvery):
		}
		if err := s.askAll(ctx); err != nil && ctx.Err() == nil {
			s.Logger.Warn("deferred charges cannot be settled; trying again", zap.Error(err))
		}
	}
}

func (s *Settler) askAll(ctx context.Context) error {
	ledger := s.Book.Deferring()
	if ledger == nil {
		return nil
	}
	now := time.Now()
	due, err := ledger.Claim(ctx, func(d *accounting.Deferred) (time.Time, bool) {
		provider, _ := s.holder(d)
		return meter.NextAsk(d, now), provider != nil || now.After(d.Expires)
	})
	for i := range due {
		if err == nil {
			err = s.ask(ctx, ledger, &due[i])
		}
	}
	return err
}

// holder returns the provider with the account of a charge, and the index of its API key.
func (s *Settler) holder(d *accounting.Deferred) (*catalog.Provider, int) {
	account, ok := seal.ParseAccount(d.Account)
	if !ok {
		return nil, 0
	}
	return s.Catalog.Holder(account)
}

// ask asks a provider for the object of a charge, and settles it if the state is final.
func (s *Settler) ask(ctx context.Context, ledger accounting.DeferringLedger, charge *accounting.Deferred) error {
	provider, apiKey := s.holder(charge)
	if provider == nil {
		return s.end(ctx, ledger, charge, nil)
	}
	if meter.IsFile(&charge.Record) {
		return s.end(ctx, ledger, charge, nil)
	}
	c := s.question(charge, provider, apiKey, objectsOf(charge).Read(charge.Object, false), charge.Object)
	if err := call(ctx, patience, provider, c); err != nil {
		return err
	}
	gone := c.Result.Fault != nil && c.Result.Fault.Kind == fault.NotFound
	switch {
	case c.Result.Head.Ended != nil && meter.IsBatch(&charge.Record):
		s.hasten(charge)
		return nil
	case c.Result.Head.Ended != nil:
		return s.end(ctx, ledger, charge, s.callsOf(charge, &c.Attempt, c.Result.Head.Ended))
	case gone:
		return s.giveUp(ctx, ledger, charge, true)
	}
	return s.expire(ctx, charge)
}

// giveUp ends a charge whose usage nobody learns any more.
func (s *Settler) giveUp(ctx context.Context, ledger accounting.DeferringLedger, charge *accounting.Deferred, gone bool) error {
	s.Logger.Warn("a deferred charge stays what was reserved, since its usage is unknown",
		zap.String("request_id", charge.Record.Request), zap.Bool("deleted", gone))
	return s.end(ctx, ledger, charge, nil)
}

// downloadAll downloads the results of batches that have ended, until ctx ends.
func (s *Settler) downloadAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case charge := <-s.ended:
			if err := s.download(ctx, charge); ctx.Err() == nil {
				s.warn(err)
			}
		}
	}
}

// download downloads the results of a batch, and settles its charge. After a failure, the batch is due
// again later.
func (s *Settler) download(ctx context.Context, charge *accounting.Deferred) error {
	p, apiKey := s.holder(charge)
	if p == nil {
		return nil
	}
	objects, id := objectsOf(charge), charge.Object
	path := objects.Read(charge.Object, true)
	lines, unanswered := int64(1), translate.Unanswered{}
	if path == nil { // the results are in a file
		state := s.question(charge, p, apiKey, objects.Read(charge.Object, false), id)
		tally := meter.NewTally(s.Catalog, charge, &state.Attempt)
		state.Attempt.Object().Line = tally.Add
		err := call(ctx, patience, p, state)
		end := state.Result.Head.Ended
		if err != nil || end == nil {
			return err
		}
		if end.Results == "" { // no request has an answer, or the object itself has all of them
			tally.Unanswered(end.Unanswered)
			return s.endBatch(ctx, tally, end.Answered)
		}
		path, id, lines, unanswered = objects.Content(), end.Results, end.Answered, end.Unanswered
	}
	c := s.question(charge, p, apiKey, path, id)
	tally := meter.NewTally(s.Catalog, charge, &c.Attempt)
	tally.Unanswered(unanswered)
	c.Attempt.Object().Line = tally.Add
	err := call(ctx, downloadPatience, p, c)
	switch {
	case err != nil:
		return err
	case c.Result.Whole():
		return s.endBatch(ctx, tally, lines)
	}
	return s.expire(ctx, charge)
}

// endOf returns the end of a batch, nil if it has not ended.
func (s *Settler) endOf(ctx context.Context, charge *accounting.Deferred, p *catalog.Provider, apiKey int) (*exchange.Ended, error) {
	c := s.question(charge, p, apiKey, objectsOf(charge).Read(charge.Object, false), charge.Object)
	err := call(ctx, patience, p, c)
	return c.Result.Head.Ended, err
}

// call makes a call whose answer no client gets. The result has what matters of it.
func call(ctx context.Context, patience time.Duration, p *catalog.Provider, c *exchange.Conduit) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client, err := http.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	if err == nil {
		_ = p.Caller.Call(ctx, c, discard{make(http.Header)}, client)
	}
	return err
}

// spokenFor returns the format in which the object of a charge is read.
func spokenFor(charge *accounting.Deferred) *format.Descriptor {
	return formats.Of(translate.Format(charge.Record.Calls[len(charge.Record.Calls)-1].Format))
}

// objectsOf returns the objects of the format of a charge.
func objectsOf(charge *accounting.Deferred) *format.Objects { return &spokenFor(charge).Objects }

// question returns the conduit of a call that reads an object: that of a charge, or the results of a
// batch.
func (s *Settler) question(charge *accounting.Deferred, p *catalog.Provider, apiKey int, path *format.ObjectPath, id string) *exchange.Conduit {
	spoken := spokenFor(charge)
	return &exchange.Conduit{Attempt: exchange.Attempt{
		Exchange: &exchange.Exchange{
			ID: charge.Record.Request, Start: time.Now(), Request: exchange.Request{Operation: translate.Manage, Format: spoken},
			Objects: &exchange.Objects{IDs: s.Seals().IDs(""), Call: &exchange.ObjectCall{Method: path.Method, Path: path.Below(path.Path, id), Query: path.Parameters(nil), Content: path.Content || path.Results}},
		},
		Provider: p.Name, Service: p.Preset, Format: spoken, APIKey: apiKey, Traits: p.Traits(),
	}}
}

// discard is the receiver of an answer that no client gets.
type discard struct{ header http.Header }

// Header returns a header map that is not read.
func (d discard) Header() http.Header { return d.header }

// TakeHeader does nothing.
func (discard) TakeHeader(http.Header) {}

// WriteHeader does nothing.
func (discard) WriteHeader(int) {}

// Write discards p.
func (discard) Write(p []byte) (int, error) { return len(p), nil }

// FlushError does nothing.
func (discard) FlushError() error { return nil }
