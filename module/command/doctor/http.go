package doctor

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/outbound"
)

// maxBody is the largest number of bytes that are read from an answer.
const maxBody = 4 << 20

// requestTimeout bounds a request with its answer.
const requestTimeout = 2 * time.Minute

// client uses a new connection for each request, because a reload of the gateway may close an
// idle one.
var client = outbound.Client(requestTimeout, &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true})

// reply is an answer of the gateway.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// message returns the message of an error answer, "" for other answers.
func (r reply) message() string { return errorIn(r.body) }

// refusal returns the status and the message of an error answer, or the text of the status if
// there is no message.
func (r reply) refusal() string {
	return fmt.Sprintf("%d: %s", r.status, cmp.Or(r.message(), http.StatusText(r.status)))
}

// errorIn returns the message and the code of the error in a body, "" if it has none.
func errorIn(body []byte) string {
	var e struct {
		Error *struct {
			Message string
			Code    any
		}
	}
	if json.Unmarshal(body, &e) != nil || e.Error == nil {
		return ""
	}
	if code, ok := e.Error.Code.(string); ok {
		return fmt.Sprintf("%s (%s)", e.Error.Message, code)
	}
	return e.Error.Message
}

// post sends a request with a JSON body.
func (g Gateway) post(ctx context.Context, path string, body any) (reply, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return reply{}, fmt.Errorf("writing request: %w", err)
	}
	return g.send(ctx, http.MethodPost, path, raw)
}

// send sends a request with further headers, as pairs of a name and a value.
func (g Gateway) send(ctx context.Context, method, path string, body []byte, headers ...[2]string) (reply, error) {
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(g.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return reply{}, fmt.Errorf("creating request: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+g.Key)
	request.Header.Set("Content-Type", "application/json")
	if strings.HasPrefix(path, messages.path) {
		request.Header.Set("Anthropic-Version", "2023-06-01")
	}
	for _, h := range headers {
		request.Header.Set(h[0], h[1])
	}
	response, err := client.Do(request)
	if err != nil {
		return reply{}, fmt.Errorf("calling the gateway: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil {
		return reply{}, fmt.Errorf("reading answer: %w", err)
	}
	return reply{response.StatusCode, response.Header, raw}, nil
}

// Model is a model as the gateway lists it, or a server of the Model Context Protocol, whose name begins with
// "mcp/".
type Model struct {
	Name  string
	Lanes map[string]string // by the format of the client: "bytes" or "translated"
}

// Models returns the named models and servers, or without names, all listed ones that the key may
// use. A name need not be in the list of the gateway, because a pattern may match it.
func (g Gateway) Models(ctx context.Context, names []string) ([]Model, error) {
	got, err := g.send(ctx, http.MethodGet, "/v1/capabilities", nil)
	if err != nil {
		return nil, err
	}
	if got.status != http.StatusOK {
		return nil, fmt.Errorf("listing models: %s", got.refusal())
	}
	var list struct {
		Data []struct {
			Model   string
			Formats map[string]struct{ Lane string }
		}
		Servers []string `json:"mcp_servers"`
	}
	if err := json.Unmarshal(got.body, &list); err != nil {
		return nil, errors.New("listing models: the answer does not come from an AI gateway")
	}
	lanes := make(map[string]map[string]string)
	var listed []string
	for _, m := range list.Data {
		lanes[m.Model] = make(map[string]string)
		for format, f := range m.Formats {
			lanes[m.Model][format] = f.Lane
		}
		listed = append(listed, m.Model)
	}
	for _, server := range list.Servers {
		listed = append(listed, serverPrefix+server)
	}
	if len(names) == 0 {
		names = listed
	}
	models := make([]Model, len(names))
	for i, name := range names {
		models[i] = Model{name, lanes[name]}
	}
	return models, nil
}
