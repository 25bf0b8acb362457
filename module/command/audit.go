package command

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

const auditPath = apiPath + "audit"

// auditCommand returns the command caddy ai-gateway audit.
func auditCommand() *cobra.Command {
	cmd := withAdmin(&cobra.Command{Use: "audit", Short: "Shows who has changed what, the newest change first", Args: cobra.NoArgs}, showAudit)
	addStoreFlags(cmd)
	flags := cmd.Flags()
	flags.StringP("from", "", "", "First day, YYYY-MM-DD in UTC, or RFC 3339 time (default the oldest row)")
	flags.StringP("to", "", "", "Day or time before which rows count (default now)")
	flags.StringP("actor", "", "", "Actor, such as user/alice, or its kind: user, command, admin_api, config, anonymous (default all)")
	flags.StringP("object", "", "", "Object, such as key/7, or its kind: user, key, team, config (default all)")
	flags.StringP("action", "", "", "Action, such as key.update, or its kind, such as login (default all)")
	flags.IntP("limit", "l", 100, "The largest number of rows, 0 for all; --jsonl prints all")
	flags.BoolP("json", "", false, "Print JSON instead of a table")
	flags.BoolP("jsonl", "", false, "Print all rows as JSON lines, for an archive")
	cmd.MarkFlagsMutuallyExclusive("json", "jsonl")
	return cmd
}

// showAudit prints rows of the audit log.
func showAudit(cmd *cobra.Command, a admin, _ []string) error {
	most, _ := cmd.Flags().GetInt("limit")
	if most < 0 {
		return errors.New("--limit must be a positive number, or 0")
	}
	query := flagQuery(cmd, "from", "to", "actor", "object", "action")
	if asLines, _ := cmd.Flags().GetBool("jsonl"); asLines {
		query.Set("format", "jsonl")
		text, err := a.send(http.MethodGet, auditPath+"?"+query.Encode(), nil)
		if err == nil {
			_, err = cmd.OutOrStdout().Write(text)
		}
		return err
	}
	query.Set("limit", strconv.Itoa(cmp.Or(most, 1000)))
	return printList(cmd, a, list{path: auditPath, query: query, most: most, table: printAudit})
}

// printAudit prints rows as a table.
func printAudit(w io.Writer, items []json.RawMessage) error {
	rows, err := decoded[api.AuditRow](items)
	if err != nil {
		return err
	}
	table := newTable(w, "TIME", "ACTOR", "ADDRESS", "ACTION", "OBJECT", "RESULT", "CHANGES")
	for i := range rows {
		r := &rows[i]
		var changes []string
		for _, c := range r.Changes {
			changes = append(changes, fmt.Sprintf("%s: %q > %q", c.Field, c.Before, c.After))
		}
		table.row(r.Time, r.Actor, r.Address, r.Action, r.Object, r.Result, strings.Join(changes, ", "))
	}
	return table.Flush()
}
