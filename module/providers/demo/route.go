package demo

import (
	"net/http"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// route is the endpoint of a request.
type route struct {
	family  *wire.Family
	methods []string
	refuse  *reply.Refusal // the answer to every request; nil for none
	serve   func(*exchange)
}

// routeOf finds the endpoint of a request.
func routeOf(r *http.Request) route {
	for _, f := range formats {
		for _, e := range f.Endpoints {
			if e.Matches(r.URL.EscapedPath()) {
				return formatRoute(f, e)
			}
		}
	}
	return sharedRoute(r)
}

func formatRoute(f *wire.Format, e wire.Endpoint) route {
	at := route{family: f.Family, methods: e.Methods, refuse: e.Refuse}
	switch {
	case e.Generate != nil:
		at.serve = func(x *exchange) { x.generate(f.Name, e.Generate) }
	case e.Compute != nil:
		at.serve = func(x *exchange) { x.compute(e.Compute) }
	}
	return at
}

const modelPath = "/v1/models/"

// sharedRoute finds an endpoint that the families have in common.
func sharedRoute(r *http.Request) route {
	get := []string{http.MethodGet}
	switch path := r.URL.Path; {
	case path == "/v1/models":
		return route{family: familyOf(r), methods: get, serve: (*exchange).listModels}
	case strings.HasPrefix(path, modelPath):
		return route{family: familyOf(r), methods: get, serve: (*exchange).showModel}
	default:
		return route{family: familyOf(r), methods: []string{r.Method}, refuse: &reply.Refusal{
			Status: http.StatusNotFound, Message: "no such endpoint", Code: "not_found",
		}}
	}
}

// familyOf returns the family whose version header the request has, else the default. Clients
// of a family with a version header always send it.
func familyOf(r *http.Request) *wire.Family {
	for _, f := range formats {
		if name := f.Family.VersionHeader; name != "" && r.Header.Get(name) != "" {
			return f.Family
		}
	}
	return defaultFamily
}

// generate answers a request to the model.
func (x *exchange) generate(format string, read func(*wire.Body) (*reply.Request, wire.Writer)) {
	body := x.parse()
	request, writer := read(body)
	if refused := x.check(body, request); refused != nil {
		x.refuse(refused)
		return
	}
	if x.misbehave(&request.Faults) {
		return
	}
	request.Format = format
	answer := reply.Compose(request, x.seed)
	if request.Stream && !request.Faults.Has(reply.JSON) {
		x.stream(answer, writer)
		return
	}
	x.whole(answer, writer)
}

func (x *exchange) parse() *wire.Body {
	body := wire.NewBody(x.body, x.route.family, x.engine.strict)
	body.Path = x.r.URL.EscapedPath()
	return body
}

func (x *exchange) check(body *wire.Body, request *reply.Request) *reply.Refusal {
	if refused := body.Refused(); refused != nil {
		return refused
	}
	if refused := request.Prepare(); refused != nil {
		return refused
	}
	if !x.engine.knows(request.Model) {
		return reply.UnknownModel(request.Model)
	}
	return nil
}

// compute answers a request that needs no model.
func (x *exchange) compute(answer func(*wire.Body, reply.Seed) any) {
	body := x.parse()
	v := answer(body, x.seed)
	if refused := body.Refused(); refused != nil {
		x.refuse(refused)
		return
	}
	x.writeJSON(http.StatusOK, v)
}

func (x *exchange) listModels() { x.writeJSON(http.StatusOK, x.route.family.Models(x.engine.names())) }

func (x *exchange) showModel() {
	name := strings.TrimPrefix(x.r.URL.Path, modelPath)
	if !slices.Contains(x.engine.names(), name) {
		x.refuse(reply.UnknownModel(name))
		return
	}
	x.writeJSON(http.StatusOK, x.route.family.Model(name))
}
