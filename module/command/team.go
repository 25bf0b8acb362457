package command

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

const teamsPath = apiPath + "teams"

// teamPath returns the path of a team, followed by suffix.
func teamPath(name, suffix string) string { return teamsPath + "/" + url.PathEscape(name) + suffix }

// memberPath returns the path of a member of a team, by their names.
func memberPath(args []string) string {
	return teamPath(args[0], "/members/"+url.PathEscape(args[1]))
}

// teamCommand returns the command caddy ai-gateway team.
func teamCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "team", Short: "Manages the teams of a gateway", Args: cobra.NoArgs, RunE: showHelp}
	addStoreFlags(cmd)
	remove := withAdmin(&cobra.Command{Use: "delete <team>", Short: "Deletes a team", Args: cobra.ExactArgs(1)}, deleteTeam)
	leave := withAdmin(&cobra.Command{Use: "remove <team> <user>", Short: "Removes a member from a team", Args: cobra.ExactArgs(2)}, removeMember)
	join := withAdmin(&cobra.Command{Use: "member <team> <user>", Short: "Adds a member to a team, or changes whether a member administrates it", Args: cobra.ExactArgs(2)}, setMember)
	join.Flags().BoolP("admin", "", false, "The member administrates the team: its members and keys")
	for _, deleting := range []*cobra.Command{remove, leave} {
		deleting.Flags().BoolP("delete-keys", "", false, "Also delete the keys of the team; without it, they are an error")
	}
	cmd.AddCommand(
		addTeamFlags(withAdmin(&cobra.Command{Use: "add <team>", Short: "Adds a team, whose keys are those with the limit of its name", Args: cobra.ExactArgs(1)}, addTeam)),
		addTeamFlags(withAdmin(&cobra.Command{Use: "set <team>", Short: "Changes what bounds the keys of a team; other flags stay unchanged", Args: cobra.ExactArgs(1)}, setTeam)),
		withAdmin(&cobra.Command{Use: "list", Short: "Lists the teams", Args: cobra.NoArgs}, listTeams),
		withAdmin(&cobra.Command{Use: "members <team>", Short: "Lists the members of a team", Args: cobra.ExactArgs(1)}, listMembers),
		join, leave, remove,
	)
	return cmd
}

// addTeamFlags adds the flags of what bounds a team.
func addTeamFlags(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringSliceP("models", "", nil, "Models that keys of the team may use at most; * matches any characters (default all)")
	return addRuleFlags(cmd, "all keys together")
}

func addTeam(cmd *cobra.Command, a admin, args []string) error {
	fields := changedFields(cmd)
	fields["name"] = args[0]
	if err := call(a, http.MethodPost, teamsPath, fields, nil); err != nil {
		return teamError(args[0], err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "team %s is added\n", args[0])
	return nil
}

func setTeam(cmd *cobra.Command, a admin, args []string) error {
	if err := call(a, http.MethodPatch, teamPath(args[0], ""), changedFields(cmd), nil); err != nil {
		return teamError(args[0], err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "team %s is changed\n", args[0])
	return nil
}

func listTeams(cmd *cobra.Command, a admin, _ []string) error {
	teams, err := listed[api.Team](a, teamsPath, make(url.Values))
	if err != nil {
		return err
	}
	table := newTable(cmd.OutOrStdout(), "NAME", "MODELS", "LIMIT")
	for i := range teams {
		table.row(teams[i].Name, strings.Join(teams[i].Models, " "), limitOf(&teams[i]))
	}
	return table.Flush()
}

// limitOf returns the rules of the limit of a team, with the words of the Caddyfile.
func limitOf(t *api.Team) string {
	if t.Configured {
		return "of the configuration"
	}
	return wordsOf(t.Rules)
}

func listMembers(cmd *cobra.Command, a admin, args []string) error {
	members, err := listed[api.Member](a, teamPath(args[0], "/members"), make(url.Values))
	if err != nil {
		return teamError(args[0], err)
	}
	table := newTable(cmd.OutOrStdout(), "USER", "ROLE")
	for _, member := range members {
		table.row(member.User, teamRole(member.Admin))
	}
	return table.Flush()
}

// teamRole returns what a member is in a team.
func teamRole(admin bool) string {
	if admin {
		return "admin"
	}
	return "member"
}

func setMember(cmd *cobra.Command, a admin, args []string) error {
	admin, _ := cmd.Flags().GetBool("admin")
	if err := call(a, http.MethodPut, memberPath(args), map[string]bool{"admin": admin}, nil); err != nil {
		return teamError(args[0], err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "user %s is %s of team %s\n", args[1], teamRole(admin), args[0])
	return nil
}

func removeMember(cmd *cobra.Command, a admin, args []string) error {
	if err := call(a, http.MethodDelete, memberPath(args)+"?"+deletingKeys(cmd).Encode(), nil, nil); err != nil {
		return teamError(args[0], err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "user %s is removed from team %s\n", args[1], args[0])
	return nil
}

func deleteTeam(cmd *cobra.Command, a admin, args []string) error {
	if err := call(a, http.MethodDelete, teamPath(args[0], "?"+deletingKeys(cmd).Encode()), nil, nil); err != nil {
		return teamError(args[0], err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "team %s is deleted\n", args[0])
	return nil
}

// deletingKeys returns the query that deletes keys of the team, if the flags ask for it.
func deletingKeys(cmd *cobra.Command) url.Values {
	query := make(url.Values)
	if yes, _ := cmd.Flags().GetBool("delete-keys"); yes {
		query.Set("keys", "delete")
	}
	return query
}

func teamError(name string, err error) error { return fmt.Errorf("team %s: %w", name, err) }
