package access_test

import (
	"crypto/sha256"
	"net/http"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// door is a kind of endpoint that requires a credential.
type door struct {
	line     string // request line
	body     string
	version  bool // the version header is sent
	messages bool // it answers in the messages family
	apiKey   bool // it reads x-api-key
	either   bool // x-api-key without a bearer token makes it a door of the messages family
}

var doors = []door{
	{"POST /v1/messages", site.BodyFor(site.MessagesPath, "m1", "hi", false), true, true, true, false},
	{"POST /v1/messages", site.BodyFor(site.MessagesPath, "m1", "hi", true), true, true, true, false},
	{"POST /v1/messages/count_tokens", `{"model":"m1","messages":[{"role":"user","content":"hi"}]}`, true, true, true, false},
	{"POST /v1/chat/completions", site.BodyFor(site.ChatPath, "m1", "hi", false), false, false, false, false},
	{"POST /v1/chat/completions", site.BodyFor(site.ChatPath, "m1", "hi", false), true, false, false, false},
	{"POST /v1/completions", site.BodyFor(site.CompletionsPath, "m1", "hi", true), false, false, false, false},
	{"POST /v1/completions", site.BodyFor(site.CompletionsPath, "m1", "hi", false), true, false, false, false},
	{line: "GET /v1/models", either: true},
	{"GET /v1/models", "", true, true, true, false},
	{line: "GET /v1/models?limit=3", messages: true, either: true},
	{line: "HEAD /v1/models", either: true},
	{"HEAD /v1/models", "", true, true, true, false},
	{line: "GET /v1/models/m1", either: true},
	{"GET /v1/models/m1", "", true, true, true, false},
	{"HEAD /v1/models/m1", "", true, true, true, false},
}

// enter sends a request to a door with these headers.
func enter(s *site.Site, d door, headers ...string) site.Reply {
	s.T.Helper()
	lines := append([]string{d.line + " HTTP/1.1", "Content-Type: application/json"}, headers...)
	if d.version {
		lines = append(lines, "Anthropic-Version: 2023-06-01")
	}
	return s.Raw(d.body, lines...)
}

// verdict is the expected result of a credential.
type verdict int

const (
	admitted verdict = iota
	missing
	invalid
	expired
	mistyped
	elsewhere
	undecided
	twoBearers
	twoAPIKeys
)

// answer returns the status and the body for a verdict at the door.
func (d door) answer(v verdict) (status int, body string) {
	var kind, message, code string
	switch v {
	case missing:
		status, kind, message, code = 401, "authentication_error", "no credential: send 'Authorization: Bearer <key>'", "null"
		if d.apiKey {
			message += " or 'x-api-key: <key>'"
		}
	case invalid, expired:
		status, kind, message, code = 401, "authentication_error", "the API key is not valid", `"invalid_api_key"`
	case mistyped:
		status, kind, message, code = 401, "authentication_error", "the API key is not valid: its checksum does not match, so a part of it is missing or mistyped, or another gateway has made it", `"invalid_api_key"`
	case elsewhere:
		status, kind, message, code = 403, "permission_error", "this key may not be used from this address", `"permission_denied"`
	case undecided:
		status, kind, message, code = 503, "overloaded_error", "keys cannot be checked right now", `"keys_unavailable"`
		if d.messages {
			status = 529
		}
	case twoBearers:
		status, kind, message, code = 400, "invalid_request_error", "authorization: must be sent once, with one value", "null"
	case twoAPIKeys:
		status, kind, message, code = 400, "invalid_request_error", "x-api-key: must be sent once, with one value", "null"
	}
	switch {
	case strings.HasPrefix(d.line, http.MethodHead):
		return status, ""
	case d.messages:
		return status, site.InMessages(kind, message)
	case v == undecided:
		return status, site.InChoices("server_error", message, "null", code)
	default:
		return status, site.InChoices("invalid_request_error", message, "null", code)
	}
}

var credentials = []struct {
	name    string
	headers []string
	bearer  verdict // where Authorization alone is read
	both    verdict // where x-api-key is read too
}{
	{"none", nil, missing, missing},
	{"a key", []string{"Authorization: Bearer " + site.AliceKey}, admitted, admitted},
	{"a key that will expire", []string{"Authorization: Bearer " + site.NewKey}, admitted, admitted},
	{"a key that has expired", []string{"Authorization: Bearer " + site.OldKey}, expired, expired},
	{"a disabled key", []string{"Authorization: Bearer " + site.OffKey}, invalid, invalid},
	{"a key of this network", []string{"Authorization: Bearer " + site.NearKey}, admitted, admitted},
	{"a key of another network", []string{"Authorization: Bearer " + site.FarKey}, elsewhere, elsewhere},
	{"a key of another network, said to come from there", []string{"Authorization: Bearer " + site.FarKey, "X-Forwarded-For: 192.0.2.1", "Forwarded: for=192.0.2.1"}, elsewhere, elsewhere},
	{"a known key whose checksum is wrong", []string{"Authorization: Bearer " + site.OddKey}, admitted, admitted},
	{"an unknown key whose checksum is wrong", []string{"Authorization: Bearer " + site.OddKey[:len(site.OddKey)-1] + "B"}, mistyped, mistyped},
	{"an unknown key whose checksum is right", []string{"Authorization: Bearer " + string(aigateway.NewAPIKey())}, invalid, invalid},
	{"a part of a generated key", []string{"Authorization: Bearer " + site.OddKey[:len(site.OddKey)-1]}, invalid, invalid},
	{"an unknown key", []string{"Authorization: Bearer sk-unknown-0123456789"}, invalid, invalid},
	{"a key in other letter case", []string{"Authorization: Bearer " + strings.ToUpper(site.AliceKey)}, invalid, invalid},
	{"a part of a key", []string{"Authorization: Bearer " + site.AliceKey[:20]}, invalid, invalid},
	{"a key and more", []string{"Authorization: Bearer " + site.AliceKey + "0"}, invalid, invalid},
	{"an empty header", []string{"Authorization:"}, missing, missing},
	{"a scheme alone", []string{"Authorization: Bearer"}, missing, missing},
	{"a scheme and spaces", []string{"Authorization: Bearer   "}, missing, missing},
	{"a key alone", []string{"Authorization: " + site.AliceKey}, missing, missing},
	{"another scheme", []string{"Authorization: Basic " + site.AliceKey}, missing, missing},
	{"a scheme that only begins so", []string{"Authorization: BearerX " + site.AliceKey}, missing, missing},
	{"the scheme in odd case", []string{"authorization: bEaReR " + site.AliceKey}, admitted, admitted},
	{"spaces around", []string{"Authorization:   Bearer    " + site.AliceKey + "  "}, admitted, admitted},
	{"a tab behind", []string{"Authorization: Bearer " + site.AliceKey + "\t"}, admitted, admitted},
	{"a tab as the separator", []string{"Authorization: Bearer\t" + site.AliceKey}, missing, missing},
	{"a space within", []string{"Authorization: Bearer sk-alice 0123456789"}, invalid, invalid},
	{"a tab within", []string{"Authorization: Bearer sk-alice\t0123456789"}, invalid, invalid},
	{"letters of elsewhere", []string{"Authorization: Bearer sk-älice-0123456789"}, invalid, invalid},
	{"bytes that are no text", []string{"Authorization: Bearer sk-\xff\xfe0123456789"}, invalid, invalid},
	{"256 bytes", []string{"Authorization: Bearer " + strings.Repeat("k", 256)}, invalid, invalid},
	{"far too long", []string{"Authorization: Bearer " + strings.Repeat("k", 10_000)}, invalid, invalid},
	{"two lines", []string{"Authorization: Bearer " + site.AliceKey, "Authorization: Bearer " + site.BobKey}, twoBearers, twoBearers},
	{"two lines alike", []string{"Authorization: Bearer " + site.AliceKey, "Authorization: Bearer " + site.AliceKey}, twoBearers, twoBearers},
	{"two lines, one empty", []string{"Authorization: Bearer " + site.AliceKey, "Authorization:"}, admitted, admitted},
	{"a list", []string{"Authorization: Bearer " + site.AliceKey + ", Bearer " + site.BobKey}, twoBearers, twoBearers},
	{"a comma behind", []string{"Authorization: Bearer " + site.AliceKey + ","}, twoBearers, twoBearers},
	{"a digest credential", []string{`Authorization: Digest username="a", realm="b"`}, missing, missing},
	{"a digest credential beside a key", []string{`Authorization: Digest username="a", realm="b"`, "Authorization: Bearer " + site.AliceKey}, admitted, admitted},
	{"a basic credential behind a key", []string{"Authorization: Bearer " + site.AliceKey, "Authorization: Basic eDp5"}, admitted, admitted},
	{"a digest credential between two keys", []string{"Authorization: Bearer " + site.AliceKey, "Authorization: Digest a=b", "Authorization: Bearer " + site.AliceKey}, twoBearers, twoBearers},
	{"x-api-key", []string{"x-api-key: " + site.AliceKey}, missing, admitted},
	{"x-api-key in odd case, with spaces", []string{"X-API-KEY:  " + site.AliceKey + " \t"}, missing, admitted},
	{"an empty x-api-key", []string{"x-api-key:"}, missing, missing},
	{"an unknown x-api-key", []string{"x-api-key: sk-unknown-0123456789"}, missing, invalid},
	{"an expired x-api-key", []string{"x-api-key: " + site.OldKey}, missing, expired},
	{"a disabled x-api-key", []string{"x-api-key: " + site.OffKey}, missing, invalid},
	{"an x-api-key of another network", []string{"x-api-key: " + site.FarKey}, missing, elsewhere},
	{"an x-api-key whose checksum is wrong", []string{"x-api-key: " + site.OddKey[:len(site.OddKey)-1] + "B"}, missing, mistyped},
	{"x-api-key with a scheme", []string{"x-api-key: Bearer " + site.AliceKey}, missing, invalid},
	{"a long x-api-key", []string{"x-api-key: " + strings.Repeat("k", 257)}, missing, invalid},
	{"two x-api-key", []string{"x-api-key: " + site.AliceKey, "x-api-key: " + site.AliceKey}, missing, twoAPIKeys},
	{"a list in x-api-key", []string{"x-api-key: " + site.AliceKey + "," + site.BobKey}, missing, twoAPIKeys},
	{"both alike", []string{"x-api-key: " + site.AliceKey, "Authorization: Bearer " + site.AliceKey}, admitted, admitted},
	{"both, Authorization right", []string{"x-api-key: sk-unknown-0123456789", "Authorization: Bearer " + site.AliceKey}, admitted, admitted},
	{"both, Authorization wrong", []string{"x-api-key: " + site.AliceKey, "Authorization: Bearer sk-unknown-0123456789"}, invalid, invalid},
	{"both, Authorization expired", []string{"x-api-key: " + site.AliceKey, "Authorization: Bearer " + site.OldKey}, expired, expired},
	{"both, Authorization disabled", []string{"x-api-key: " + site.AliceKey, "Authorization: Bearer " + site.OffKey}, invalid, invalid},
	{"both, Authorization of another network", []string{"x-api-key: " + site.AliceKey, "Authorization: Bearer " + site.FarKey}, elsewhere, elsewhere},
	{"both, x-api-key of another network", []string{"x-api-key: " + site.FarKey, "Authorization: Bearer " + site.AliceKey}, admitted, admitted},
	{"both, another scheme", []string{"x-api-key: " + site.AliceKey, "Authorization: Basic eDp5"}, missing, admitted},
	{"both, Authorization empty", []string{"x-api-key: " + site.AliceKey, "Authorization:"}, missing, admitted},
	{"both, Authorization a scheme alone", []string{"x-api-key: " + site.AliceKey, "Authorization: Bearer"}, missing, admitted},
	{"both, two x-api-key", []string{"x-api-key: " + site.AliceKey, "x-api-key: x", "Authorization: Bearer " + site.AliceKey}, admitted, admitted},
	{"both, a list in x-api-key", []string{"x-api-key: x,y", "Authorization: Bearer " + site.AliceKey}, admitted, admitted},
	{"both, two Authorization", []string{"x-api-key: " + site.AliceKey, "Authorization: Bearer " + site.AliceKey, "Authorization: Bearer x"}, twoBearers, twoBearers},
	{"both, a digest credential", []string{"x-api-key: " + site.AliceKey, `Authorization: Digest username="a", realm="b"`}, missing, admitted},
	{"other headers for keys", []string{"api-key: " + site.AliceKey, "x-amz-key: " + site.AliceKey, "Proxy-Authorization: Bearer " + site.AliceKey, "Cookie: key=" + site.AliceKey}, missing, missing},
}

// TestG113CredentialsAreJudgedAlikeAtEveryDoor is the matrix of credentials and
// endpoints. The version header on a chat request once made x-api-key count
// there, and a header that decides nothing (a Digest credential, a second
// x-api-key beside a bearer token) once made the request 400. A monitor that listed the
// models with x-api-key alone was once answered that it had sent no credential.
func TestG113CredentialsAreJudgedAlikeAtEveryDoor(t *testing.T) {
	s, p := site.StartLocked(t)
	calls := 0
	for _, c := range credentials {
		t.Run(c.name, func(t *testing.T) {
			for _, d := range doors {
				want := c.bearer
				if d.either && c.bearer == missing && c.both != missing {
					d.messages, d.apiKey = true, true
				}
				if d.apiKey {
					want = c.both
				}
				got := enter(s, d, c.headers...)
				if want == admitted {
					assert.Equal(t, http.StatusOK, got.Status, "%s: %s", d.line, got.Body)
					if d.body != "" {
						calls++
					}
					continue
				}
				status, body := d.answer(want)
				got.AssertOurs(t, status, body, d.line)
				assertRetry(t, want, got)
			}
		})
	}
	assert.GreaterOrEqual(t, len(credentials), 50)
	assert.Equal(t, calls, p.Count(), "nothing that was refused reached the provider")
}

// TestAnAPIKeyHeaderAloneListsModels: the header of one vendor's keys decides the shape of a list,
// and nothing about other paths.
func TestAnAPIKeyHeaderAloneListsModels(t *testing.T) {
	s, p := site.StartLocked(t)
	key := "X-Api-Key: " + site.AliceKey
	for line, has := range map[string]string{
		"GET /v1/models":              `"has_more":false`,
		"GET /v1/models?after_id=m0":  `"has_more":false`,
		"GET /v1/models/m1":           `"type":"model"`,
		"GET /v1/models/m9":           `{"type":"error","error":{"type":"not_found_error"`,
		"POST /v1/models":             `{"type":"error","error":{"type":"invalid_request_error","message":"method: must be GET"`,
		"POST /v1/messages":           "anthropic-version",
		"POST /v1/chat/completions":   "no credential",
		"POST /v1/responses":          "no credential",
		"POST /v1/embeddings":         "no credential",
		"POST /v1/images/generations": "no credential",
	} {
		assert.Contains(t, s.Raw(site.BodyFor(site.MessagesPath, "m1", "hi", false), line+" HTTP/1.1", "Content-Type: application/json", key).Body, has, line)
	}
	assert.Zero(t, p.Count())
}

// assertRetry checks the headers by which a client's library decides whether to repeat a
// request. Claude Code once repeated a request after 401 for three minutes without a
// message. After an expired key, it may repeat the request with a new key of its helper.
func assertRetry(t *testing.T, v verdict, got site.Reply) {
	t.Helper()
	final := got.Status == http.StatusUnauthorized || got.Status == http.StatusForbidden
	var retry, challenge []string
	if final && v != expired {
		retry = []string{"false"}
	}
	if got.Status == http.StatusUnauthorized {
		challenge = []string{`Bearer realm="ai_gateway"`}
	}
	assert.Equal(t, retry, got.Header.Values("X-Should-Retry"))
	assert.Equal(t, challenge, got.Header.Values("WWW-Authenticate"))
}

func TestAQueryIsNoPlaceForAKey(t *testing.T) {
	s, p := site.StartLocked(t)
	for _, query := range []string{"?key=", "?api_key=", "?access_token=", "?x-api-key="} {
		got := s.Raw(doors[0].body, "POST /v1/messages"+query+site.AliceKey+" HTTP/1.1", "Anthropic-Version: 2023-06-01")
		assert.Equal(t, http.StatusUnauthorized, got.Status)
	}
	assert.Zero(t, p.Count())
}

func TestAKeyReachesOnlyItsModels(t *testing.T) {
	s, p := site.StartLocked(t)
	for _, d := range doors {
		if d.body == "" {
			continue
		}
		ask := func(model, key string) site.Reply {
			named := d
			named.body = strings.Replace(d.body, `"m1"`, `"`+model+`"`, 1)
			return enter(s, named, "Authorization: Bearer "+key)
		}
		before := p.Count()
		forbidden := site.InChoices("invalid_request_error", "this key may not use model 'm1'", `"model"`, `"permission_denied"`)
		unknown := site.InChoices("invalid_request_error", "model: 'm9' is not known", `"model"`, `"model_not_found"`)
		if d.messages {
			forbidden = site.InMessages("permission_error", "this key may not use model 'm1'")
			unknown = site.InMessages("not_found_error", "model: 'm9' is not known")
		}
		ask("m1", site.BobKey).AssertOurs(t, http.StatusForbidden, forbidden, d.line)
		ask("m9", site.AliceKey).AssertOurs(t, http.StatusNotFound, unknown, d.line)
		ask("m9", site.BobKey).AssertOurs(t, http.StatusNotFound, unknown, d.line)
		assert.Equal(t, before, p.Count())
		assert.Equal(t, http.StatusOK, ask("allowed-1", site.BobKey).Status)
		assert.Equal(t, before+1, p.Count())
	}
}

// The log tells operators the reason for a 401 or 403.
func TestTheLogHasTheReasonWhyAKnownKeyIsRefused(t *testing.T) {
	s, _ := site.StartLocked(t)
	for key, want := range map[string][2]string{
		site.OldKey: {"old", "it has expired"},
		site.OffKey: {"off", "it is disabled"},
		site.FarKey: {"far", "it may not be used from this address"},
	} {
		id := enter(s, doors[0], "Authorization: Bearer "+key).ID()
		entry, err := s.Logs.WaitEntry(site.Waiting(t), func(e map[string]any) bool { return e["msg"] == "key refused" && e["request_id"] == id })
		if assert.NoError(t, err) {
			assert.Equal(t, want, [2]string{entry["key_id"].(string), entry["reason"].(string)})
		}
	}
	for _, key := range []string{site.OldKey, site.OffKey, site.FarKey} {
		assert.NotContains(t, s.Logs.String(), key)
	}
}

// Behind a proxy that Caddy trusts, the address is that of the client.
func TestNetworksAreThoseOfTheClientBehindATrustedProxy(t *testing.T) {
	t.Setenv("KEY_FAR", site.FarKey)
	config := func(servers string) string {
		return "{\n" + servers + "}\n" + site.Block("", "provider demo {\npace off\n}", "key far {env.KEY_FAR} {\nfrom 192.0.2.0/24 2001:db8::/32\n}")
	}
	s := site.StartCaddyfile(t, config("servers {\ntrusted_proxies static 127.0.0.0/8\n}\n"))
	status := func(forwarded string) int {
		return s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hi", false), "Authorization", "Bearer "+site.FarKey, "X-Forwarded-For", forwarded).Status
	}
	for address, want := range map[string]int{
		"192.0.2.7": 200, "2001:db8::7": 200, "::ffff:192.0.2.7": 200, "192.0.3.7": 403, "10.0.0.1": 403, "nonsense": 403, "": 403,
	} {
		assert.Equal(t, want, status(address), address)
	}
	require.NoError(t, s.Reload(config("")))
	assert.Equal(t, http.StatusForbidden, status("192.0.2.7"), "nobody is trusted")
}

// Behind a proxy that appends to X-Forwarded-For, a client could write the first address of
// the header, and so choose its own address. With trusted_proxies_strict, the last address
// that is not a trusted proxy counts.
func TestAClientCannotChooseItsAddressWithStrictProxies(t *testing.T) {
	t.Setenv("KEY_FAR", site.FarKey)
	s := site.StartCaddyfile(t, "{\nservers {\ntrusted_proxies static 127.0.0.0/8\ntrusted_proxies_strict\n}\n}\n"+
		site.Block("", site.DemoProvider, "key far {env.KEY_FAR} {\nfrom 192.0.2.0/24\n}"))
	for forwarded, want := range map[string]int{"192.0.2.7, 198.51.100.1": http.StatusForbidden, "198.51.100.1, 192.0.2.7": http.StatusOK} {
		got := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hi", false), "Authorization", "Bearer "+site.FarKey, "X-Forwarded-For", forwarded)
		assert.Equal(t, want, got.Status, forwarded)
	}
	s.AssertNoEntry(choosable)
}

const choosable = "clients can choose the address"

func TestProxiesThatAreTrustedTooMuchAreWarnedOf(t *testing.T) {
	t.Setenv("KEY_FAR", site.FarKey)
	const bound, free = "key far {env.KEY_FAR} {\nfrom 192.0.2.0/24\n}", "key far {env.KEY_FAR}"
	for name, c := range map[string]struct {
		servers, key, accounts string
		want                   int
	}{
		"a bound key":                  {"trusted_proxies static private_ranges", bound, "accounts off", 1},
		"accounts":                     {"trusted_proxies static private_ranges", free, "", 1},
		"proxies on a socket":          {"trusted_proxies_unix", bound, "accounts off", 1},
		"nothing depends on it":        {"trusted_proxies static private_ranges", free, "accounts off", 0},
		"strict":                       {"trusted_proxies static private_ranges\ntrusted_proxies_strict", bound, "", 0},
		"a header that is replaced":    {"trusted_proxies static private_ranges\nclient_ip_headers CF-Connecting-IP", bound, "", 0},
		"nobody is trusted":            {"keepalive_interval 15s", bound, "", 0},
		"two sites of the same server": {"trusted_proxies static private_ranges", bound + "\naccounts off\n}\nai_gateway /v1beta/* {\nkey client {env.CLIENT_KEY}\n" + site.DemoProvider, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := site.StartCaddyfile(t, "{\nservers {\n"+c.servers+"\n}\n}\n"+site.Block("", site.DemoProvider, c.key, c.accounts))
			count := 0
			for _, entry := range s.Logs.Entries() {
				if text, _ := entry["msg"].(string); strings.HasPrefix(text, choosable) {
					count++
					assert.Equal(t, "warn", entry["level"])
					assert.Equal(t, "srv0", entry["server"])
					assert.Equal(t, "add trusted_proxies_strict, or let every proxy replace the header", entry["remedy"])
				}
			}
			assert.Equal(t, c.want, count)
		})
	}
}

