package translate

// RequestInfo is what a conversion of a request needs to know beside the body.
type RequestInfo struct {
	Model    string  // the name the client used; messages of refusals name it
	Upstream string  // the provider's own name of the model
	Traits   *Traits // what the provider can take; nil stands for the defaults

	// BytesPerToken is what estimates of the input tokens divide by; 0 stands
	// for the ratio of a model of which nothing is known.
	BytesPerToken float64
}

// Rendered is what a conversion tells beside the body it wrote.
type Rendered struct {
	Losses Losses // what could not be carried over as it was
	Memory Memory // what the way back needs
}

// codeUntranslatable is the code of chat and completions bodies that refuse a
// request the provider's format has no words for.
const codeUntranslatable = "unsupported_for_upstream"

// Refuse says that a field cannot be carried over to the provider's format
// without changing what is asked. The path is in the client's notation; shown
// is the value where it may be repeated (a number, or a word of a closed set in
// quotes), else "".
func (info *RequestInfo) Refuse(upstream Format, path, shown string) *Fault {
	message := path + ": "
	if shown != "" {
		message += shown + " "
	}
	message += "cannot be translated for model '" + info.Model + "' (upstream format " + string(upstream) + ")"
	return &Fault{Kind: Invalid, Message: message, Param: path, Code: codeUntranslatable}
}

// RefuseControl refuses a text that holds a part of the template in which the
// model is asked.
func (info *RequestInfo) RefuseControl(path, control string) *Fault {
	return &Fault{
		Kind: Invalid, Message: path + ": must not hold '" + control + "', which has a meaning of its own in the prompt of model '" + info.Model + "'",
		Param: path, Code: codeUntranslatable,
	}
}

// RefuseThread refuses message threads, which need a provider that keeps them.
// Official SDKs read the details and go on without threads.
func (info *RequestInfo) RefuseThread(upstream Format) *Fault {
	f := info.Refuse(upstream, "thread", "")
	f.ErrorCode = "thread_unsupported_request"
	f.Unsupported = []string{"thread"}
	return f
}
