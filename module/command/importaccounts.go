package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration"
)

// importAccounts writes the users of an import to the selected store, and what was spent to
// its ledger.
func importAccounts(cmd *cobra.Command, g *migration.Gateway, report *migration.Report) error {
	return withStore(cmd, func(store aigateway.Store, options accounting.LedgerOptions) error {
		actor := asCommand(cmd.Context())
		created, err := importUsers(actor, store, g.Users, report)
		if err != nil {
			return err
		}
		added, err := importSpent(actor, store, options, g, report)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s new, %s.\n", migration.Count(created, "user"), migration.Count(added, "spent amount"))
		return err
	})
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

// importSpent writes what was spent to the ledger of a store, and returns the number of its
// records. Amounts that an earlier import has written are subtracted.
func importSpent(ctx context.Context, store aigateway.Store, options accounting.LedgerOptions, g *migration.Gateway, report *migration.Report) (added int, err error) {
	if len(g.Openings) == 0 {
		return 0, nil
	}
	keeper, ok := store.(accounting.LedgerStore)
	if !ok {
		report.Add(migration.Lost, "spend", "the store keeps no ledger: budgets begin with their whole amounts")
		return 0, nil
	}
	missing, err := spent(ctx, keeper, g, report)
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
	for i, part := range missing {
		r := accounting.Record{
			Key: part.Key, User: part.User, Limit: part.Limit, Admitted: part.Time, Operation: "import", Outcome: accounting.OutcomeImported,
			Calls: []accounting.Call{{Provider: "import", Price: "import", Cost: aigateway.Cost{Nanos: part.Nanos, Currency: aigateway.DefaultCurrency}}},
		}
		if err := ledger.Begin(&r); err != nil {
			return i, err
		}
		ledger.End(&r)
	}
	return len(missing), ledger.Settled(ctx)
}

// spent returns what the ledger lacks of what was spent.
func spent(ctx context.Context, ledger accounting.LedgerReader, g *migration.Gateway, report *migration.Report) ([]migration.Spent, error) {
	zone, err := ledger.Location(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the ledger: %w", err)
	}
	now := time.Now().In(zone)
	return g.Spent(now, func(o *migration.Opening, start time.Time) (nanos int64, err error) {
		q := accounting.UsageQuery{
			From: time.Unix(0, 0), To: now.Truncate(time.Hour).Add(time.Hour), By: []accounting.Dimension{accounting.ByOutcome},
			Only: map[accounting.Dimension]string{accounting.ByKey: o.Key, accounting.ByUser: o.User}, Limits: g.Within(o.Limit), Currency: aigateway.DefaultCurrency,
		}
		if !start.IsZero() {
			q.From = start.Truncate(time.Hour)
		}
		sums, err := ledger.Usage(ctx, q)
		if err != nil {
			return 0, fmt.Errorf("reading the ledger: %w", err)
		}
		for _, sum := range sums {
			if sum.Outcome == accounting.OutcomeImported {
				nanos += sum.Cost.Nanos
			}
		}
		return nanos, nil
	}, report)
}
