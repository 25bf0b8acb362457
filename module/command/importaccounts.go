package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/migration"
)

// importAccounts writes the users of an import to the selected store, and what was spent to
// its ledger.
func importAccounts(cmd *cobra.Command, g *migration.Gateway, report *migration.Report) error {
	raw, config, err := selectedStore(cmd)
	if err != nil {
		return err
	}
	ctx, err := newContext()
	if err != nil {
		return err
	}
	ctx, cancel := caddy.NewContext(ctx)
	defer cancel()
	store, err := loadStore(ctx, raw)
	if err != nil {
		return err
	}
	by := asCommand(cmd.Context())
	created, err := importUsers(by, store, g.Users, report)
	if err != nil {
		return err
	}
	options := accounting.LedgerOptions{}
	if config != nil {
		if options, err = ledgerOf(config); err != nil {
			return err
		}
	}
	added, err := importSpent(by, store, options, g, report)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s new, %s.\n", migration.Count(created, "user"), migration.Count(added, "spent amount"))
	return err
}

// importUsers adds users that are not there, and returns their number.
func importUsers(ctx context.Context, store aigateway.Store, users []migration.User, report *migration.Report) (created int, err error) {
	for _, u := range users {
		err := store.CreateUser(ctx, &aigateway.User{Name: u.Name, DisplayName: migration.OneLine(u.DisplayName), Role: u.Role, Disabled: u.Disabled, Password: u.Password})
		switch {
		case errors.Is(err, aigateway.ErrTaken):
			report.Add(migration.Changed, "users", "%s exists, and stays as it is", u.Name)
		case err != nil:
			return created, fmt.Errorf("adding the user %s: %w", u.Name, err)
		default:
			created++
		}
	}
	return created, nil
}

// importSpent writes what was spent to the ledger of a store, as records of now, and returns
// their number. Amounts that an earlier import has written are subtracted.
func importSpent(ctx context.Context, store aigateway.Store, options accounting.LedgerOptions, g *migration.Gateway, report *migration.Report) (added int, err error) {
	if len(g.Openings) == 0 {
		return 0, nil
	}
	keeper, ok := store.(accounting.LedgerStore)
	if !ok {
		report.Add(migration.Lost, "spend", "the store keeps no ledger: budgets begin with their whole amounts")
		return 0, nil
	}
	missing, err := openings(ctx, keeper, g)
	if err != nil || len(missing) == 0 {
		return 0, err
	}
	if log, ok := store.(aigateway.AuditLog); ok {
		row := aigateway.AuditEntry{Action: "ledger.import", Object: "ledger", Changes: []aigateway.AuditChange{{Field: "records", After: strconv.Itoa(len(missing))}}}
		if err := log.Audit(ctx, row); err != nil {
			return 0, err
		}
	}
	if options.Journal, err = os.MkdirTemp("", "import"); err != nil { // that of a gateway belongs to its process
		return 0, fmt.Errorf("creating a journal: %w", err)
	}
	defer os.RemoveAll(options.Journal)
	ledger, err := keeper.OpenLedger(options)
	if err != nil {
		return 0, fmt.Errorf("opening the ledger: %w", err)
	}
	defer func() { err = errors.Join(err, ledger.Release()) }()
	for i := range missing {
		if err := ledger.Begin(&missing[i]); err != nil {
			return i, err
		}
		ledger.End(&missing[i])
	}
	return len(missing), ledger.Settled(ctx)
}

// openings returns the records with which the ledger has what was spent. Each level of limits
// gets what the levels within it do not have.
func openings(ctx context.Context, ledger accounting.LedgerReader, g *migration.Gateway) (missing []accounting.Record, err error) {
	zone, err := ledger.Location(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the ledger: %w", err)
	}
	now := time.Now().In(zone)
	for _, o := range g.Openings {
		within := g.Within(o.Limit)
		budget, err := aigateway.ParseBudget("1/" + o.Period)
		if err != nil {
			return nil, fmt.Errorf("the period of the limit %s: %w", o.Limit, err)
		}
		q := accounting.UsageQuery{
			From: time.Unix(0, 0), To: now.Truncate(time.Hour).Add(time.Hour), By: []accounting.Dimension{accounting.ByOutcome},
			Key: o.Key, User: o.User, Limits: within, Currency: aigateway.DefaultCurrency,
		}
		if since := budget.Since(now); !since.IsZero() {
			q.From = since.Truncate(time.Hour)
		}
		sums, err := ledger.Usage(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("reading the ledger: %w", err)
		}
		nanos := int64(o.Amount * 1e9)
		for _, sum := range sums {
			if sum.Outcome == accounting.OutcomeImported {
				nanos -= sum.Cost.Nanos
			}
		}
		for _, r := range missing {
			if slices.Contains(within, r.Limit) && (o.Key == "" || o.Key == r.Key) && (o.User == "" || o.User == r.User) {
				nanos -= r.Calls[0].Cost.Nanos
			}
		}
		if nanos > 0 {
			missing = append(missing, accounting.Record{
				Key: o.Key, User: o.User, Limit: o.Limit, Operation: "import", Outcome: accounting.OutcomeImported,
				Calls: []accounting.Call{{Provider: "import", Price: "import", Cost: aigateway.Cost{Nanos: nanos, Currency: aigateway.DefaultCurrency}}},
			})
		}
	}
	return missing, nil
}
