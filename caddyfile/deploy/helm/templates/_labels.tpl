{{- define "selector" -}}
app.kubernetes.io/name: ai-gateway
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "metadata" -}}
name: {{ .Release.Name }}
{{ include "origin" . }}
{{- end }}

{{- define "origin" -}}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "selector" . | nindent 2 }}
  app.kubernetes.io/managed-by: {{ .Release.Service }}
  helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}
