package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/state"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/problem"
)

func init() {
	caddy.RegisterModule(adminAPI{})
}

// adminAPI serves the paths of the gateway in Caddy's admin API. The administrator of the
// machine manages users and keys there.
type adminAPI struct{}

// CaddyModule returns the Caddy module information.
func (adminAPI) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "admin.api.ai_gateway",
		New: func() caddy.Module { return new(adminAPI) },
	}
}

// adminPath is the beginning of all paths of the gateway in the admin API. They are those of the API
// of accounts, which root uses here without a login.
const adminPath = "/api/v1/"

// Routes returns one route, which covers all paths below adminPath.
func (adminAPI) Routes() []caddy.AdminRoute {
	return []caddy.AdminRoute{{Pattern: adminPath, Handler: caddy.AdminHandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		if err := serveAdmin(w, r); err != nil {
			writeProblem(w, err)
		}
		return nil
	})}}
}

// writeProblem writes why a request failed. The client is root, who may see the cause.
func writeProblem(w http.ResponseWriter, err error) {
	refused := caddy.APIError{HTTPStatus: http.StatusInternalServerError, Err: err}
	if !errors.As(err, &refused) {
		caddy.Log().Named("admin.api.ai_gateway").Error("answering a request", zap.Error(err))
	}
	problem.Write(w, refused.HTTPStatus, refused.Err.Error())
}

var (
	errNoAccounts   = errors.New("accounts are off, or no site has an ai_gateway")
	errManyAccounts = errors.New("several sites have users of their own: set store and accounts in the global option ai_gateway")
)

// serveAdmin answers a request from the running configuration. Requests for other paths
// than its own go to the accounts.
func serveAdmin(w http.ResponseWriter, r *http.Request) error {
	app, err := caddy.ActiveContext().AppIfConfigured("ai_gateway")
	if err != nil { // no site and no global option has an ai_gateway
		return caddy.APIError{HTTPStatus: http.StatusNotFound, Err: errNoAccounts}
	}
	if own := operationAt(r.URL.Path); own.serve != nil {
		if !slices.Contains(own.methods, r.Method) {
			names := strings.Join(own.methods, ", ")
			w.Header().Set("Allow", names)
			return caddy.APIError{HTTPStatus: http.StatusMethodNotAllowed, Err: errors.New("this path accepts " + names)}
		}
		return own.serve(app.(*App).app, w, r)
	}
	sets := app.(*App).app.managed()
	if len(sets) != 1 {
		return notOne(sets)
	}
	sets[0].Accounts.Admin().ServeHTTP(w, r)
	return nil
}

// operation is an operation that the gateway itself serves, for all sites.
type operation struct {
	methods []string
	serve   func(*app, http.ResponseWriter, *http.Request) error
}

var (
	reads  = []string{http.MethodGet, http.MethodHead}
	writes = []string{http.MethodPost}
)

// operationAt returns the operation at a path, a zero one for other paths.
func operationAt(path string) operation {
	switch path {
	case repricePath:
		return operation{writes, (*app).serveReprice}
	case limitsPath:
		return operation{reads, (*app).serveLimits}
	case cachePath:
		return operation{[]string{http.MethodDelete}, clearAllAnswers}
	case mcpPath:
		return shows(state.Sites.MCPServers)
	case acceptPath:
		return operation{writes, acceptTools}
	case backupPath:
		return operation{writes, (*app).serveBackup}
	case adminPath + "status":
		return shows(state.Sites.Status)
	case adminPath + "targets":
		return shows(state.Sites.Targets)
	case adminPath + "configuration/caddyfile":
		return shows(state.Sites.Caddyfile)
	case adminPath + "explain":
		return operation{slices.Concat(reads, writes), serveExplain}
	}
	return operation{}
}

// shows returns the operation that shows a part of the state of all sites.
func shows(part func(state.Sites, url.Values) (any, error)) operation {
	return operation{reads, func(a *app, w http.ResponseWriter, r *http.Request) error {
		shown, err := part(a.stateOf(nil), r.URL.Query())
		if err != nil {
			return err
		}
		return writeAdmin(w, shown)
	}}
}

// largestExample is the largest size of the example of a request that is explained, in bytes.
const largestExample = 32 << 20

// serveExplain explains the requests for a model. The body of a POST request is an example of them.
func serveExplain(a *app, w http.ResponseWriter, r *http.Request) error {
	var example []byte
	if r.Method == http.MethodPost {
		var err error
		if example, err = io.ReadAll(http.MaxBytesReader(w, r.Body, largestExample)); err != nil {
			return caddy.APIError{HTTPStatus: http.StatusBadRequest, Err: fmt.Errorf("reading the example: %w", err)}
		}
	}
	explained, err := a.stateOf(nil).Explain(r.URL.Query(), example)
	if err != nil {
		return err
	}
	return writeAdmin(w, explained)
}

// notOne returns the error for a request that needs one set of backends.
func notOne(sets []*backends.Set) error {
	if len(sets) == 0 {
		return caddy.APIError{HTTPStatus: http.StatusNotFound, Err: errNoAccounts}
	}
	return caddy.APIError{HTTPStatus: http.StatusConflict, Err: errManyAccounts}
}

// managed returns the backends that have accounts. If a site uses those of the global option,
// managed returns only these.
func (a *app) managed() []*backends.Set {
	var managed []*backends.Set
	for _, set := range a.serving {
		switch {
		case set.Accounts == nil:
		case set == a.backends:
			return []*backends.Set{set}
		default:
			managed = append(managed, set)
		}
	}
	return managed
}

func writeAdmin(w http.ResponseWriter, answer any) error {
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(answer)
}

// limitsPath is the path of the admin API that shows the use of limits.
const limitsPath = adminPath + "limits"

// largestStates is the largest number of states from which a page ends.
const largestStates = 500

// serveLimits answers with a page of the states of the limits of all sites. The query may
// have a user ("user"), the ID of a key ("key"), and the name of a limit ("name"); "customer" adds
// the limits of a customer to those of a key.
func (a *app) serveLimits(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	page, err := state.ReadPage(query, largestStates)
	if err != nil {
		return err
	}
	read, err := a.limitReader(nil).Limits(r.Context(), aigateway.LimitQuery{
		Customer: query.Get("customer"), User: query.Get("user"), Key: query.Get("key"), Limit: query.Get("name"), After: page.Previous, Most: page.Size,
	})
	if errors.Is(err, aigateway.ErrUnavailable) {
		return caddy.APIError{HTTPStatus: http.StatusServiceUnavailable, Err: err}
	}
	if err != nil {
		return err
	}
	list := api.List(read.States)
	list.Next = read.Next
	return writeAdmin(w, list)
}

// limitReader returns a reader of the limits of the sites with a set of backends; nil for all sites.
func (a *app) limitReader(set *backends.Set) limits.Reader {
	return limits.Reader{
		Sites: func() (sites []limits.Site) {
			for _, site := range a.sites {
				if set == nil || set == site.backends {
					sites = append(sites, limits.Site{Limits: site.resolved.limits, Keys: site.resolved.sources.Known(), ByID: site.resolved.sources.ByID})
				}
			}
			return sites
		},
		Names: func() []string {
			names := a.resolved.limits.Names()
			for _, site := range a.sites {
				names = append(names, site.resolved.limits.Names()...)
			}
			return names
		},
		Tags: func() []string {
			names := slices.Clone(a.config.Names.Tags)
			for _, site := range a.sites {
				names = append(names, site.config.Names.Tags...)
			}
			return names
		},
	}
}

// Interface guards
var _ caddy.AdminRouter = adminAPI{}
