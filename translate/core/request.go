package core

import (
	"fmt"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// RequestInfo is what a conversion of a request needs to know beside the body.
type RequestInfo struct {
	Model    string        // the name the client used; messages of refusals name it
	Upstream string        // the provider's own name of the model
	Traits   *trait.Traits // what the provider can take; nil stands for the defaults
	Prompt   int           // which of several prompts is written, from 0; below Rendered.Prompts

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
	Losses translate.Losses        // what could not be carried over as it was
	Answer translate.AnswerContext // what the way back needs

	// Prompts is how many prompts the request holds, each of which is a call of
	// its own, and Samples how often each is sent. Both are 1 as a rule.
	Prompts, Samples int
}

// Calls is how many calls the request becomes: 1 as a rule.
func (r *Rendered) Calls() int { return r.Prompts * r.Samples }

// Refuse says that a field cannot be carried over to the provider's format
// without changing what is asked. The path is in the client's notation; shown
// is the value where it may be repeated (a number, or a word of a closed set in
// quotes), else "".
func (info *RequestInfo) Refuse(upstream translate.Format, path, shown string) *fault.Fault {
	why := "cannot be translated for model '" + info.Model + "' (upstream format " + string(upstream) + ")"
	f := &fault.Fault{Kind: fault.Invalid, Message: path + ": " + why, Param: path, Code: fault.CodeUntranslatable}
	if shown != "" {
		f.Message, f.Logged = path+": "+shown+" "+why, f.Message
	}
	return f
}

// RefuseLoss refuses a request that could be answered without the field at path,
// because the client wants that, or else the operator. The message says who:
// leaving the field out is one remedy then, asking for less another.
func (info *RequestInfo) RefuseLoss(upstream translate.Format, path string, byClient bool) *fault.Fault {
	f := info.Refuse(upstream, path, "")
	if byClient {
		f.Add(": x-gateway-on-loss asks to refuse what would be lost")
		return f
	}
	f.Add(": the gateway is set to refuse what would be lost")
	f.Trait = "on_loss"
	return f
}

// RefuseControl refuses a text that holds a part of the template in which the
// model is asked.
func (info *RequestInfo) RefuseControl(path, control string) *fault.Fault {
	return &fault.Fault{
		Kind: fault.Invalid, Message: path + ": must not hold '" + control + "', which has a meaning of its own in the prompt of model '" + info.Model + "'",
		Param: path, Code: fault.CodeUntranslatable,
	}
}

// RefuseCalls refuses a request that would become more calls than the provider
// may be asked for at once. shown is what there is too much of.
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

// RefuseStops refuses stop texts at path of which there are too many for the
// gateway to enforce.
func (info *RequestInfo) RefuseStops(upstream translate.Format, path string) *fault.Fault {
	f := info.Refuse(upstream, path, "")
	f.Message += fmt.Sprintf(": more than %d different texts that the gateway itself must look for, or more than %d bytes of them", translate.MaxEnforced, translate.MaxEnforcedBytes)
	return f
}

// RefusePDF refuses a PDF document, at path. Claude Code looks for the last words:
// it takes the document out of the conversation then, which could never go on
// otherwise.
func (info *RequestInfo) RefusePDF(upstream translate.Format, path string) *fault.Fault {
	f := info.Refuse(upstream, path, "'document'")
	f.Message += ": this model does not support PDF input"
	return f
}

// RefuseThread refuses message threads, which need a provider that keeps them.
// Official SDKs read the details and go on without threads.
func (info *RequestInfo) RefuseThread(upstream translate.Format) *fault.Fault {
	f := info.Refuse(upstream, "thread", "")
	f.ErrorCode = "thread_unsupported_request"
	f.Unsupported = []string{"thread"}
	return f
}
