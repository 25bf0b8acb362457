package command

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

const keysPath = "/ai_gateway/keys"

// apiKey is a key as the admin API shows one.
type apiKey struct {
	ID       int64      `json:"id"`
	User     string     `json:"user"`
	Name     string     `json:"name"`
	Key      string     `json:"key"` // shortened, but when it is new
	Disabled bool       `json:"disabled"`
	Expires  *time.Time `json:"expires"`
	Used     *time.Time `json:"used"`

	UserDisabled bool `json:"user_disabled"`
}

// status is whether the key is accepted, and if not, why.
func (k *apiKey) status() string {
	if k.UserDisabled && !k.Disabled {
		return "user disabled"
	}
	return status(k.Disabled, k.Expires)
}

// newKey is what is said of a key to make.
type newKey struct {
	User    string   `json:"user"`
	Name    string   `json:"name"`
	Expires string   `json:"expires,omitempty"`
	Models  []string `json:"models,omitempty"`
	From    []string `json:"from,omitempty"`
	Limit   string   `json:"limit,omitempty"`
}

// keyCommand is `caddy ai-gateway key`.
func keyCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "key", Short: "Manages the keys of a gateway's users", Args: cobra.NoArgs, RunE: showHelp}
	addWhere(cmd)
	create := withAdmin(&cobra.Command{Use: "new --user <name> --name <name>", Short: "Makes a key and prints it, now and never again", Args: cobra.NoArgs}, createKey)
	create.Flags().StringP("user", "u", "", "Whose key it is")
	create.Flags().StringP("name", "n", "", "What it is called")
	create.Flags().StringP("expires", "", "", "When it ends: YYYY-MM-DD or an RFC 3339 time; default never")
	create.Flags().StringSliceP("models", "", nil, "Models that it may use, * matches anything; default all")
	create.Flags().StringSliceP("from", "", nil, "Addresses and networks from which it may be used; default anywhere")
	create.Flags().StringP("limit", "", "", "Name of its limit")
	list := withAdmin(&cobra.Command{Use: "list", Short: "Lists the keys that users have, not those of a configuration", Args: cobra.NoArgs}, listKeys)
	list.Flags().StringP("user", "u", "", "Whose keys; default everybody's")
	cmd.AddCommand(create, list,
		withAdmin(&cobra.Command{Use: "revoke <id>", Short: "Deletes a key", Args: cobra.ExactArgs(1)}, revokeKey))
	return cmd
}

// createKey prints the key alone on the standard output, for scripts.
func createKey(cmd *cobra.Command, a admin, _ []string) error {
	var asked newKey
	flags := cmd.Flags()
	asked.User, _ = flags.GetString("user")
	asked.Name, _ = flags.GetString("name")
	asked.Expires, _ = flags.GetString("expires")
	asked.Limit, _ = flags.GetString("limit")
	asked.Models, _ = flags.GetStringSlice("models")
	asked.From, _ = flags.GetStringSlice("from")
	if asked.User == "" || asked.Name == "" {
		return errors.New("a key needs --user and --name")
	}
	var made apiKey
	if err := call(a, http.MethodPost, keysPath, asked, &made); err != nil {
		return fmt.Errorf("making a key for %s: %w", asked.User, err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "Key %d of %s, shown only now:\n", made.ID, made.User)
	fmt.Fprintln(cmd.OutOrStdout(), made.Key)
	return nil
}

func listKeys(cmd *cobra.Command, a admin, _ []string) error {
	user, _ := cmd.Flags().GetString("user")
	var keys []apiKey
	if err := call(a, http.MethodGet, keysPath+"?user="+url.QueryEscape(user), nil, &keys); err != nil {
		return err
	}
	table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tUSER\tNAME\tKEY\tSTATUS\tEXPIRES\tLAST USED")
	for _, k := range keys {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.User, k.Name, k.Key, k.status(), day(k.Expires), day(k.Used))
	}
	return table.Flush()
}

func revokeKey(cmd *cobra.Command, a admin, args []string) error {
	id, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil || id < 1 {
		return errors.New("the id of a key is a number, as `key list` shows it")
	}
	if err := call(a, http.MethodDelete, fmt.Sprintf("%s/%d", keysPath, id), nil, nil); err != nil {
		return fmt.Errorf("key %d: %w", id, err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "key %d is revoked\n", id)
	return nil
}
