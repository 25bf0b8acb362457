package command

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

const usersPath = apiPath + "users"

// userPath returns the path of a user, followed by suffix.
func userPath(name, suffix string) string { return usersPath + "/" + url.PathEscape(name) + suffix }

// userCommand returns the command caddy ai-gateway user.
func userCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "user", Short: "Manages the users of a gateway", Args: cobra.NoArgs, RunE: showHelp}
	addStoreFlags(cmd)
	add := withAdmin(&cobra.Command{Use: "add <name>", Short: "Adds a user; without a password, generates one and prints it", Args: cobra.ExactArgs(1)}, addUser)
	add.Flags().StringP("role", "", "user", "user, admin or root")
	passwd := withAdmin(&cobra.Command{Use: "passwd <name>", Short: "Sets the password of a user and ends all sessions", Args: cobra.ExactArgs(1)}, setPassword)
	cmd.AddCommand(
		addPasswordFlag(add),
		addPasswordFlag(passwd),
		withAdmin(&cobra.Command{Use: "list", Short: "Lists the users", Args: cobra.NoArgs}, listUsers),
		addRuleFlags(withAdmin(&cobra.Command{Use: "set <name>", Short: "Changes what bounds all keys of a user together; other flags stay unchanged", Args: cobra.ExactArgs(1)}, setUser), "all keys together"),
		withAdmin(&cobra.Command{Use: "disable <name>", Short: "Ends all sessions of a user and refuses the user's keys", Args: cobra.ExactArgs(1)}, setDisabled(true)),
		withAdmin(&cobra.Command{Use: "enable <name>", Short: "Enables a disabled user", Args: cobra.ExactArgs(1)}, setDisabled(false)),
		linkCommand(),
		withAdmin(&cobra.Command{Use: "unlink <name>", Short: "Deletes the identities of a user and ends all sessions", Args: cobra.ExactArgs(1)}, unlinkUser),
		withAdmin(&cobra.Command{Use: "delete <name>", Short: "Deletes a user and the user's keys", Args: cobra.ExactArgs(1)}, deleteUser),
	)
	return cmd
}

func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

func addUser(cmd *cobra.Command, a admin, args []string) error {
	role, _ := cmd.Flags().GetString("role")
	password, err := readPassword(cmd)
	if err != nil {
		return err
	}
	user, err := createUser(a, args[0], role, password)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "username: %s\n", user.Username)
	printPassword(cmd, user)
	return nil
}

// createUser adds a user. If the password is "", the answer contains a generated one.
func createUser(a admin, name, role, password string) (user api.User, err error) {
	err = call(a, http.MethodPost, usersPath, withPassword(password, map[string]string{"username": name, "role": role}), &user)
	return user, err
}

func withPassword(password string, fields map[string]string) map[string]string {
	if password != "" {
		fields["password"] = password
	}
	return fields
}

// printPassword prints a generated password, which cannot be shown again.
func printPassword(cmd *cobra.Command, user api.User) {
	if user.Password != "" {
		fmt.Fprintf(cmd.OutOrStdout(), "password: %s\n", user.Password)
	}
}

func setPassword(cmd *cobra.Command, a admin, args []string) error {
	var user api.User
	if err := call(a, http.MethodGet, userPath(args[0], ""), nil, &user); err != nil {
		return userError(args[0], err) // before the operator types a password
	}
	password, err := readPassword(cmd)
	if err != nil {
		return err
	}
	if err := call(a, http.MethodPost, userPath(args[0], "/password"), withPassword(password, map[string]string{}), &user); err != nil {
		return userError(args[0], err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "username: %s\n", user.Username)
	printPassword(cmd, user)
	return nil
}

func userError(name string, err error) error { return fmt.Errorf("user %s: %w", name, err) }

func listUsers(cmd *cobra.Command, a admin, _ []string) error {
	users, err := listed[api.User](a, usersPath, make(url.Values))
	if err != nil {
		return err
	}
	table := newTable(cmd.OutOrStdout(), "NAME", "ROLE", "LIMIT", "STATUS", "CREATED", "LAST LOGIN")
	for _, user := range users {
		table.row(user.Username, user.Role, wordsOf(user.Rules), status(user.Disabled, nil), formatTime(&user.Created), formatTime(user.LastLogin))
	}
	return table.Flush()
}

// status returns the status of a user or a key for a table.
func status(disabled bool, expires *time.Time) string {
	switch {
	case disabled:
		return "disabled"
	case expires != nil && !time.Now().Before(*expires):
		return "expired"
	}
	return "enabled"
}

// formatTime returns a time for a table, in UTC.
func formatTime(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04")
}

func setUser(cmd *cobra.Command, a admin, args []string) error {
	if err := call(a, http.MethodPatch, userPath(args[0], ""), changedFields(cmd), nil); err != nil {
		return userError(args[0], err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "user %s is changed\n", args[0])
	return nil
}

func setDisabled(disabled bool) func(*cobra.Command, admin, []string) error {
	return func(cmd *cobra.Command, a admin, args []string) error {
		if err := call(a, http.MethodPatch, userPath(args[0], ""), map[string]bool{"disabled": disabled}, nil); err != nil {
			return userError(args[0], err)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "user %s is %s\n", args[0], status(disabled, nil))
		return nil
	}
}

func deleteUser(cmd *cobra.Command, a admin, args []string) error {
	if err := call(a, http.MethodDelete, userPath(args[0], ""), nil, nil); err != nil {
		return userError(args[0], err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "user %s is deleted\n", args[0])
	return nil
}

// linkCommand returns the command caddy ai-gateway user link.
func linkCommand() *cobra.Command {
	cmd := withAdmin(&cobra.Command{Use: "link <name>", Short: "Links a user with an identity at an issuer, with which the user then signs in", Args: cobra.ExactArgs(1)}, linkUser)
	cmd.Flags().StringP("issuer", "", "", "Address of the issuer, or proxy")
	cmd.Flags().StringP("subject", "", "", "What identifies the person there; the log has it when the person was refused")
	_ = cmd.MarkFlagRequired("issuer") // fails for an unknown flag
	_ = cmd.MarkFlagRequired("subject")
	return cmd
}

func linkUser(cmd *cobra.Command, a admin, args []string) error {
	issuer, _ := cmd.Flags().GetString("issuer")
	subject, _ := cmd.Flags().GetString("subject")
	if err := call(a, http.MethodPost, userPath(args[0], "/identities"), map[string]string{"issuer": issuer, "subject": subject}, nil); err != nil {
		return userError(args[0], err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "user %s is linked\n", args[0])
	return nil
}

func unlinkUser(cmd *cobra.Command, a admin, args []string) error {
	if err := call(a, http.MethodDelete, userPath(args[0], "/identities"), nil, nil); err != nil {
		return userError(args[0], err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "user %s is not linked any more\n", args[0])
	return nil
}