// doubtful is a key source with one key that does not know whether it has all keys.
type doubtful struct{}

func (doubtful) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "ai_gateway.keys.doubtful", New: func() caddy.Module { return new(doubtful) }}
}

func (doubtful) UnmarshalCaddyfile(*caddyfile.Dispenser) error { return nil }

func (doubtful) Lookup(digest aigateway.Digest) *aigateway.Key {
	if digest != sha256.Sum256([]byte(site.AliceKey)) {
		return nil
	}
	return &aigateway.Key{ID: "alice", Digest: digest}
}

func (doubtful) Complete() bool { return false }

func init() { caddy.RegisterModule(doubtful{}) }

// While a store could not be reached, valid keys were once reported as invalid, after which
// clients discard the key.
func TestAnUnknownKeyIsNotCalledWrongInDoubt(t *testing.T) {
	p := gatewaytest.NewProvider(t)
	s := site.Start(t, site.Direct.Provider("up", p), "keys doubtful")
	for _, d := range doors {
		for _, key := range []string{"sk-unknown-0123456789", site.OddKey, string(aigateway.NewAPIKey())} {
			got := enter(s, d, "Authorization: Bearer "+key)
			status, body := d.answer(undecided)
			got.AssertOurs(t, status, body, d.line)
			assert.Equal(t, "5", got.Header.Get("Retry-After"), d.line)
		}
		for _, key := range []string{site.ClientKey, site.AliceKey} {
			assert.Equal(t, http.StatusOK, enter(s, d, "Authorization: Bearer "+key).Status, d.line)
		}
		status, body := d.answer(missing)
		enter(s, d).AssertOurs(t, status, body, d.line)
	}
}

