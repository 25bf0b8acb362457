package formats_test

import (
	"net/http"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// optional are the fields of descriptors whose zero value has a meaning, which
// the comment of the field states.
var optional = []string{
	"Client.Versions", "Client.KeyParameter", "Client.Marks", "Requests.Resigned", "Requests.ModelName", "Provider.Delivery", "Requests.ModelNames", "Embeddings", "Embeddings.Request", "Embeddings.Answer",
	"Client.Refusals", "Client.KeyHeader", "Client.Query", "Client.Headers", "Client.Quotas.Budget", "Client.Quotas.Claims",
	"Provider.ModelInPath", "Provider.OneAnswer", "Provider.Wants", "Provider.Sign", "Provider.MissingFor",
	"Version", "Version.Header", "Version.Check", "Version.Sent",
	"Requests.Prefix.Rules", "Requests.Prefix.Turns", "Requests.Prefix.Role", "Requests.Prefix.Text", "Requests.FillIn", "Requests.SelfSigned", "Requests.Encrypted",
	"Requests.Attribution", "Requests.Attribution.Path", "Requests.Attribution.Find", "Answers.NewOpening", "Answers.TokenCount", "Answers.Usage", "Answers.Usage.Ask", "Answers.Usage.Cut", "Answers.Usage.Fill",
	"Objects", "Objects.Paths", "Objects.EditIDs", "Objects.OnRequest", "Objects.Ended", "Objects.ReadResult", "Objects.Headers", "Objects.ByMembers", "Answers.Native", "Answers.NoLastEvent", "Answers.Tiers", "Errors.Aborts", "Models.Paging",
}

// A field that was added to Descriptor and forgotten in a format would be found by
// the first client that needs it.
func TestDescriptorsAreComplete(t *testing.T) {
	for _, d := range formats.All() {
		requireFields(t, d.String(), "", reflect.ValueOf(d).Elem())
	}
}

func requireFields(t *testing.T, format, parent string, v reflect.Value) {
	t.Helper()
	for i := range v.NumField() {
		name := parent + v.Type().Field(i).Name
		if !slices.Contains(optional, name) {
			assert.False(t, v.Field(i).IsZero(), "%s: %s", format, name)
		}
		if v.Field(i).Kind() == reflect.Struct {
			requireFields(t, format, name+".", v.Field(i))
		}
	}
}

func TestFieldsThatBelongTogetherAreThereTogether(t *testing.T) {
	for _, d := range formats.All() {
		assert.Equal(t, d.Embeddings.Request == nil, d.Embeddings.Answer == nil, "%s: Embeddings", d)
		assert.Equal(t, d.Objects.Paths != nil, d.Objects.EditIDs != nil, "%s: objects and the edits of their ids", d)
		assert.Equal(t, d.Version.Header == "", d.Version.Check == nil, "%s: Version", d)
		assert.Equal(t, d.Version.Header == "", d.Version.Sent == nil, "%s: Version", d)
		assert.Equal(t, d.Client.Quotas.Budget == nil, d.Client.Quotas.Claims == nil, "%s: Quotas", d)
		assert.Equal(t, d.Answers.Usage.Ask == nil, d.Answers.Usage.Cut == nil, "%s: Usage", d)
		assert.Equal(t, d.Requests.Attribution.Path == "", d.Requests.Attribution.Find == nil, "%s: Attribution", d)
		assert.Equal(t, d.Name, d.Requests.Target.Format, "%s: Target", d)
	}
}

// A name of a model with a slash cost each call of the formats that have none in a path the making
// and the check of the path.
func TestModelInPathNamesTheFormatsWithAModelInTheirPaths(t *testing.T) {
	for _, d := range formats.All() {
		inPath := false
		for _, o := range []translate.Operation{translate.Generate, translate.CountTokens} {
			one, _ := d.Provider.Call(format.Call{Operation: o, Model: "one"})
			other, _ := d.Provider.Call(format.Call{Operation: o, Model: "other"})
			inPath = inPath || one != other
		}
		assert.Equal(t, inPath, d.Provider.ModelInPath, d)
	}
}

func TestWhatIsNoObjectIsRefused(t *testing.T) {
	for _, d := range formats.All() {
		for body, want := range map[string][2]string{
			"":    {"request body: empty, must be a JSON object", "invalid_json"},
			" ":   {"request body: empty, must be a JSON object", "invalid_json"},
			"[]":  {"request body: must be a JSON object", "invalid_value"},
			`"m"`: {"request body: must be a JSON object", "invalid_value"},
		} {
			_, fault := d.Requests.Inspect([]byte(body), translate.Generate)
			require.NotNil(t, fault, d)
			assert.Equal(t, want, [2]string{fault.Message, fault.Code}, d)
			assert.Empty(t, fault.Param, d)
		}
	}
}

func TestFormatsAreFoundByName(t *testing.T) {
	seen := make(map[translate.Format]bool)
	for _, d := range formats.All() {
		assert.Same(t, d, formats.Of(d.Name))
		assert.False(t, seen[d.Name], "%s is registered twice", d)
		seen[d.Name] = true
	}
	for _, d := range formats.OfProviders() {
		assert.Same(t, d, formats.Of(d.Name))
		assert.Equal(t, seen[d.Name], len(d.Client.Endpoints) > 0, "%s: a format of All has clients", d)
	}
	assert.Nil(t, formats.Of("other"))
	assert.Contains(t, formats.All(), formats.Unspecified())
}

// Two formats with the same endpoint would leave it to chance which of them
// answers.
func TestEndpointsBelongToOneFormat(t *testing.T) {
	owners := make(map[format.Endpoint]*format.Descriptor)
	for _, d := range formats.All() {
		for _, e := range d.Client.Endpoints {
			if e.Method == http.MethodPost {
				found, operation := formats.OfEndpoint(e.Path)
				assert.Same(t, d, found, e.Path)
				assert.Equal(t, e.Operation, operation, e.Path)
			}
			e.Operation = 0
			assert.Nil(t, owners[e], "%s %s", e.Method, e.Path)
			owners[e] = d
		}
	}
}

func TestAddressesOfCallsHaveTheVersionOnce(t *testing.T) {
	for _, test := range []struct{ base, messages, count, chat, completions string }{
		{"", "/v1/messages", "/v1/messages/count_tokens", "/v1/chat/completions", "/v1/completions"},
		{"/v1", "/v1/messages", "/v1/messages/count_tokens", "/v1/chat/completions", "/v1/completions"},
		{"/api/v1", "/api/v1/messages", "/api/v1/messages/count_tokens", "/api/v1/chat/completions", "/api/v1/completions"},
		{"/api", "/api/v1/messages", "/api/v1/messages/count_tokens", "/api/chat/completions", "/api/completions"},
		{"/openai/v2", "/openai/v2/v1/messages", "/openai/v2/v1/messages/count_tokens", "/openai/v2/chat/completions", "/openai/v2/completions"},
	} {
		path := func(name translate.Format, op translate.Operation) string {
			path, query := formats.Of(name).Provider.Call(format.Call{Base: test.base, Model: "m", Operation: op, Stream: true})
			assert.Empty(t, query)
			return path
		}
		assert.Equal(t, test.messages, path(translate.Messages, translate.Generate), test.base)
		assert.Equal(t, test.count, path(translate.Messages, translate.CountTokens), test.base)
		assert.Equal(t, test.chat, path(translate.Chat, translate.Generate), test.base)
		assert.Equal(t, test.completions, path(translate.Completions, translate.Generate), test.base)
	}
}
