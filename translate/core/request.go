package core

import (
	"fmt"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// RequestInfo is what the translation of a request depends on beside the body.
type RequestInfo struct {
	// Operation is what the provider is asked for. A request to count tokens has only
	// what they depend on: the conversation, the tools, and the options about tools,
	// formats and reasoning.
	Operation translate.Operation

	Stream   bool          // the client asks for a stream, in a format whose bodies do not state that
	Model    string        // the client's name of the model, for messages
	Upstream string        // the provider's own name of the model
	Traits   *trait.Traits // of the provider; nil means the defaults
	Prompt   int           // index of the prompt to write, below Rendered.Prompts

	Texts jsonscan.Texts // the long strings of the body, which a reader then does not search; nil if they are unknown

	// Tenant is the owner of the key, "" if clients need no key.
	Tenant string
	// Seals seals and opens reasoning that passes between the responses format and
	// others, for the provider and the tenant. It is nil if there is no sealing key.
	Seals *seal.Sealer

	// BytesPerToken is the ratio for estimates of the input tokens; 0 means
	// token.DefaultBytesPerToken.
	BytesPerToken float64
}

// Counts reports whether the provider only counts tokens.
func (info *RequestInfo) Counts() bool { return info.Operation == translate.CountTokens }

// Shown returns the name of the model from which its vendor can be seen.
func (info *RequestInfo) Shown() string {
	if info.Traits == nil || info.Traits.SameAs == "" {
		return info.Upstream
	}
	return info.Traits.SameAs
}

// Rendered is the result of a translation beside the body.
type Rendered struct {
	Losses translate.Losses        // fields that are not carried over unchanged
	Answer translate.AnswerContext // what the translation of the answer depends on

	// Texts are the edits of the result that put the long texts of the client's body, of which
	// they have slices, into their places.
	Texts []edit.Edit

	// Prompts is the number of prompts in the request, each of which is a call, and
	// Samples the number of times that each is sent. Both are usually 1.
	Prompts, Samples int
}

// Refuse refuses a field that the provider's format cannot express. The path is in the
// client's notation. shown is the value if it may be repeated: a number, or a word of a
// closed set in quotes; else "".
func (info *RequestInfo) Refuse(upstream translate.Format, path, shown string) *fault.Fault {
	why := "cannot be translated for model '" + info.Model + "' (upstream format " + string(upstream) + ")"
	f := &fault.Fault{Kind: fault.Invalid, Message: path + ": " + why, Param: path, Code: fault.CodeUntranslatable}
	if shown != "" {
		f.Message, f.Log.Message = path+": "+shown+" "+why, f.Message
	}
	return f
}

// RefuseLoss refuses a field that could be left out, because the client or else the
// operator asks to refuse losses. The message names which, since the remedies differ.
func (info *RequestInfo) RefuseLoss(upstream translate.Format, path string, byClient bool) *fault.Fault {
	f := info.Refuse(upstream, path, "")
	if byClient {
		f.Add(": x-gateway-on-loss asks to refuse what would be lost")
		return f
	}
	f.Add(": the gateway is set to refuse what would be lost")
	f.Log.Trait = "on_loss"
	return f
}

// RefuseControl refuses a text that contains a control text of the prompt template.
func (info *RequestInfo) RefuseControl(path, control string) *fault.Fault {
	return &fault.Fault{
		Kind: fault.Invalid, Message: path + ": must not hold '" + control + "', which has a meaning of its own in the prompt of model '" + info.Model + "'",
		Param: path, Code: fault.CodeUntranslatable,
	}
}

// RefuseCalls refuses a request that would become more than most calls. shown is the
// value that causes them.
func (info *RequestInfo) RefuseCalls(upstream translate.Format, path, shown string, most int64) *fault.Fault {
	f := info.Refuse(upstream, path, shown)
	f.Add(": more than " + strconv.FormatInt(most, 10) + " calls")
	return f
}

// RefusePrefill refuses a conversation that ends with the assistant, at path.
func (info *RequestInfo) RefusePrefill(upstream translate.Format, path string) *fault.Fault {
	f := info.Refuse(upstream, path, "an assistant message at the end, which asks to be continued,")
	f.Add(": end with a user message")
	return f
}

// RefuseStops refuses stop texts at path that exceed what the gateway can enforce.
func (info *RequestInfo) RefuseStops(upstream translate.Format, path string) *fault.Fault {
	f := info.Refuse(upstream, path, "")
	f.Message += fmt.Sprintf(": more than %d different texts that the gateway itself must look for, or more than %d bytes of them", translate.MaxEnforced, translate.MaxEnforcedBytes)
	return f
}

// RefusePDF refuses a PDF document, at path. Claude Code recognizes the last words and
// removes the document from the conversation, which could not continue otherwise.
func (info *RequestInfo) RefusePDF(upstream translate.Format, path string) *fault.Fault {
	f := info.Refuse(upstream, path, "'document'")
	f.Message += ": this model does not support PDF input"
	return f
}

// RefuseThread refuses message threads, which the provider would have to store.
// Official SDKs read the details and continue without threads.
func (info *RequestInfo) RefuseThread(upstream translate.Format) *fault.Fault {
	f := info.Refuse(upstream, "thread", "")
	f.Details = []byte(`{"error_code":"thread_unsupported_request","unsupported":["thread"]}`)
	return f
}
