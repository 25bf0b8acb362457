package pairs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

const pageOfFields = `# What becomes of every field

This page is generated from the tables that decide at run time, by ` + "`go test ./translate/pairs -run TestThePageOfFields -update`" + `. [B](requests.md) has the rules behind it.

A field is a path in the client's request, in the words of ` + "[`core.Row`](../core/row.go)" + `; a value follows ` + "`=`" + `. The columns are the formats of providers, the letters the classes of [0.2](policies.md#02-losses): **K** kept, **H** hint, **S** shaping, **R** refused. Traits that change the class follow it; the first that holds counts. With ` + "`on_loss reject`" + `, S is R.
`

var classLetters = map[pairs.Fate]string{pairs.Kept: "K", pairs.Hinted: "H", pairs.Shaped: "S", pairs.Refused: "R"}

// The page of fields of the rules is the join of the readers' rows and the writers'
// outcomes, so that the documentation matches the gateway.
func TestThePageOfFieldsIsTheJoinOfTheTables(t *testing.T) {
	var page strings.Builder
	page.WriteString(pageOfFields)
	for _, client := range formats.Names() {
		page.WriteString(tableOfFields(client))
	}
	requireGolden(t, "../rules/fields.md", []byte(page.String()))
}

// tableOfFields returns the table of a client's format with all formats of
// providers.
func tableOfFields(client translate.Format) string {
	head, line := "| Field |", "|---|"
	var columns [][]pairs.Field
	for _, provider := range spoken {
		if fields := pairs.Fields(client, provider); fields != nil {
			head, line, columns = head+" "+string(provider)+" |", line+"---|", append(columns, fields)
		}
	}
	if columns == nil {
		return ""
	}
	var table strings.Builder
	table.WriteString("\n## " + string(client) + "\n\n" + head + "\n" + line + "\n")
	for i := range columns[0] {
		table.WriteString("| `" + columns[0][i].Name + "` |")
		for _, fields := range columns {
			table.WriteString(" " + cellOfField(&fields[i]) + " |")
		}
		table.WriteString("\n")
	}
	return table.String()
}

// cellOfField returns the class of a field, and the traits that change it.
func cellOfField(f *pairs.Field) string {
	cell := classLetters[f.Fate]
	for _, r := range f.Rules {
		if changed := fmt.Sprintf("; %s with `%s`", classLetters[r.Fate], r.Trait); !strings.Contains(cell, changed) {
			cell += changed
		}
	}
	return cell
}
