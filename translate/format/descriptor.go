package format

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate"

// Descriptor contains all that the gateway knows of a format. It never changes, and there
// is one for each format, so that descriptors can be compared.
//
// A function may be nil only if its comment describes the meaning of nil.
type Descriptor struct {
	Name translate.Format // in configurations, logs and metrics

	// TraceOperation is OpenTelemetry's name for writing an answer, gen_ai.operation.name.
	TraceOperation string

	Client   Client
	Provider Provider
	Version  Version
	Requests Requests
	Answers  Answers
	Objects  Objects
	Errors   Errors
	Models   Models

	Embeddings Embeddings
}

// String returns the name.
func (d *Descriptor) String() string { return string(d.Name) }
