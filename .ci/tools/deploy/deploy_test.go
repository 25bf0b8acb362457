// Package deploy tests the files with which the gateway is deployed, by the libraries of the
// programs that read them: those programs need machines that a test has not.
package deploy

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/rhysd/actionlint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
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

// kinds are the types of Kubernetes that the manifests use.
var kinds = map[metav1.TypeMeta]func() any{
	{APIVersion: "v1", Kind: "ConfigMap"}:                       func() any { return new(corev1.ConfigMap) },
	{APIVersion: "v1", Kind: "Namespace"}:                       func() any { return new(corev1.Namespace) },
	{APIVersion: "v1", Kind: "Secret"}:                          func() any { return new(corev1.Secret) },
	{APIVersion: "v1", Kind: "Service"}:                         func() any { return new(corev1.Service) },
	{APIVersion: "apps/v1", Kind: "StatefulSet"}:                func() any { return new(appsv1.StatefulSet) },
	{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"}: func() any { return new(networkingv1.NetworkPolicy) },
	{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"}:      func() any { return new(policyv1.PodDisruptionBudget) },
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
	secrets, err := os.ReadFile(filepath.Join(root, "caddyfile/kubernetes/secrets.example.yaml"))
	require.NoError(t, err)
	mounted := map[string]bool{}
	for _, text := range append(manifests(t, "caddyfile/kubernetes"), secrets) {
		switch o := read(t, text).(type) {
		case *appsv1.StatefulSet:
			pod := o.Spec.Template
			assert.Equal(t, o.Spec.Selector.MatchLabels, pod.Labels)
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
		case *corev1.Secret:
			assert.True(t, mounted[o.Name], "the secrets are mounted as %s", o.Name)
		}
	}
	assert.Len(t, mounted, 2)
}

// The kinds of Prometheus' operator are not part of Kubernetes.
func TestTheMonitorSelectsAPortOfAService(t *testing.T) {
	monitor := string(manifests(t, "caddyfile/kubernetes/monitoring")[0])
	assert.Contains(t, monitor, "kind: ServiceMonitor")
	assert.Contains(t, monitor, "port: metrics")
	for _, text := range manifests(t, "caddyfile/kubernetes") {
		if strings.Contains(string(text), "kind: Service\n") && strings.Contains(string(text), "name: metrics") {
			assert.Contains(t, string(text), "app.kubernetes.io/name: ai-gateway")
			return
		}
	}
	t.Error("no service has a port with the name metrics")
}

func TestTheCompositionIsOneOfCompose(t *testing.T) {
	file, err := filepath.Abs(filepath.Join(root, "caddyfile/compose/compose.yaml"))
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
	require.Len(t, files, 3)
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
