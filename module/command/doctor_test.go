package command

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// exitStatus returns the exit status that Caddy gives an error.
func exitStatus(err error) int64 {
	if err == nil {
		return 0
	}
	if v := reflect.Indirect(reflect.ValueOf(err)); v.Kind() == reflect.Struct && v.FieldByName("ExitCode").IsValid() {
		return v.FieldByName("ExitCode").Int()
	}
	return 1
}

// logged returns the error that Caddy logs for an error of a command, nil for none.
func logged(err error) any {
	if v := reflect.Indirect(reflect.ValueOf(err)); v.Kind() == reflect.Struct && v.FieldByName("Err").IsValid() {
		return v.FieldByName("Err").Interface()
	}
	return nil
}

// CI could not distinguish a model that is broken from a gateway that was not there; and a
// key that may use no model passed. Errors of the status 2 were printed twice, once as JSON.
func TestTheDoctorsExitStatusSeparatesBrokenFromUntested(t *testing.T) {
	t.Setenv("DOCTOR_KEY", "sk-doctor")
	gateway := func(status int, list string) []string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/capabilities" {
				status, list = http.StatusInternalServerError, "{}"
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, list)
		}))
		t.Cleanup(server.Close)
		return []string{"--url", server.URL, "--key", "{env.DOCTOR_KEY}"}
	}
	// The port of a server that was closed may be that of the next one.
	away := "http://" + gatewaytest.RefusedAddress(t)
	const one = `{"data":[{"model":"m","formats":{}}]}`
	for name, tt := range map[string]struct {
		args   []string
		want   int64
		stderr string
	}{
		"planned":         {append(gateway(200, one), "--dry-run"), 0, ""},
		"broken":          {gateway(200, one), 1, "some probes are broken"},
		"not there":       {[]string{"--url", away, "--key", "{env.DOCTOR_KEY}"}, 2, "connection refused"},
		"a refused key":   {gateway(401, `{"error":{"message":"the API key is not valid"}}`), 2, "401"},
		"no models":       {gateway(200, `{"data":[]}`), 2, "lists no models"},
		"a key by itself": {[]string{"--key", "sk-doctor"}, 2, "must be a reference"},
		"an unknown flag": {[]string{"--fast"}, 2, "unknown flag"},
	} {
		cmd := doctorCommand()
		cmd.SetArgs(tt.args)
		cmd.SetOut(io.Discard)
		var printed bytes.Buffer
		cmd.SetErr(&printed)
		err := cmd.Execute()
		assert.Equal(t, tt.want, exitStatus(err), name)
		assert.Nil(t, logged(err), name)
		if tt.stderr != "" {
			require.Error(t, err, name)
			assert.Contains(t, printed.String(), tt.stderr, name)
			assert.Equal(t, 1, strings.Count(printed.String(), "Error:"), name)
		}
	}
}

// The doctor tests a model as clients do, who cannot see what the gateway knows of its targets: that a
// model ends in a month, or has no price, was found in other commands only.
func TestTheDoctorExplainsTheTargetsByTheAdminAPI(t *testing.T) {
	t.Setenv("DOCTOR_KEY", "sk-doctor")
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"data":[{"model":"m","formats":{}}]}`)
	}))
	t.Cleanup(gateway.Close)
	var asked string
	var sites []string // that were asked for; only the second request of a proxied site names none
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Query().Get("model")
		if sites = append(sites, r.URL.Query().Get("site")); sites[len(sites)-1] != "" {
			http.Error(w, `{"detail":"no site has this host or address"}`, http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, `{"model":"m","pattern":"m","format":"chat","attempts":1,"targets":[
			{"provider":"p","upstream_model":"u","state":"available","weight":1,"step_weight":1,"lane":"bytes","facts":{"values":{"longest":"9"},"as_of":"2026-11-20"},"warnings":["It ends."]}]}`)
	}))
	t.Cleanup(admin.Close)
	for name, wanted := range map[string]bool{"": false, strings.TrimPrefix(admin.URL, "http://"): true} {
		cmd := doctorCommand()
		cmd.SetArgs([]string{"--url", gateway.URL, "--key", "{env.DOCTOR_KEY}", "--dry-run", "--address", name})
		var out bytes.Buffer
		cmd.SetOut(&out)
		asked = ""
		require.NoError(t, cmd.Execute())
		assert.Equal(t, wanted, asked == "m")
		if wanted { // another site of the process was explained than the one that was tested
			assert.Equal(t, []string{strings.TrimPrefix(gateway.URL, "http://"), ""}, sites)
		}
		assert.Equal(t, wanted, strings.Contains(out.String(), "1. p/u: available, byte for byte\n   price: unknown\n   known: longest 9; the table of the gateway 2026-11-20\n   warning: It ends.\n"), out.String())

		// With --json, --address had no effect.
		cmd.SilenceUsage = true
		cmd.SetArgs([]string{"--url", gateway.URL, "--key", "{env.DOCTOR_KEY}", "--dry-run=false", "--json", "--address", name})
		out.Reset()
		require.ErrorIs(t, cmd.Execute(), errUnhealthy)
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		var explained struct{ Pattern string }
		require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &explained))
		assert.Equal(t, wanted, explained.Pattern == "m", out.String())
	}
}
