package command

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// addFormatFlags adds the flags for the output of programs.
func addFormatFlags(cmd *cobra.Command) {
	cmd.Flags().BoolP("json", "", false, "Print JSON instead of a table")
	cmd.Flags().BoolP("csv", "", false, "Print comma-separated values instead of a table")
	cmd.MarkFlagsMutuallyExclusive("json", "csv")
}

// flagQuery returns a query with the values of flags that are set.
func flagQuery(cmd *cobra.Command, names ...string) url.Values {
	query := make(url.Values)
	for _, name := range names {
		flag := cmd.Flags().Lookup(name)
		if !flag.Changed {
			continue
		}
		value := flag.Value.String()
		if name == "key" {
			value = keyID(value)
		}
		query.Set(strings.ReplaceAll(name, "-", "_"), value)
	}
	return query
}

// keyID returns the ID of a key for what an operator has written: the number of a key of a user is enough,
// as in all commands.
func keyID(written string) string {
	if number, ok := aigateway.StoredKeyNumber(written); ok {
		return aigateway.StoredKeyID(number)
	}
	return written
}

// list is a list of the admin API whose answers are pages.
type list struct {
	path  string
	query url.Values
	most  int // the largest number of items, 0 for all
	table func(w io.Writer, items []json.RawMessage) error
}

// printList prints a list in the format that the flags select.
func printList(cmd *cobra.Command, a admin, l list) error {
	if asCSV, err := cmd.Flags().GetBool("csv"); err == nil && asCSV {
		l.query.Set("format", "csv")
		text, err := a.send(http.MethodGet, l.path+"?"+l.query.Encode(), nil)
		if err == nil {
			_, err = cmd.OutOrStdout().Write(text)
		}
		return err
	}
	items, err := l.read(a, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if asJSON, _ := cmd.Flags().GetBool("json"); asJSON {
		encoder := json.NewEncoder(cmd.OutOrStdout())
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(items)
	}
	return l.table(cmd.OutOrStdout(), items)
}

// notableLag is the number of seconds from which a list reports that the ledger is behind.
const notableLag = 5

// read reads the pages of the list, and returns their items. It writes to messages if the
// ledger is behind.
func (l list) read(a admin, messages io.Writer) (items []json.RawMessage, err error) {
	items = []json.RawMessage{} // in JSON, no items are an empty list
	for {
		var page struct {
			Items []json.RawMessage
			Next  string
			Lag   int64 `json:"behind_seconds"`
		}
		if err := call(a, http.MethodGet, l.path+"?"+l.query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		if page.Lag >= notableLag && !l.query.Has("after") {
			fmt.Fprintf(messages, "The ledger is %s behind: records of this time wait for the database, and are missing here.\n", time.Duration(page.Lag)*time.Second)
		}
		items = append(items, page.Items...)
		if l.most > 0 && len(items) >= l.most {
			return items[:l.most], nil
		}
		if page.Next == "" {
			return items, nil
		}
		l.query.Set("after", page.Next)
	}
}

// listed reads a whole list, whose items have the type T.
func listed[T any](a admin, path string, query url.Values) ([]T, error) {
	query.Set("limit", "1000")
	items, err := list{path: path, query: query}.read(a, io.Discard)
	if err != nil {
		return nil, err
	}
	return decoded[T](items)
}

// decoded decodes the items of a list.
func decoded[T any](items []json.RawMessage) ([]T, error) {
	all := make([]T, len(items))
	for i, item := range items {
		if err := json.Unmarshal(item, &all[i]); err != nil {
			return nil, fmt.Errorf("reading answer: %w", err)
		}
	}
	return all, nil
}
