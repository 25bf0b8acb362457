package quickstart

import (
	"strings"
	"text/template"
)

// banner returns the text that explains how to use the gateway.
func (s *setup) banner() string { return render(bannerTemplate, s) }

var bannerTemplate = template.Must(template.New("banner").Funcs(template.FuncMap{"join": strings.Join}).Parse(
	`AI gateway listening on {{.URL}}

  Key                  {{.Credential}}
  Base URL, Anthropic  {{.URL}}
  Base URL, OpenAI     {{.URL}}/v1
{{- range .Providers}}
  Provider             {{.Name}}, for {{if .Models}}{{join .Models " "}}{{else if $.Alone}}every model name{{else}}every other model name{{end}}
{{- end}}
{{if .Open}}
Warning: other machines may reach this address, and keys and passwords travel over
plain HTTP. Serve HTTPS with a configuration of your own.
{{end}}
{{- if .Alone}}
No provider was found in the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY,
OLLAMA_HOST): the demo provider answers every model name.
{{end}}
{{- if .NewKey}}
The key changes with every start. Set GATEWAY_KEY to keep a key.
{{end}}
{{- with .Login}}
{{- if .Password}}
The user root has been created. The password is shown only now:

username: root
password: {{.Password}}

Log in to the console, {{$.URL}}/console/, or to the API:

  curl {{$.URL}}/api/user/login -H "Content-Type: application/json" \
    -d '{"username": "root", "password": "{{.Password}}"}'
{{else if .Exists}}
The user root can log in to the console, {{$.URL}}/console/, and to the API with the
password of an earlier start:

  curl {{$.URL}}/api/user/login -H "Content-Type: application/json" \
    -d "{\"username\": \"root\", \"password\": \"$PASSWORD\"}"

To set another password: {{$.Program}} ai-gateway user passwd root
{{else if .Problem}}
Users cannot log in; the key above works. The reason:
{{.Problem}}
{{end}}
{{- end}}
Try it:

  curl {{.URL}}/v1/chat/completions \
    -H "Authorization: Bearer {{.Credential}}" \
    -H "Content-Type: application/json" \
    -d '{"model": "demo", "messages": [{"role": "user", "content": "Hello!"}]}'

Press Ctrl-C to stop. To start your own configuration: {{.Program}} ai-gateway --print
`))
