package lifecycle_test

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters/counterstest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"

	// The Caddyfile of Kubernetes uses its directive.
	_ "github.com/caddyserver/caddy/v2/modules/metrics"
)

// onMachine is what scripts of pages find on a machine: the program caddy, sudo, apt, which
// restarts a running gateway as the package does, and systemctl, which does not wait for
// zombies, as processes are that have ended where nobody waits for them.
const onMachine = `set -euo pipefail
caddy() { "$PROGRAM" "$@"; }
sudo() { [[ $1 != -u ]] || shift 2; "$@"; }
apt() { [[ ! -e pid ]] || systemctl restart; }
systemctl() {
	case $1 in stop | restart)
		kill -TERM "$(cat pid)"
		while ps -o stat= -p "$(cat pid)" | grep -qv Z; do sleep 0.05; done
		rm pid
	esac
	case $1 in start | enable | restart)
		"$PROGRAM" run --config etc/Caddyfile >>log 2>&1 &
		echo $! >pid
	esac
}
`

// machine is a folder in the place of a machine: it has /etc/caddy as etc.
type machine struct {
	dir, address, admin string
	env                 []string
	replaced            *strings.Replacer // of texts in scripts and Caddyfiles
}

// newMachine returns a machine on which the gateway listens at an address of its own. Texts
// are replaced in its scripts and Caddyfiles, in pairs.
func newMachine(t *testing.T, env []string, texts ...string) *machine {
	t.Helper()
	port := func() string { return "127.0.0.1:" + strconv.Itoa(gatewaytest.FreePort(t)) }
	m := &machine{dir: t.TempDir(), address: port(), admin: port()}
	m.replaced = strings.NewReplacer(append(texts,
		"/etc/caddy", "etc", "localhost:8080", m.address, "http://:8080", "http://"+m.address, "localhost:2019", m.admin,
		"http://:9180", "http://"+port(), "/run/credentials/caddy.service/secrets_", m.dir+"/etc/secrets/", "/run/secrets/gateway", m.dir+"/etc/secrets",
	)...)
	m.env = append(append(os.Environ(), env...), "PROGRAM="+os.Args[0], "HOME="+m.dir, "XDG_DATA_HOME="+m.dir, "XDG_CONFIG_HOME="+m.dir, "CADDY_ADMIN="+m.admin)
	require.NoError(t, os.MkdirAll(filepath.Join(m.dir, "etc/secrets"), 0o700))
	t.Cleanup(func() {
		if text, err := os.ReadFile(filepath.Join(m.dir, "pid")); err == nil {
			pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return m
}

// configure writes the Caddyfile.
func (m *machine) configure(t *testing.T, caddyfile string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(m.dir, "etc/Caddyfile"), []byte(m.replaced.Replace(caddyfile)), 0o600))
}

// run runs a script, and returns its output.
func (m *machine) run(t *testing.T, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), site.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", onMachine+m.replaced.Replace(script))
	cmd.Dir, cmd.Env = m.dir, m.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(m.dir, "log"))
		require.NoError(t, err, "%s\n%s\n%s", script, out, log)
	}
	return string(out)
}

// status returns the status of a request for a path, 0 without an answer.
func (m *machine) status(path, key string) int {
	request, err := http.NewRequest(http.MethodGet, "http://"+m.address+path, nil)
	if err != nil {
		return 0
	}
	request.Header.Set("Authorization", "Bearer "+key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	_ = response.Body.Close() // the status is known
	return response.StatusCode
}

// knows waits until a key has a status on a machine.
func (m *machine) knows(t *testing.T, key string, status int) {
	t.Helper()
	assert.Eventually(t, func() bool { return m.status("/v1/models", key) == status }, site.Patience, site.PollEvery)
}

// stream starts a request whose answer takes some seconds, and returns once it has begun. The
// function that it returns waits for the whole answer.
func (m *machine) stream(t *testing.T, key string) (whole func() string) {
	t.Helper()
	body := `{"model":"demo","stream":true,"messages":[{"role":"user","content":"[[words:150]]"}]}`
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+m.address+site.ChatPath, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+key)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode)
	return func() string { return site.ReadReply(response).Body }
}

var newKey = regexp.MustCompile(`sk-\w{20,}`)

// sharedServers starts PostgreSQL and Redis, and returns false where one is not installed.
func sharedServers(t *testing.T) (cluster *storetest.Cluster, redis *counterstest.RedisServer, ok bool) {
	t.Helper()
	cluster, hasPostgres := storetest.Postgres(t)
	redis, hasRedis := counterstest.StartRedis(t)
	return cluster, redis, hasPostgres && hasRedis
}

// page returns the Caddyfile of a page, and the commands below each of its headings.
func page(t *testing.T, path string) (caddyfile string, scripts map[string][]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	scripts = make(map[string][]string)
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		title, _, _ := strings.Cut(section, "\n")
		for _, m := range regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllStringSubmatch(section, -1) {
			if m[1] == "" {
				caddyfile = m[2]
			} else {
				scripts[title] = append(scripts[title], m[2])
			}
		}
	}
	return caddyfile, scripts
}

