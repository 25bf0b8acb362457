package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
)

// admin answers the requests of the administrator of a gateway, on the paths
// below /ai_gateway/ of Caddy's admin API, whether Caddy runs or not.
type admin interface {
	// ask sends a JSON body, nil for none, and returns that of the answer. Where
	// it is refused the error is the sentence that says why.
	ask(method, path string, body []byte) ([]byte, error)
	close()
}

// call asks with in as the body, nil for none, and reads the answer into out.
func call(a admin, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("writing request: %w", err)
		}
	}
	answer, err := a.ask(method, path, body)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("reading answer: %w", err)
	}
	return nil
}

// remote asks a Caddy that runs.
type remote struct{ address string }

func (r remote) ask(method, path string, body []byte) ([]byte, error) {
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	response, err := caddycmd.AdminAPIRequest(r.address, method, path, nil, reader)
	if err != nil {
		if _, answer, ok := strings.Cut(err.Error(), ": {"); ok {
			return nil, refusal([]byte("{" + answer))
		}
		return nil, fmt.Errorf("asking Caddy at %s: %w", r.address, err)
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

func (remote) close() {}

// refusal is the error that an answer tells of.
func refusal(answer []byte) error {
	var said struct{ Error string }
	if err := json.Unmarshal(answer, &said); err != nil || said.Error == "" {
		return fmt.Errorf("unexpected answer: %.200s", answer)
	}
	return errors.New(said.Error)
}

// addWhere adds the flags that say whose users and keys are meant.
func addWhere(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	flags.StringP("config", "c", "", "Configuration whose store is used, instead of the default one")
	flags.StringP("adapter", "a", "", "Name of the adapter for --config")
	flags.StringP("address", "", "", "Address of the admin API of a Caddy that runs, which is asked instead")
}

// openAdmin opens what the flags say.
func openAdmin(cmd *cobra.Command) (admin, error) {
	address, _ := cmd.Flags().GetString("address")
	config, _ := cmd.Flags().GetString("config")
	adapter, _ := cmd.Flags().GetString("adapter")
	switch {
	case address != "" && config != "":
		return nil, errors.New("--address and --config exclude each other")
	case address != "":
		return remote{address}, nil
	}
	store := defaultStore
	if config != "" {
		raw, _, _, err := caddycmd.LoadConfig(config, adapter)
		if err != nil {
			return nil, err
		}
		if store, err = storeOf(raw); err != nil {
			return nil, err
		}
	}
	ctx, err := quietContext()
	if err != nil {
		return nil, err
	}
	return openLocal(ctx, store)
}

// withAdmin is a subcommand that asks an admin.
func withAdmin(cmd *cobra.Command, run func(*cobra.Command, admin, []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		a, err := openAdmin(cmd)
		if err != nil {
			return err
		}
		defer a.close()
		return run(cmd, a, args)
	}
	return cmd
}

// recorder keeps what a handler answers.
type recorder struct {
	header http.Header
	status int
	bytes.Buffer
}

// Header is the header of the answer.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader keeps the status.
func (r *recorder) WriteHeader(status int) { r.status = status }
