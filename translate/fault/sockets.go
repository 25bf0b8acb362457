package fault

import "strconv"

// The functions of this file refuse WebSockets, conversations on them, and client secrets for them.

// NoWebSocket refuses a WebSocket. Codex goes on with POST at once after the status 426,
// and only after seconds of retries with any other.
func NoWebSocket() *Fault {
	return &Fault{Kind: UpgradeRefused, Message: "upgrade: this endpoint has no WebSocket; use HTTP POST", Final: true}
}

// NoRealtime refuses a WebSocket of the Realtime API to a gateway, or for a model, without one.
func NoRealtime() *Fault {
	return &Fault{Kind: NotFound, Message: "upgrade: no provider of this gateway has the Realtime API, or the Live API, for this model", Code: "not_found", Final: true}
}

// RealtimeQuery refuses a WebSocket of the Realtime API for a parameter of its query: the model, or what asks for
// something else than a conversation.
func RealtimeQuery(parameter string) *Fault {
	f := InvalidField(parameter, "must not be sent: a WebSocket of the Realtime API has a model alone")
	switch parameter {
	case "model":
		f = InvalidField(parameter, "must be sent once, as the only parameter of a WebSocket of the Realtime API")
	case "intent":
		f = InvalidField(parameter, "sessions for transcripts alone are not served: the session of a model has them by audio.input.transcription")
	case "call_id":
		f = InvalidField(parameter, "calls by WebRTC and SIP are not served")
	}
	f.Final = true
	return f
}

// NotRealtimeEvent refuses a message that is not valid.
func NotRealtimeEvent() *Fault {
	return &Fault{Kind: Invalid, Message: "message: must be a JSON object with a type, and with no member twice", Code: codeInvalidValue, Final: true}
}

// SecretSession refuses to make a client secret for a session that is not valid.
func SecretSession(most int) *Fault {
	return &Fault{Kind: Invalid, Message: "session: must be an object of at most " + strconv.Itoa(most) + " bytes, with the type 'realtime' and the name of a model", Param: "session", Code: codeInvalidValue, Final: true}
}

// SecretLifetime refuses the lifetime of a client secret, in seconds.
func SecretLifetime(least, most int) *Fault {
	return &Fault{Kind: Invalid, Message: "expires_after: must have the anchor 'created_at', and " + strconv.Itoa(least) + " to " + strconv.Itoa(most) + " seconds", Param: "expires_after", Code: codeInvalidValue, Final: true}
}

// SecretToken refuses to make a token for the Live API of Gemini that is not valid.
func SecretToken(most int) *Fault {
	return &Fault{Kind: Invalid, Message: "auth_tokens: bidiGenerateContentSetup must have a model, no handle and at most " + strconv.Itoa(most) + " bytes; times must be within 20 hours; fieldMask is not served", Code: codeInvalidValue, Final: true}
}

// SecretOfToken refuses to make a client secret with a signed token.
func SecretOfToken() *Fault {
	return notAllowed("key: a signed token makes no client secrets; use a key of the gateway")
}

// NotFirstMessage refuses a message of a Live API that does not begin a conversation, or begins another one.
func NotFirstMessage() *Fault {
	return &Fault{Kind: Invalid, Message: "message: the first one must begin the conversation with the name of its model, and no other may", Code: codeInvalidValue, Final: true}
}

// UnknownSession refuses to resume a session of another client.
func UnknownSession() *Fault {
	return &Fault{Kind: NotFound, Message: "sessionResumption.handle: must be one that this gateway has sent to the same key or user", Code: "not_found", Final: true}
}

// AccountApart refuses a conversation that refers to what an account has which no WebSocket of its model is for.
func AccountApart() *Fault {
	return &Fault{Kind: NotFound, Message: "setup: the session or the file is in an account to which no WebSocket of this model leads", Code: "not_found", Final: true}
}

// OtherSessionModel refuses another model than that of the WebSocket.
func OtherSessionModel(model string) *Fault {
	return &Fault{Kind: Invalid, Message: "session.model: must be '" + model + "', the model of the WebSocket", Param: "session.model", Code: codeInvalidValue, Final: true}
}

// NotWebSocket refuses a request for a WebSocket that is none.
func NotWebSocket() *Fault {
	return &Fault{Kind: Invalid, Message: "upgrade: must be a WebSocket handshake of version 13, with GET and HTTP/1.1", Code: codeInvalidValue, Final: true}
}

// TooManySockets refuses a WebSocket of a key with which the largest number is open.
func TooManySockets(most int) *Fault {
	return &Fault{Kind: RateLimited, Message: "upgrade: this key has " + strconv.Itoa(most) + " open WebSockets, which is the largest number: close one", Final: true}
}

// OriginNotAllowed refuses a WebSocket of a script of another origin.
func OriginNotAllowed() *Fault {
	return notAllowed("origin: web pages of this origin may not open a WebSocket here")
}

// NotOnSocket refuses a model that the provider of the WebSocket of a request does not serve in its
// format.
func NotOnSocket(model string) *Fault {
	return &Fault{Kind: NotFound, Message: "model: '" + model + "' is not available on this WebSocket; use HTTP POST", Param: "model", Code: "model_not_found", Final: true}
}