// The page from nothing to two gateways works when its commands are typed, one after the
// other, and an upgrade cuts no answer.
func TestThePageOfTheSetupWorks(t *testing.T) {
	cluster, redis, ok := sharedServers(t)
	if !ok {
		return
	}
	t.Parallel()
	caddyfile, scripts := page(t, "../../../caddyfile/docs/setup.md")
	env := append(cluster.Environment(), "POSTGRES_DSN="+cluster.DSN("gateway", "gateway"), "SEAL_KEY="+strings.Repeat("0123456789abcdef", 4), "ANTHROPIC_API_KEY=sk-upstream-0123456789abcdef")
	machines := make([]*machine, 2)
	for i := range machines {
		machines[i] = newMachine(t, env, "shutdown_delay 5s", "shutdown_delay 500ms", "redis.internal:6379", redis.Address, "provider anthropic {file./run/credentials/caddy.service/secrets_anthropic}", "provider demo {\npace 20ms\nprice * input 1 output 1\n}")
		machines[i].configure(t, caddyfile)
	}
	one, two := machines[0], machines[1]
	each := func(script string) {
		for _, m := range machines {
			m.run(t, script)
		}
	}

	for _, script := range scripts["The database"] {
		one.run(t, script)
	}
	for _, script := range scripts["Each machine"] {
		each(script)
	}
	users := scripts["Users"]
	require.Len(t, users, 2)
	key := newKey.FindString(one.run(t, users[0]))
	require.NotEmpty(t, key)
	two.knows(t, key, http.StatusOK)
	each(strings.Replace(users[1], "sk-...", key, 1))

	require.Len(t, scripts["Backup"], 1)
	one.run(t, scripts["Backup"][0])
	late := newKey.FindString(two.run(t, "caddy ai-gateway key new --user ada --name late --address localhost:2019"))

	for _, m := range machines {
		whole := m.stream(t, key)
		m.run(t, scripts["Upgrade"][0])
		assert.Contains(t, whole(), "data: [DONE]", "the old program ends after its answers")
		m.knows(t, key, http.StatusOK)
	}

	restore := scripts["Restore"]
	require.Len(t, restore, 3)
	each(restore[0])
	one.run(t, restore[1])
	each(restore[2])
	for _, m := range machines {
		m.knows(t, key, http.StatusOK)
		m.knows(t, late, http.StatusUnauthorized)
	}
}

// Two replicas of the manifests for Kubernetes are one gateway: keys, and logins, are those of
// both, and a replica that ends is out of the service before it refuses anything.
func TestTheReplicasOfKubernetesAreOneGateway(t *testing.T) {
	cluster, redis, ok := sharedServers(t)
	if !ok {
		return
	}
	t.Parallel()
	text, err := os.ReadFile("../../../caddyfile/deploy/kubernetes/Caddyfile")
	require.NoError(t, err)
	database := cluster.NewDatabase(t)
	replicas := make([]*machine, 2)
	for i := range replicas {
		r := newMachine(t, nil, "redis.ai-gateway.svc:6379", redis.Address, "provider anthropic {file./run/secrets/gateway/anthropic}", "provider demo {\npace 20ms\n}")
		for name, value := range map[string]string{"postgres-dsn": database, "seal-key": strings.Repeat("0123456789abcdef", 4)} {
			require.NoError(t, os.WriteFile(filepath.Join(r.dir, "etc/secrets", name), []byte(value), 0o600))
		}
		r.configure(t, string(text))
		r.run(t, "systemctl start\ncurl -fsS --retry 60 --retry-delay 1 --retry-connrefused http://localhost:8080/readyz")
		replicas[i] = r
	}
	first, second := replicas[0], replicas[1]
	first.run(t, "caddy ai-gateway user add ada --address localhost:2019")
	key := newKey.FindString(first.run(t, "caddy ai-gateway key new --user ada --name laptop --address localhost:2019"))
	second.knows(t, key, http.StatusOK)

	whole := first.stream(t, key)
	first.run(t, `kill -TERM "$(cat pid)"`)
	assert.Eventually(t, func() bool { return first.status("/readyz", "") == http.StatusServiceUnavailable }, site.Patience, site.PollEvery)
	assert.Equal(t, http.StatusOK, first.status("/livez", ""), "Kubernetes would end it at once")
	assert.Equal(t, http.StatusOK, first.status("/v1/models", key), "requests that still arrive are served")
	assert.Equal(t, http.StatusOK, second.status("/readyz", ""))
	assert.Contains(t, whole(), "data: [DONE]")
}

// The gateway of compose.yaml serves with its databases, and the commands of its health checks
// succeed where the servers run.
func TestTheGatewayOfTheCompositionServes(t *testing.T) {
	cluster, redis, ok := sharedServers(t)
	if !ok {
		return
	}
	database := cluster.NewDatabase(t)
	t.Parallel()
	folder := "../../../caddyfile/deploy/compose/"
	text, err := os.ReadFile(folder + "Caddyfile")
	require.NoError(t, err)
	compose, err := os.ReadFile(folder + "compose.yaml")
	require.NoError(t, err)
	const key = "sk-compose-0123456789"
	require.Contains(t, string(compose), "GATEWAY_KEY:-"+key)
	_, port, _ := strings.Cut(redis.Address, ":")
	m := newMachine(t, append(cluster.Environment(), "POSTGRES_DSN="+database, "GATEWAY_KEY="+key),
		"redis:6379", redis.Address, "provider demo {", "provider demo {\npace 20ms", "redis-cli", "redis-cli -p "+port)
	m.configure(t, string(text))
	m.run(t, "systemctl start\ncurl -fsS --retry 60 --retry-delay 1 --retry-connrefused http://localhost:8080/readyz")
	m.run(t, "caddy ai-gateway status")
	assert.Contains(t, m.stream(t, key)(), "data: [DONE]")
	checks := regexp.MustCompile(`test: \[CMD, (.*)\]`).FindAllStringSubmatch(string(compose), -1)
	require.Len(t, checks, 2)
	for _, check := range checks {
		m.run(t, strings.ReplaceAll(check[1], ",", ""))
	}
}
