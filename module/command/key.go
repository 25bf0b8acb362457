package command

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
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

// keyCommand returns the command caddy ai-gateway key.
func keyCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "key", Short: "Manages the keys of users", Args: cobra.NoArgs, RunE: showHelp}
	addStoreFlags(cmd)
	create := withAdmin(&cobra.Command{Use: "new --user <name> --name <name>", Short: "Creates a key and prints it; it cannot be shown again", Args: cobra.NoArgs}, createKey)
	create.Flags().StringP("user", "u", "", "Name of the user")
	create.Flags().StringP("name", "n", "", "Name of the key")
	set := withAdmin(&cobra.Command{Use: "set <id>", Short: "Changes what its flags name of a key; an empty value removes it", Args: cobra.ExactArgs(1)}, setKey)
	set.Flags().StringP("name", "n", "", "Name of the key")
	rotate := withAdmin(&cobra.Command{Use: "rotate <id>", Short: "Replaces the secret of a key and prints the new one; it cannot be shown again", Args: cobra.ExactArgs(1)}, rotateKey)
	rotate.Flags().StringP("overlap", "", "", "How long the present secret is still valid, such as 24h, at most 30d (default: it ends at once)")
	list := withAdmin(&cobra.Command{Use: "list", Short: "Lists the keys of users; keys of a configuration are not included", Args: cobra.NoArgs}, listKeys)
	list.Flags().StringP("user", "u", "", "Name of the user (default all users)")
	list.Flags().StringP("team", "", "", "Name of the team (default all keys)")
	list.MarkFlagsMutuallyExclusive("user", "team")
	cmd.AddCommand(addKeyFlags(create), addKeyFlags(set), list, rotate,
		withAdmin(&cobra.Command{Use: "why <id>", Short: "Shows why requests with a key are refused now", Args: cobra.ExactArgs(1)}, explainKey),
		withAdmin(&cobra.Command{Use: "revoke <id>", Short: "Deletes a key", Args: cobra.ExactArgs(1)}, revokeKey))
	return cmd
}

// addKeyFlags adds the flags of what bounds a key.
func addKeyFlags(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringP("expires", "", "", "Expiry: YYYY-MM-DD or an RFC 3339 time (default never)")
	cmd.Flags().StringSliceP("models", "", nil, "Models that the key may use; * matches any characters (default all)")
	cmd.Flags().StringSliceP("from", "", nil, "Client addresses and networks that may use the key (default all)")
	cmd.Flags().StringP("limit", "", "", "Name of the limit or the team of the key; with --config or --address, the limit must be defined there")
	cmd.Flags().StringSliceP("tags", "", nil, "Tags that all requests with the key have, such as team=search (default none)")
	return addRuleFlags(cmd, "the key alone")
}

// createKey creates a key. For scripts, it prints nothing but the key to the standard
// output.
func createKey(cmd *cobra.Command, a admin, _ []string) error {
	fields := changedFields(cmd, "user", "name", "expires", "limit")
	user, _ := cmd.Flags().GetString("user")
	if name, _ := cmd.Flags().GetString("name"); user == "" || name == "" {
		return errors.New("a key needs --user and --name")
	}
	if err := checkLimitFlag(cmd, a); err != nil {
		return err
	}
	var created api.Key
	if err := call(a, http.MethodPost, keysPath, fields, &created); err != nil {
		return fmt.Errorf("creating key for %s: %w", user, err)
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
	table := newTable(cmd.OutOrStdout(), "ID", "USER", "NAME", "KEY", "LIMIT", "STATUS", "EXPIRES", "LAST USED")
	for _, k := range keys {
		table.row(fmt.Sprint(k.ID), k.User, k.Name, k.Key, limitOfKey(&k), keyStatus(&k), formatTime(k.Expires), formatTime(k.Used))
	}
	return table.Flush()
}

// limitOfKey returns what bounds the use of a key: the name of its limit, and its own rules.
func limitOfKey(k *api.Key) string {
	return strings.Trim(k.Limit+", "+wordsOf(k.Rules), ", ")
}

func setKey(cmd *cobra.Command, a admin, args []string) error {
	if err := checkLimitFlag(cmd, a); err != nil {
		return err
	}
	return callKey(a, http.MethodPatch, args[0], "", changedFields(cmd, "name", "expires", "limit"), func(key *api.Key) {
		fmt.Fprintf(cmd.OutOrStdout(), "key %d is changed\n", key.ID)
	})
}

// rotateKey replaces the secret of a key. For scripts, it prints nothing but the secret to the
// standard output.
func rotateKey(cmd *cobra.Command, a admin, args []string) error {
	overlap, _ := cmd.Flags().GetString("overlap")
	return callKey(a, http.MethodPost, args[0], "/rotation", map[string]string{"overlap": overlap}, func(key *api.Key) {
		old := "is not valid any more"
		if key.Replaced != nil {
			old = "is valid until " + key.Replaced.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "The old secret %s. The new one, shown only now:\n", old)
		fmt.Fprintln(cmd.OutOrStdout(), key.Key)
	})
}

func revokeKey(cmd *cobra.Command, a admin, args []string) error {
	return callKey[api.Key](a, http.MethodDelete, args[0], "", nil, func(*api.Key) {
		fmt.Fprintf(cmd.OutOrStdout(), "key %s is revoked\n", args[0])
	})
}

// explainKey prints why requests with a key are refused now.
func explainKey(cmd *cobra.Command, a admin, args []string) error {
	number, _ := aigateway.StoredKeyNumber(args[0])
	return callKey(a, http.MethodGet, args[0], "/refusal", nil, func(refusal *api.Refusal) {
		if refusal.Reason == "" {
			admitted := "requests with key %d are admitted\n"
			if _, running := a.(remote); !running {
				admitted = "key %d is valid; only a running gateway knows what is left of its limits\n"
			}
			fmt.Fprintf(cmd.OutOrStdout(), admitted, number)
			return
		}
		fmt.Fprintf(cmd.OutOrStdout(), "requests with key %d are refused: %s\n", number, refusal.Reason)
		if refusal.End != nil {
			fmt.Fprintf(cmd.OutOrStdout(), "there is room again at %s\n", refusal.End.UTC().Format(time.RFC3339))
		}
	})
}

// callKey makes a call about the key with an ID, and shows its answer.
func callKey[Answer any](a admin, method, id, suffix string, body any, show func(*Answer)) error {
	number, ok := aigateway.StoredKeyNumber(id)
	if !ok {
		return errors.New("the ID of a key must be a number; see key list")
	}
	answer := new(Answer)
	target := any(answer)
	if method == http.MethodDelete {
		target = nil // the answer has no body
	}
	if err := call(a, method, fmt.Sprintf("%s/%d%s", keysPath, number, suffix), body, target); err != nil {
		return fmt.Errorf("key %d: %w", number, err)
	}
	show(answer)
	return nil
}
