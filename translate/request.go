package translate

import (
	"fmt"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// RequestInfo is what a conversion of a request needs to know beside the body.
type RequestInfo struct {
	Model    string  // the name the client used; messages of refusals name it
	Upstream string  // the provider's own name of the model
	Traits   *Traits // what the provider can take; nil stands for the defaults
	Prompt   int     // which of several prompts is written, from 0; below Rendered.Prompts

	// Tenant is whose key the client has, "" where there are no keys.
	Tenant string
	// Seals opens and closes reasoning that goes between the responses format and
	// others, for the provider and the tenant. It is nil where there is no key for that.
	Seals *seal.Sealer

	// BytesPerToken is what estimates of the input tokens divide by; 0 stands
	// for the ratio of a model of which nothing is known.
	BytesPerToken float64
}

// Rendered is what a conversion tells beside the body it wrote.
type Rendered struct {
	Losses Losses // what could not be carried over as it was
	Memory Memory // what the way back needs

	// Prompts is how many prompts the request holds, each of which is a call of
	// its own, and Samples how often each is sent. Both are 1 as a rule.
	Prompts, Samples int
}

// Calls is how many calls the request becomes: 1 as a rule.
func (r *Rendered) Calls() int { return r.Prompts * r.Samples }

// codeUntranslatable is the code of chat and completions bodies that refuse a
// request the provider's format has no words for.
const codeUntranslatable = "unsupported_for_upstream"

// Refuse says that a field cannot be carried over to the provider's format
// without changing what is asked. The path is in the client's notation; shown
// is the value where it may be repeated (a number, or a word of a closed set in
// quotes), else "".
func (info *RequestInfo) Refuse(upstream Format, path, shown string) *Fault {
	why := "cannot be translated for model '" + info.Model + "' (upstream format " + string(upstream) + ")"
	f := &Fault{Kind: Invalid, Message: path + ": " + why, Param: path, Code: codeUntranslatable}
	if shown != "" {
		f.Message, f.Logged = path+": "+shown+" "+why, f.Message
	}
	return f
}

// RefuseLoss refuses a request that could be answered without the field at path,
// because the client wants that, or else the operator. The message says who:
// leaving the field out is one remedy then, asking for less another.
func (info *RequestInfo) RefuseLoss(upstream Format, path string, byClient bool) *Fault {
	f := info.Refuse(upstream, path, "")
	if byClient {
		f.add(": x-gateway-on-loss asks to refuse what would be lost")
		return f
	}
	f.add(": the gateway is set to refuse what would be lost")
	f.Trait = "on_loss"
	return f
}

// RefuseControl refuses a text that holds a part of the template in which the
// model is asked.
func (info *RequestInfo) RefuseControl(path, control string) *Fault {
	return &Fault{
		Kind: Invalid, Message: path + ": must not hold '" + control + "', which has a meaning of its own in the prompt of model '" + info.Model + "'",
		Param: path, Code: codeUntranslatable,
	}
}

// RefuseCalls refuses a request that would become more calls than the provider
// may be asked for at once. shown is what there is too much of.
func (info *RequestInfo) RefuseCalls(upstream Format, path, shown string, most int64) *Fault {
	f := info.Refuse(upstream, path, shown)
	f.add(": more than " + strconv.FormatInt(most, 10) + " calls")
	return f
}

// RefusePrefill refuses a conversation that ends with the assistant, at path.
func (info *RequestInfo) RefusePrefill(upstream Format, path string) *Fault {
	f := info.Refuse(upstream, path, "an assistant message at the end, which asks to be continued,")
	f.add(": end with a user message")
	return f
}

// RefuseLateSystem refuses a system turn that is not the first, at path. The words
// are those of the vendor of the messages format: Claude Code, which sends such
// turns, sends the conversation again without them.
func RefuseLateSystem(path string) *Fault {
	return &Fault{
		Kind: Invalid, Message: path + ": role 'system' is not supported on this model",
		Param: path, Code: codeUntranslatable, Trait: "mid_system",
	}
}

// RefuseStops refuses stop texts at path of which there are too many for the
// gateway to enforce.
func (info *RequestInfo) RefuseStops(upstream Format, path string) *Fault {
	f := info.Refuse(upstream, path, "")
	f.Message += fmt.Sprintf(": more than %d different texts that the gateway itself must look for, or more than %d bytes of them", MaxEnforced, MaxEnforcedBytes)
	return f
}

// RefusePDF refuses a PDF document, at path. Claude Code looks for the last words:
// it takes the document out of the conversation then, which could never go on
// otherwise.
func (info *RequestInfo) RefusePDF(upstream Format, path string) *Fault {
	f := info.Refuse(upstream, path, "'document'")
	f.Message += ": this model does not support PDF input"
	return f
}

// RefuseThread refuses message threads, which need a provider that keeps them.
// Official SDKs read the details and go on without threads.
func (info *RequestInfo) RefuseThread(upstream Format) *Fault {
	f := info.Refuse(upstream, "thread", "")
	f.ErrorCode = "thread_unsupported_request"
	f.Unsupported = []string{"thread"}
	return f
}
