package routes

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/keyring"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// chooseFormat sets the formats of a route. For a path of several formats, they are those to which
// the headers or the query of the request point.
func (f *Route) chooseFormat(r *http.Request) {
	if f.Format != nil {
		f.KeyFormat = f.Format
		return
	}
	marked := formatByHeader(r)
	f.KeyFormat = cmp.Or(marked, formatByKey(r))
	f.Format = cmp.Or(marked, f.meant, formatByPath(r), f.KeyFormat, formatByPaging(r), formats.Unspecified())
}

// formatByHeader returns the format whose version header the request has, or a header that
// only clients of the format send, nil for none.
func formatByHeader(r *http.Request) *format.Descriptor {
	return formatWhere(func(f *format.Descriptor) bool {
		has := func(header string) bool { return r.Header[header] != nil }
		return f.Version.Header != "" && has(f.Version.Header) || slices.ContainsFunc(f.Client.Marks, has)
	})
}

// formatByPath returns the format whose first endpoint is the path or a prefix of it, nil
// for none.
func formatByPath(r *http.Request) *format.Descriptor {
	return formatWhere(func(f *format.Descriptor) bool {
		return strings.HasPrefix(r.URL.Path, f.Client.Endpoints[0].Path)
	})
}

// formatByKey returns the format whose header of a key a request for the list of models has, or
// else its parameter of a key, nil for none. A monitor that lists models sends nothing else of a
// format. A header beside a bearer token is not the key.
func formatByKey(r *http.Request) *format.Descriptor {
	if !strings.HasPrefix(r.URL.Path, modelsPath) {
		return nil
	}
	isSent := func(value string) bool { return value != "" }
	sends := func(f *format.Descriptor) bool { return slices.ContainsFunc(r.Header[f.Client.KeyHeader], isSent) }
	if f := formatWhere(sends); f != nil && !keyring.HasBearer(r) {
		return f
	}
	return formatByQuery(r, func(f *format.Descriptor, has func(string) bool) bool { return has(f.Client.KeyParameter) })
}

// formatByPaging returns the format whose paging parameters are in the query of a request
// for the list of models, nil for none.
func formatByPaging(r *http.Request) *format.Descriptor {
	return formatByQuery(r, func(f *format.Descriptor, has func(string) bool) bool {
		paging := f.Models.Paging
		return paging != nil && (has(paging.Limit) || has(paging.After) || has(paging.Before))
	})
}

func formatByQuery(r *http.Request, is func(f *format.Descriptor, has func(name string) bool) bool) *format.Descriptor {
	if r.URL.RawQuery == "" || !strings.HasPrefix(r.URL.Path, modelsPath) {
		return nil
	}
	query := r.URL.Query()
	has := func(name string) bool { return name != "" && query.Has(name) }
	return formatWhere(func(f *format.Descriptor) bool { return is(f, has) })
}

// formatWhere returns the first format for which is returns true, nil for none.
func formatWhere(is func(*format.Descriptor) bool) *format.Descriptor {
	i := slices.IndexFunc(formats.All(), is)
	if i < 0 {
		return nil
	}
	return formats.All()[i]
}
