package deploy

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"
)

// helm returns what `helm install` sends as the release ai-gateway in the namespace of the
// same name, or the error with which the schema refuses the values.
func helm(t *testing.T, values string) ([][]byte, error) {
	t.Helper()
	chart, err := loader.LoadDir(filepath.Join(root, "caddyfile/deploy/helm"))
	require.NoError(t, err)
	require.NoError(t, chart.Validate())
	parsed, err := chartutil.ReadValues([]byte(values))
	require.NoError(t, err)
	release := chartutil.ReleaseOptions{Name: "ai-gateway", Namespace: "ai-gateway", IsInstall: true}
	complete, err := chartutil.ToRenderValues(chart, parsed, release, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Engine{Strict: true}.Render(chart, complete)
	require.NoError(t, err)
	var documents [][]byte
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for document := range strings.SplitSeq(files[name], "\n---\n") {
			if strings.HasSuffix(name, ".yaml") && strings.TrimSpace(document) != "" {
				documents = append(documents, []byte(document))
			}
		}
	}
	return documents, nil
}

// generated is the hash that kustomize appends to the name of a ConfigMap. Helm has a checksum
// in the annotations of the pods for the same purpose.
var generated = regexp.MustCompile(`\bai-gateway-[0-9a-z]{10}\b`)

// foreign are the labels and annotations that only the objects of Helm have.
var foreign = []string{"app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "helm.sh/chart", "checksum/caddyfile"}

// objects returns manifests by kind and name, without what differs between Helm and kustomize.
func objects(t *testing.T, manifests [][]byte) map[string]any {
	t.Helper()
	found := make(map[string]any)
	for _, text := range manifests {
		read(t, text)
		var object map[string]any
		require.NoError(t, yaml.Unmarshal(generated.ReplaceAll(text, []byte("ai-gateway")), &object))
		forget(object)
		name := object["metadata"].(map[string]any)["name"].(string)
		found[object["kind"].(string)+" "+name] = object
	}
	return found
}

// forget removes foreign labels and annotations at any depth.
func forget(value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range foreign {
			delete(v, name)
		}
		for _, member := range v {
			forget(member)
		}
	case []any:
		for _, element := range v {
			forget(element)
		}
	}
}

// The chart and the manifests are two copies: without values, Helm makes the objects of
// kustomize, but for the namespace, which helm --create-namespace makes.
func TestTheChartMakesTheObjectsOfKustomize(t *testing.T) {
	rendered, err := helm(t, "")
	require.NoError(t, err)
	built := objects(t, manifests(t, "caddyfile/deploy/kubernetes"))
	delete(built, "Namespace ai-gateway")
	assert.Equal(t, built, objects(t, rendered))
}

// The values of the page are ones that the chart takes, and each has its place in the objects.
func TestTheChartFollowsTheValuesOfThePage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "caddyfile/docs/install.md"))
	require.NoError(t, err)
	values := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindSubmatch(page)
	require.NotNil(t, values, "the page has no values")
	rendered, err := helm(t, string(values[1]))
	require.NoError(t, err)
	seen := make(map[string]bool)
	for _, text := range rendered {
		switch o := read(t, text).(type) {
		case *appsv1.StatefulSet:
			pod := o.Spec.Template.Spec
			assert.Nil(t, o.Spec.Replicas, "an upgrade would undo the autoscaler")
			assert.Equal(t, "ghcr.io/caddy-ai-gateway/caddy-ai-gateway:v1.0.0", pod.Containers[0].Image)
			assert.Equal(t, "HTTPS_PROXY", pod.Containers[0].Env[0].Name)
			assert.Equal(t, map[string]string{"kubernetes.io/arch": "arm64"}, pod.NodeSelector)
			assert.Equal(t, "gateway-secrets", pod.Volumes[1].Secret.SecretName)
			assert.Equal(t, "fast", *o.Spec.VolumeClaimTemplates[0].Spec.StorageClassName)
			seen["StatefulSet"] = true
		case *autoscalingv2.HorizontalPodAutoscaler:
			assert.Equal(t, autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "ai-gateway"}, o.Spec.ScaleTargetRef)
			assert.EqualValues(t, 3, *o.Spec.MinReplicas)
			assert.EqualValues(t, 12, o.Spec.MaxReplicas)
			seen["HorizontalPodAutoscaler"] = true
		case *networkingv1.Ingress:
			assert.Equal(t, "ai.example.com", o.Spec.Rules[0].Host)
			assert.Equal(t, "ai-gateway", o.Spec.Rules[0].HTTP.Paths[0].Backend.Service.Name)
			assert.Equal(t, []networkingv1.IngressTLS{{SecretName: "ai-example-com", Hosts: []string{"ai.example.com"}}}, o.Spec.TLS)
			seen["Ingress"] = true
		case *networkingv1.NetworkPolicy:
			assert.EqualValues(t, 8000, o.Spec.Egress[len(o.Spec.Egress)-1].Ports[0].Port.IntValue())
			seen["NetworkPolicy"] = true
		}
	}
	assert.Len(t, seen, 4)
}

// A new Caddyfile replaces the pods, and another text of it does not change any other object.
func TestANewCaddyfileReplacesThePods(t *testing.T) {
	sums := make(map[string]bool)
	for _, caddyfile := range []string{"one", "two"} {
		rendered, err := helm(t, "caddyfile: "+caddyfile)
		require.NoError(t, err)
		for _, text := range rendered {
			if o, ok := read(t, text).(*appsv1.StatefulSet); ok {
				sums[o.Spec.Template.Annotations["checksum/caddyfile"]] = true
			}
		}
	}
	assert.Len(t, sums, 2)
}

func TestTheChartRefusesValues(t *testing.T) {
	for values, word := range map[string]string{
		"replica: 3":                         "replica",
		"replicas: 0":                        "replicas",
		"caddyfile: ''":                      "caddyfile",
		"ingress: {host: ai.example.com}":    "host",
		"service: {type: ExternalName}":      "type",
		"pod: {hostNetwork: true}":           "hostNetwork",
		"volume: {size: much}":               "size",
		"maxUnavailable: half":               "maxUnavailable",
		"podAnnotations: {port: 9180}":       "port",
		"networkPolicy: {enabled: 'no'}":     "enabled",
		"image: {pullPolicy: Sometimes}":     "pullPolicy",
		"env: [{value: without a name}]":     "env",
		"autoscaling: {maxReplicas: plenty}": "maxReplicas",
	} {
		_, err := helm(t, values)
		assert.ErrorContains(t, err, word, values)
	}
}
