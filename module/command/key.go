package command

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

const keysPath = apiPath + "keys"

// keyStatus returns "enabled" if the gateway accepts a key, or else the reason why not.
func keyStatus(k *api.Key) string {
	if k.UserDisabled && !k.Disabled {
		return "user disabled"
	}
	return status(k.Disabled, k.Expires)
}

// newKey is the body of a request that creates a key.
type newKey struct {
	User    string   `json:"user"`
	Name    string   `json:"name"`
	Expires string   `json:"expires,omitempty"`
	Models  []string `json:"models,omitempty"`
	From    []string `json:"from,omitempty"`
	Limit   string   `json:"limit,omitempty"`
}

// keyCommand returns the command caddy ai-gateway key.
func keyCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "key", Short: "Manages the keys of users", Args: cobra.NoArgs, RunE: showHelp}
	addStoreFlags(cmd)
	create := withAdmin(&cobra.Command{Use: "new --user <name> --name <name>", Short: "Creates a key and prints it; it cannot be shown again", Args: cobra.NoArgs}, createKey)
	create.Flags().StringP("user", "u", "", "Name of the user")
	create.Flags().StringP("name", "n", "", "Name of the key")
	create.Flags().StringP("expires", "", "", "Expiry: YYYY-MM-DD or an RFC 3339 time (default never)")
	create.Flags().StringSliceP("models", "", nil, "Models that the key may use; * matches any characters (default all)")
	create.Flags().StringSliceP("from", "", nil, "Client addresses and networks that may use the key (default all)")
	create.Flags().StringP("limit", "", "", "Name of the limit or the team of the key; with --config or --address, the limit must be defined there")
	list := withAdmin(&cobra.Command{Use: "list", Short: "Lists the keys of users; keys of a configuration are not included", Args: cobra.NoArgs}, listKeys)
	list.Flags().StringP("user", "u", "", "Name of the user (default all users)")
	list.Flags().StringP("team", "", "", "Name of the team (default all keys)")
	list.MarkFlagsMutuallyExclusive("user", "team")
	cmd.AddCommand(create, list,
		withAdmin(&cobra.Command{Use: "revoke <id>", Short: "Deletes a key", Args: cobra.ExactArgs(1)}, revokeKey))
	return cmd
}

// createKey creates a key. For scripts, it prints nothing but the key to the standard
// output.
func createKey(cmd *cobra.Command, a admin, _ []string) error {
	var request newKey
	flags := cmd.Flags()
	request.User, _ = flags.GetString("user")
	request.Name, _ = flags.GetString("name")
	request.Expires, _ = flags.GetString("expires")
	request.Limit, _ = flags.GetString("limit")
	request.Models, _ = flags.GetStringSlice("models")
	request.From, _ = flags.GetStringSlice("from")
	if request.User == "" || request.Name == "" {
		return errors.New("a key needs --user and --name")
	}
	if err := checkLimit(cmd, a, request.Limit); err != nil {
		return err
	}
	var created api.Key
	if err := call(a, http.MethodPost, keysPath, request, &created); err != nil {
		return fmt.Errorf("creating key for %s: %w", request.User, err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "Key %d of %s, shown only now:\n", created.ID, created.User)
	fmt.Fprintln(cmd.OutOrStdout(), created.Key)
	return nil
}

func listKeys(cmd *cobra.Command, a admin, _ []string) error {
	keys, err := listed[api.Key](a, keysPath, flagQuery(cmd, "user", "team"))
	if err != nil {
		return err
	}
	table := newTable(cmd.OutOrStdout(), "ID", "USER", "NAME", "KEY", "STATUS", "EXPIRES", "LAST USED")
	for _, k := range keys {
		table.row(fmt.Sprint(k.ID), k.User, k.Name, k.Key, keyStatus(&k), formatTime(k.Expires), formatTime(k.Used))
	}
	return table.Flush()
}

func revokeKey(cmd *cobra.Command, a admin, args []string) error {
	id, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil || id < 1 {
		return errors.New("the ID of a key must be a number; see key list")
	}
	if err := call(a, http.MethodDelete, fmt.Sprintf("%s/%d", keysPath, id), nil, nil); err != nil {
		return fmt.Errorf("key %d: %w", id, err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "key %d is revoked\n", id)
	return nil
}