func TestOwnerAndLimitOfAKeyAreLogged(t *testing.T) {
	site.SetKeys(t)
	s := site.StartCaddyfile(t, site.Block("log\nlog_append owner {http.ai_gateway.key_owner}\nlog_append limit {http.ai_gateway.limit}\nlog_append user {http.auth.user.id}",
		site.DemoProvider, "limit small {\nconcurrent 8\n}", "key alice {env.KEY_ALICE} {\nowner alice@example.com\nlimit small\n}"))
	answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hi", false), "Authorization", "Bearer "+site.AliceKey)
	entry := s.AccessEntry(answer.ID())
	record := entry["ai_gateway"].(map[string]any)
	assert.Equal(t, "alice@example.com", record["key_owner"])
	assert.Equal(t, "small", record["limit"])
	assert.Equal(t, []any{"alice@example.com", "small", "alice"}, []any{entry["owner"], entry["limit"], entry["user"]})
}

func TestAKeyThatHasExpiredIsReportedWhenItIsLoaded(t *testing.T) {
	site.SetKeys(t)
	s := site.Start(t, site.DemoProvider, "key alice {env.KEY_ALICE} {\nexpires 2020-01-01\n}")
	require.NoError(t, s.Logs.Wait(site.Waiting(t), "key has expired"))
}
