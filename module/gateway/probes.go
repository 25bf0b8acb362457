package gateway

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// The paths of probes, as Kubernetes names its own. They need no key, and their answers are
// made from memory, so that they may be requested at any rate.
const (
	livePath  = "/livez"
	readyPath = "/readyz"
)

// The answers to probes.
const (
	live  = `{"status":"live"}`
	ready = `{"status":"ready"}`
)

// The reasons why the gateway is not ready for new requests.
const (
	shuttingDown = "the gateway is shutting down"
	storeMissing = "the store is not available"
)

// unready returns why the gateway is not ready for new requests, "" if it is: it does not
// shut down, and can decide about every key.
func (h *Handler) unready() string {
	switch {
	case h.drain.Begun():
		return shuttingDown
	case !h.resolved.sources.Complete():
		return storeMissing
	}
	return ""
}

// serveProbe answers a probe. It returns false for other requests. The parameter
// exclude=store leaves out the store.
func (h *Handler) serveProbe(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	status, body := http.StatusOK, live
	switch r.URL.Path {
	case livePath:
	case readyPath:
		body = ready
		if parts := partsOf(degraded(h)); len(parts) > 0 {
			body = `{"status":"ready","degraded":["` + strings.Join(parts, `","`) + `"]}`
		}
		reason := h.unready()
		if reason != "" && !(reason == storeMissing && slices.Contains(r.URL.Query()["exclude"], "store")) {
			status, body = http.StatusServiceUnavailable, `{"status":"not ready","reason":"`+reason+`"}`
		}
	default:
		return false
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if r.Method == http.MethodGet {
		_, _ = w.Write([]byte(body)) // the client may be gone
	}
	return true
}
