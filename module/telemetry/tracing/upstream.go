package tracing

import (
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Forward adds the header traceparent to a request, so that the spans of its receiver become
// children of the span in the context of the request.
func Forward(request *http.Request) {
	span := trace.SpanContextFromContext(request.Context())
	if span.IsValid() {
		request.Header["Traceparent"] = []string{
			"00-" + span.TraceID().String() + "-" + span.SpanID().String() + "-" + (span.TraceFlags() & trace.FlagsSampled).String(),
		}
	}
}

// NoteAddress sets the address of the receiver of a request in the span of the call.
func NoteAddress(request *http.Request) {
	span := trace.SpanFromContext(request.Context())
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attribute.String(serverAddress, request.URL.Hostname()))
	if port, err := strconv.Atoi(request.URL.Port()); err == nil {
		span.SetAttributes(attribute.Int(serverPort, port))
	}
}
