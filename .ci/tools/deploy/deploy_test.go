// Package deploy tests the files with which the gateway is deployed, by the libraries of the
// programs that read them: those programs need machines that a test has not.
package deploy

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/rhysd/actionlint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const root = "../../.."

// manifests returns what `kubectl apply -k` sends for a folder.
func manifests(t *testing.T, folder string) [][]byte {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(root, folder))
	require.NoError(t, err)
	var documents [][]byte
	for _, resource := range built.Resources() {
		text, err := resource.AsYAML()
		require.NoError(t, err)
		documents = append(documents, text)
	}
	return documents
}

const monitoring = "monitoring.coreos.com/v1"

// kinds are the types of Kubernetes, and of Prometheus' operator, that the manifests use.
var kinds = map[metav1.TypeMeta]func() any{
	{APIVersion: "v1", Kind: "ConfigMap"}:                           func() any { return new(corev1.ConfigMap) },
	{APIVersion: "v1", Kind: "Namespace"}:                           func() any { return new(corev1.Namespace) },
	{APIVersion: "v1", Kind: "Secret"}:                              func() any { return new(corev1.Secret) },
	{APIVersion: "v1", Kind: "Service"}:                             func() any { return new(corev1.Service) },
	{APIVersion: "apps/v1", Kind: "StatefulSet"}:                    func() any { return new(appsv1.StatefulSet) },
	{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"}:     func() any { return new(networkingv1.NetworkPolicy) },
	{APIVersion: monitoring, Kind: "ServiceMonitor"}:                func() any { return new(monitoringv1.ServiceMonitor) },
	{APIVersion: monitoring, Kind: "PrometheusRule"}:                func() any { return new(monitoringv1.PrometheusRule) },
	{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"}:          func() any { return new(policyv1.PodDisruptionBudget) },
	{APIVersion: "autoscaling/v2", Kind: "HorizontalPodAutoscaler"}: func() any { return new(autoscalingv2.HorizontalPodAutoscaler) },
	{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"}:           func() any { return new(networkingv1.Ingress) },
}

// read decodes a manifest. A field that Kubernetes does not know is an error.
func read(t *testing.T, text []byte) any {
	t.Helper()
	var kind metav1.TypeMeta
	require.NoError(t, yaml.Unmarshal(text, &kind))
	require.Contains(t, kinds, kind)
	object := kinds[kind]()
	document, err := yaml.YAMLToJSONStrict(text)
	require.NoError(t, err, string(text))
	faults, err := json.UnmarshalStrict(document, object) // which distinguishes letter case
	require.NoError(t, err, string(text))
	assert.Empty(t, faults, string(text))
	return object
}

// A field that Kubernetes does not know is an error, as with `kubectl apply --validate=strict`.
func TestTheManifestsAreThoseOfKubernetes(t *testing.T) {
	secrets, err := os.ReadFile(filepath.Join(root, "caddyfile/deploy/kubernetes/secrets.example.yaml"))
	require.NoError(t, err)
	pods := map[string]string{"app.kubernetes.io/name": "ai-gateway"}
	mounted := map[string]bool{}
	for _, text := range append(manifests(t, "caddyfile/deploy/kubernetes"), secrets) {
		switch o := read(t, text).(type) {
		case *appsv1.StatefulSet:
			pod := o.Spec.Template
			assert.Equal(t, pods, o.Spec.Selector.MatchLabels)
			assert.Equal(t, pods, pod.Labels)
			assert.Greater(t, *pod.Spec.TerminationGracePeriodSeconds, int64(10+60), "shutdown_delay and grace_period of the Caddyfile")
			for _, volume := range pod.Spec.Volumes {
				if volume.ConfigMap != nil {
					mounted[volume.ConfigMap.Name] = true
				}
				if volume.Secret != nil {
					mounted[volume.Secret.SecretName] = true
				}
			}
		case *corev1.ConfigMap:
			assert.True(t, mounted[o.Name], "the Caddyfile is mounted by its generated name, %s", o.Name)
		case *policyv1.PodDisruptionBudget:
			// A budget without a selector is one of no pods: a drain of nodes took all replicas at once.
			require.NotNil(t, o.Spec.Selector)
			assert.Equal(t, pods, o.Spec.Selector.MatchLabels)
		case *networkingv1.NetworkPolicy:
			// The policy was that of all pods of the namespace, so that a Redis in it was out of reach.
			assert.Equal(t, pods, o.Spec.PodSelector.MatchLabels)
		case *corev1.Secret:
			assert.True(t, mounted[o.Name], "the secrets are mounted as %s", o.Name)
		}
	}
	assert.Len(t, mounted, 2)
}

// The kinds of Prometheus' operator: the monitor selects a port of a service, and the rules
// are the alerts that the pages describe.
func TestTheMonitoringIsThatOfPrometheusOperator(t *testing.T) {
	var service *corev1.Service
	for _, text := range manifests(t, "caddyfile/deploy/kubernetes") {
		if o, ok := read(t, text).(*corev1.Service); ok && o.Spec.Ports[0].Name == "metrics" {
			service = o
		}
	}
	require.NotNil(t, service, "no service has a port with the name metrics")
	text, err := os.ReadFile(filepath.Join(root, "caddyfile/deploy/observability/alerts.yml"))
	require.NoError(t, err)
	var alerts monitoringv1.PrometheusRuleSpec
	require.NoError(t, yaml.UnmarshalStrict(text, &alerts))

	documents := manifests(t, "caddyfile/deploy/kubernetes/monitoring")
	require.Len(t, documents, 2)
	for _, text := range documents {
		switch o := read(t, text).(type) {
		case *monitoringv1.ServiceMonitor:
			assert.Equal(t, service.Spec.Ports[0].Name, o.Spec.Endpoints[0].Port)
			for name, value := range o.Spec.Selector.MatchLabels {
				assert.Equal(t, value, service.Labels[name])
			}
		case *monitoringv1.PrometheusRule:
			assert.Equal(t, alerts, o.Spec)
		}
	}
}

// What Docker reports with `docker build --check` is an error, and the image is one that
// clusters with strict rules take: its user has a number, and no shell is needed.
func TestTheDockerfileIsSound(t *testing.T) {
	file, err := os.Open(filepath.Join(root, "Dockerfile"))
	require.NoError(t, err)
	defer file.Close()
	parsed, err := parser.Parse(file)
	require.NoError(t, err)
	assert.Empty(t, parsed.Warnings)
	stages, _, err := instructions.Parse(parsed.AST, linter.New(&linter.Config{Warn: func(rule, _, _, message string, _ []parser.Range) {
		t.Errorf("%s: %s", rule, message)
	}}))
	require.NoError(t, err)
	found := make(map[string]instructions.Command)
	for _, command := range stages[len(stages)-1].Commands {
		found[command.Name()] = command
	}
	require.Contains(t, found, "USER")
	assert.Regexp(t, `^[1-9]\d*:[1-9]\d*$`, found["USER"].(*instructions.UserCommand).User)
	require.Contains(t, found, "HEALTHCHECK")
	assert.Equal(t, "CMD", found["HEALTHCHECK"].(*instructions.HealthCheckCommand).Health.Test[0])
	require.Contains(t, found, "ENTRYPOINT")
	assert.False(t, found["ENTRYPOINT"].(*instructions.EntrypointCommand).PrependShell)
	require.Contains(t, found, "VOLUME")
	assert.Equal(t, []string{"/data", "/config"}, found["VOLUME"].(*instructions.VolumeCommand).Volumes)
}

func TestTheCompositionIsOneOfCompose(t *testing.T) {
	file, err := filepath.Abs(filepath.Join(root, "caddyfile/deploy/compose/compose.yaml"))
	require.NoError(t, err)
	options, err := cli.NewProjectOptions([]string{file}, cli.WithResolvedPaths(true))
	require.NoError(t, err)
	project, err := options.LoadProject(context.Background())
	require.NoError(t, err)
	for _, service := range project.Services {
		for _, volume := range service.Volumes {
			if volume.Type == "bind" {
				assert.FileExists(t, volume.Source, service.Name)
			}
		}
		for _, port := range service.Ports {
			assert.Equal(t, "127.0.0.1", port.HostIP, "only this machine reaches %s", service.Name)
		}
	}
	assert.Len(t, project.Services, 5)
}

func TestTheWorkflowsAreSound(t *testing.T) {
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(root, ".github/workflows/*.yml"))
	require.NoError(t, err)
	require.Len(t, files, 4)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		faults, err := linter.Lint(file, text, nil)
		require.NoError(t, err)
		for _, fault := range faults {
			t.Error(fault)
		}
	}
}
