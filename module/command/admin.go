package command

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/outbound"
)

// apiPath is the beginning of the paths of the API.
const apiPath = "/api/v1/"

// admin sends requests to the API that Caddy's admin API serves: that of a running Caddy, or the
// same API in this process.
type admin interface {
	// send sends a request with a JSON body, nil for none, and returns the body of
	// the answer. If the request is refused, the error is the message of the answer.
	send(method, path string, body []byte) ([]byte, error)
	close()
}

// call sends a request as the body, nil for none, and decodes the answer into
// target, unless target is nil.
func call(a admin, method, path string, request, target any) error {
	var body []byte
	if request != nil {
		var err error
		if body, err = json.Marshal(request); err != nil {
			return fmt.Errorf("writing request: %w", err)
		}
	}
	answer, err := a.send(method, path, body)
	if err != nil || target == nil {
		return err
	}
	if err := json.Unmarshal(answer, target); err != nil {
		return fmt.Errorf("reading answer: %w", err)
	}
	return nil
}

// remote sends requests to a running Caddy.
type remote struct{ address string }

func (r remote) send(method, path string, body []byte) ([]byte, error) {
	answer, err := r.open(method, path, body)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Close() }()
	return io.ReadAll(answer)
}

// open sends a request, and returns the body of the answer, which the caller closes.
func (r remote) open(method, path string, body []byte) (io.ReadCloser, error) {
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	response, err := outbound.Final(caddycmd.AdminAPIRequest(r.address, method, path, nil, reader))
	if err != nil {
		if _, answer, ok := strings.Cut(err.Error(), ": {"); ok {
			return nil, errorOf([]byte("{" + answer))
		}
		return nil, fmt.Errorf("sending request to the admin API of Caddy at %s: %w; a gateway without a configuration file has no admin API", r.address, err)
	}
	return response.Body, nil
}

func (remote) close() {}

// errorOf returns the message of an error answer as an error.
func errorOf(answer []byte) error {
	var problem struct {
		Detail string
		Error  string // of Caddy, not of the gateway
	}
	if err := json.Unmarshal(answer, &problem); err != nil || problem.Detail+problem.Error == "" {
		return fmt.Errorf("unexpected answer: %.200s", answer)
	}
	return errors.New(cmp.Or(problem.Detail, problem.Error))
}

// addStoreFlags adds the flags that select the store.
func addStoreFlags(cmd *cobra.Command) {
	addFileFlags(cmd)
	cmd.PersistentFlags().StringP("address", "", "", "Address of the admin API of the running Caddy to use")
}

// addFileFlags adds the flags that select the store of a configuration.
func addFileFlags(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	flags.StringP("config", "c", "", "Configuration whose store to use, without the running gateway")
	flags.StringP("adapter", "a", "", "Name of the adapter for --config")
}

// useRunning selects the gateway that runs at the default address of the admin API, unless the
// flags select one, or a configuration. It returns the address that is selected then, "" for none.
// Without it, a command of another account than that of the service would change a store that
// nobody uses.
func useRunning(cmd *cobra.Command) (string, error) {
	address, _ := cmd.Flags().GetString("address")
	path, _ := cmd.Flags().GetString("config")
	switch {
	case address != "" && path != "":
		return "", errors.New("--address and --config cannot be used together")
	case address != "" || path != "":
		return address, nil
	}
	if !isRunning() {
		cmd.PrintErrf("No gateway answers at %s. ", caddy.DefaultAdminListen)
		return "", nil
	}
	cmd.PrintErrf("Using the gateway that runs at %s.\n", caddy.DefaultAdminListen)
	return caddy.DefaultAdminListen, cmd.Flags().Set("address", caddy.DefaultAdminListen)
}

// isRunning reports whether a gateway answers at the default address of the admin API.
func isRunning() bool {
	_, err := remote{caddy.DefaultAdminListen}.send(http.MethodGet, statusPath, nil)
	return err == nil
}

// printStore names the store that a command uses without a running gateway.
func printStore(cmd *cobra.Command, store any) {
	if named, ok := store.(aigateway.StoreIdentity); ok {
		cmd.PrintErrf("Using the store %s.\n", named.Identity())
	}
}

// openAdmin opens the store or the admin API that the flags select.
func openAdmin(cmd *cobra.Command) (admin, error) {
	address, err := useRunning(cmd)
	if err != nil || address != "" {
		return remote{address}, err
	}
	store, config, err := selectedStore(cmd)
	if err != nil {
		return nil, err
	}
	ctx, err := newContext()
	if err != nil {
		return nil, err
	}
	a, err := openLocal(ctx, store, config)
	if err == nil {
		printStore(cmd, a.store)
	}
	return a, err
}

// withAdmin sets the function that runs when the command is called. The function gets
// the admin that the flags select.
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

// recorder is an http.ResponseWriter that stores the answer in memory.
type recorder struct {
	header http.Header
	status int
	bytes.Buffer
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) { r.status = status }
