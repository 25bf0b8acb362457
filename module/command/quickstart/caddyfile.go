package quickstart

import (
	"strings"
	"text/template"
)

// caddyfile returns the configuration that the command runs, or prints. The admin endpoint
// of a running one is off, because only the command line determines the configuration. Its
// protocols exclude HTTP/2 and HTTP/3 over TLS, about which Caddy would log warnings. The
// printed configuration has Caddy's defaults: with "admin off", reload and the subcommands
// for a running gateway would not work, and with "auto_https off", a site with a host name
// would have no certificate.
func (s *setup) caddyfile() string { return render(caddyfileTemplate, s) }

var caddyfileTemplate = template.Must(template.New("Caddyfile").Funcs(template.FuncMap{"join": strings.Join}).Parse(
	`{{if .Printed}}{
	grace_period 30s
}

# For HTTPS, write the name of the host instead of this address, and remove bind.
{{else}}{
	admin off
	persist_config off
	auto_https off
	grace_period 30s
	log {
		level {{.Level}}
		exclude admin
	}
	servers {
		protocols h1 h2c
	}
}

{{end}}http://:{{.Port}} {
{{- with .Host}}
	bind {{.}}
{{- end}}
	ai_gateway {
{{- $setup := .}}
{{- range .Providers}}
		provider {{.Name}}{{with .APIKey}} {{.}}{{end}}
{{- if or .BaseURL .Models .Demo}} {
{{- with .BaseURL}}
			base_url {{.}}
{{- end}}
{{- with .Models}}
			models {{join . " "}}
{{- end}}
{{- if .Demo}}
			pace {{$setup.Pace}}
{{- end}}
		}
{{- end}}
{{- end}}
		key local {{.Key}}
	}
	respond / <<TEXT
		The AI gateway is running.

		Base URL, Anthropic  {scheme}://{hostport}
		Base URL, OpenAI     {scheme}://{hostport}/v1
		Console              {scheme}://{hostport}/console/
		All paths            {scheme}://{hostport}/api/openapi.json
		Documentation        {scheme}://{hostport}/console/docs/

		Clients need a key: the terminal shows one, and users can create keys.

		TEXT
	respond "Not found. The gateway serves paths below /v1/, for Gemini clients below /v1beta/, for accounts below /api/, and the console at /console/. The base URL of an OpenAI client ends with /v1." 404
}
`))
