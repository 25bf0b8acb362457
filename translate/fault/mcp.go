package fault

// The faults of this file refuse messages of the Model Context Protocol.

// The codes of faults that the protocol has codes of its own for.
const (
	CodeMCPUnknownMethod = "mcp_unknown_method"
	CodeMCPNotAllowed    = "mcp_not_allowed"
	CodeMCPHeader        = "mcp_header_mismatch"
	CodeMCPSession       = "mcp_unknown_session"
)

// MCPBatch refuses several messages in one body, which only one older version has.
func MCPBatch() *Fault {
	return &Fault{Kind: Invalid, Message: "body: must be one message, not a batch", Code: codeInvalidValue, Final: true}
}

// MCPUnknownMember refuses a message with a member that JSON-RPC does not have.
func MCPUnknownMember() *Fault {
	return &Fault{
		Kind: Invalid, Message: "body: must have no other members than jsonrpc, id, method, params, result and error", Code: codeInvalidValue, Final: true,
	}
}

// MCPRepeated refuses a message in which an object has a member twice.
func MCPRepeated(cause error) *Fault {
	return &Fault{Kind: Invalid, Message: "body: must have no member twice in an object", Code: codeInvalidValue, Cause: cause, Final: true}
}

// MCPUnknownMethod refuses a method that the gateway does not pass on.
func MCPUnknownMethod() *Fault {
	return &Fault{Kind: NotFound, Message: "method: this gateway does not pass it on", Code: CodeMCPUnknownMethod, Final: true}
}

// MCPHeaderMismatch refuses a header that differs from the message that it repeats.
func MCPHeaderMismatch(header string) *Fault {
	return &Fault{Kind: Invalid, Message: "header " + header + ": must be the same as in the body", Code: CodeMCPHeader, Final: true}
}

// MCPUnknownServer refuses the path of a server that is not configured.
func MCPUnknownServer() *Fault {
	return &Fault{Kind: NotFound, Message: "path: no such MCP server", Code: "not_found", Final: true}
}

// MCPNoSignIn refuses the path of a document about a sign-in for MCP servers.
func MCPNoSignIn() *Fault {
	return &Fault{Kind: NotFound, Message: "path: no document about a sign-in; MCP clients need a key in the header Authorization", Code: "not_found", Final: true}
}

// MCPServerNotAllowed refuses a server that the key may not use.
func MCPServerNotAllowed(server string) *Fault {
	return notAllowed("this key may not use the MCP server '" + server + "'")
}

// MCPNoServerAllowed refuses all servers together for a key that may use none.
func MCPNoServerAllowed() *Fault { return notAllowed("this key may use no MCP server") }

// MCPNoServer is why there is no answer of all servers together.
func MCPNoServer() *Fault {
	return &Fault{Kind: BadGateway, Message: "none of the MCP servers has answered", Code: "mcp_no_server"}
}

// MCPServerAbsent refuses the use of a server in a session of several that has begun without it.
func MCPServerAbsent(server string) *Fault {
	return &Fault{
		Kind: BadGateway, Message: "the MCP server '" + server + "' did not answer when the session began; initialize a new one", Code: "mcp_server_absent",
	}
}

// MCPNotAllowed refuses a tool, prompt or resource that the server or the key does not allow, or that
// does not exist: nobody learns which.
func MCPNotAllowed() *Fault {
	return &Fault{
		Kind: Forbidden, Message: "params: this tool, prompt or resource is not available with this key", Code: CodeMCPNotAllowed, Final: true,
	}
}

// MCPToolChanged refuses a tool whose definition has changed, and was not accepted.
func MCPToolChanged() *Fault {
	return &Fault{
		Kind: Forbidden, Message: "params.name: the server has changed the definition of this tool, which nobody has accepted yet",
		Code: CodeMCPNotAllowed, Final: true,
	}
}

// MCPCallerUnknown refuses a client of whom a server needs to know more than its key has.
func MCPCallerUnknown(server string) *Fault {
	return &Fault{
		Kind: Forbidden, Message: "the MCP server '" + server + "' needs to know the user, whom this key or token does not name", Code: "mcp_caller_unknown", Final: true,
	}
}

// MCPNoToken refuses a client for whom the issuer gives no token for a server.
func MCPNoToken(server string, cause error) *Fault {
	return &Fault{
		Kind: Forbidden, Message: "the issuer gives this user no token for the MCP server '" + server + "'", Code: "mcp_no_token", Cause: cause, Final: true,
	}
}

// MCPToolFailed is why a call is not taken for a success: its result is an error of the tool, which the
// client gets as it is.
func MCPToolFailed() *Fault {
	return &Fault{Kind: BadGateway, Message: "the tool reports an error"}
}

// MCPOriginNotAllowed refuses a request of a script of another origin.
func MCPOriginNotAllowed() *Fault {
	return notAllowed("origin: web pages of this origin may not use MCP servers here")
}

// MCPUnknownSession refuses a session that is not one of the client.
func MCPUnknownSession() *Fault {
	return &Fault{Kind: NotFound, Message: "header Mcp-Session-Id: no such session; initialize a new one", Code: CodeMCPSession}
}
