package mcp

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Name is the name of the protocol where exchanges have that of a format. It is no format of models.
const Name translate.Format = "mcp"

// Format describes answers to requests whose id is unknown.
var Format = FormatFor(nil)

// FormatFor describes the answers to a request with an id, as it is in the message; nil if it is
// unknown. Errors have the id, without which no client finds the request that has failed.
func FormatFor(id []byte) *format.Descriptor {
	return &format.Descriptor{
		Name:           Name,
		TraceOperation: "execute_tool",
		Client:         format.Client{Quotas: openai.Quotas},
		Errors: format.Errors{
			Status: (*fault.Fault).Status,
			Append: func(dst []byte, f *fault.Fault, requestID string) []byte { return appendError(dst, id, f, requestID) },
		},
	}
}

// errorCodes are the codes of errors by the codes of their faults. Others have the code of their kind.
var errorCodes = map[string]int{
	fault.CodeMCPUnknownMethod: codeUnknownMethod,
	fault.CodeMCPNotAllowed:    -32602,
	fault.CodeMCPHeader:        -32020,
	fault.CodeMCPSession:       codeUnknownSession,
}

// codeOf returns the code of an error.
func codeOf(f *fault.Fault) int {
	if code, ok := errorCodes[f.Code]; ok {
		return code
	}
	if f.Kind == fault.Invalid {
		return -32600
	}
	return -32000
}

func appendError(dst, id []byte, f *fault.Fault, requestID string) []byte {
	if id == nil {
		id = []byte("null")
	}
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), id...)
	dst = strconv.AppendInt(append(dst, `,"error":{"code":`...), int64(codeOf(f)), 10)
	dst = jsonscan.AppendString(append(dst, `,"message":`...), f.Message)
	dst = jsonscan.AppendString(append(dst, `,"data":{"type":`...), f.Kind.String())
	dst = jsonscan.AppendString(append(dst, `,"request_id":`...), requestID)
	return append(dst, "}}}"...)
}
