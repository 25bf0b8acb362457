package command

import (
	"fmt"
	"net/http"
	"net/url"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

const usersPath = "/ai_gateway/users"

// userPath is the path of a user, with more behind it.
func userPath(name, more string) string { return usersPath + "/" + url.PathEscape(name) + more }

// account is a user as the admin API shows one.
type account struct {
	Name      string     `json:"username"`
	Role      string     `json:"role"`
	Disabled  bool       `json:"disabled"`
	Created   time.Time  `json:"created"`
	LastLogin *time.Time `json:"last_login"`
	Password  string     `json:"password"` // one that was made up, else ""
}

// userCommand is `caddy ai-gateway user`.
func userCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "user", Short: "Manages the users of a gateway", Args: cobra.NoArgs, RunE: showHelp}
	addWhere(cmd)
	add := withAdmin(&cobra.Command{Use: "add <name>", Short: "Adds a user; without a password a random one is made up and printed", Args: cobra.ExactArgs(1)}, addUser)
	add.Flags().StringP("role", "", "user", "user, admin or root")
	passwd := withAdmin(&cobra.Command{Use: "passwd <name>", Short: "Sets the password of a user and ends all sessions", Args: cobra.ExactArgs(1)}, setPassword)
	cmd.AddCommand(
		addPasswordFlag(add),
		addPasswordFlag(passwd),
		withAdmin(&cobra.Command{Use: "list", Short: "Lists the users", Args: cobra.NoArgs}, listUsers),
		withAdmin(&cobra.Command{Use: "disable <name>", Short: "Ends all sessions of a user and refuses all keys", Args: cobra.ExactArgs(1)}, switchUser(true)),
		withAdmin(&cobra.Command{Use: "enable <name>", Short: "Lets a disabled user in again", Args: cobra.ExactArgs(1)}, switchUser(false)),
		withAdmin(&cobra.Command{Use: "delete <name>", Short: "Deletes a user with all keys", Args: cobra.ExactArgs(1)}, deleteUser),
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
	fmt.Fprintf(cmd.OutOrStdout(), "username: %s\n", user.Name)
	printPassword(cmd, user)
	return nil
}

// createUser adds a user, with a password that is made up where it is "".
func createUser(a admin, name, role, password string) (user account, err error) {
	err = call(a, http.MethodPost, usersPath, with(password, map[string]string{"username": name, "role": role}), &user)
	return user, err
}

func with(password string, fields map[string]string) map[string]string {
	if password != "" {
		fields["password"] = password
	}
	return fields
}

// printPassword shows a password that was made up, now and never again.
func printPassword(cmd *cobra.Command, user account) {
	if user.Password != "" {
		fmt.Fprintf(cmd.OutOrStdout(), "password: %s\n", user.Password)
	}
}

func setPassword(cmd *cobra.Command, a admin, args []string) error {
	var user account
	if err := call(a, http.MethodGet, userPath(args[0], ""), nil, &user); err != nil {
		return about(args[0], err) // before anything is typed
	}
	password, err := readPassword(cmd)
	if err != nil {
		return err
	}
	if err := call(a, http.MethodPost, userPath(args[0], "/password"), with(password, map[string]string{}), &user); err != nil {
		return about(args[0], err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "username: %s\n", user.Name)
	printPassword(cmd, user)
	return nil
}

func about(name string, err error) error { return fmt.Errorf("user %s: %w", name, err) }

func listUsers(cmd *cobra.Command, a admin, _ []string) error {
	var users []account
	if err := call(a, http.MethodGet, usersPath, nil, &users); err != nil {
		return err
	}
	table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tROLE\tSTATUS\tCREATED\tLAST LOGIN")
	for _, user := range users {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", user.Name, user.Role, status(user.Disabled, nil), day(&user.Created), day(user.LastLogin))
	}
	return table.Flush()
}

// status is what a table says of a user or a key.
func status(disabled bool, expires *time.Time) string {
	switch {
	case disabled:
		return "disabled"
	case expires != nil && !time.Now().Before(*expires):
		return "expired"
	}
	return "enabled"
}

// day is a moment in a table, in UTC.
func day(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04")
}

func switchUser(disabled bool) func(*cobra.Command, admin, []string) error {
	return func(cmd *cobra.Command, a admin, args []string) error {
		if err := call(a, http.MethodPatch, userPath(args[0], ""), map[string]bool{"disabled": disabled}, nil); err != nil {
			return about(args[0], err)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "user %s is %s\n", args[0], status(disabled, nil))
		return nil
	}
}

func deleteUser(cmd *cobra.Command, a admin, args []string) error {
	if err := call(a, http.MethodDelete, userPath(args[0], ""), nil, nil); err != nil {
		return about(args[0], err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "user %s is deleted\n", args[0])
	return nil
}
