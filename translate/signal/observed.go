package signal

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Observed contains what an Observer has read of its stream. Observers embed it.
type Observed struct {
	Used      token.Usage // what Usage returns
	ModelName string      // what Model returns
	Written   token.Text  // what Text returns
	Begun     bool        // content was seen
	Over      bool        // all later events are ignored
	fault     *fault.Fault
}

// Usage returns the usage so far.
func (o *Observed) Usage() token.Usage { return o.Used }

// Text returns the size of the text so far.
func (o *Observed) Text() token.Text { return o.Written }

// Model returns the model that the stream names, "" while unknown.
func (o *Observed) Model() string { return o.ModelName }

// Fault returns the error of the stream, nil without one.
func (o *Observed) Fault() *fault.Fault { return o.fault }

// Fail ends the stream with an error.
func (o *Observed) Fail(f *fault.Fault) Signal {
	o.Over, o.fault = true, f
	return Failed
}

// Unreadable handles an event that is not of the format. After the first content, such
// events are relayed unchanged, and the client decides about them.
func (o *Observed) Unreadable(cause error) Signal {
	if o.Begun {
		return 0
	}
	return o.Fail(fault.Unusable(cause))
}

// TypeOf returns the type in the data of an event, for events without a name. Some
// servers write errors with neither.
func TypeOf(c *jsonscan.Cursor) (name []byte) {
	c.EnterObject()
	for c.Member() {
		switch string(c.Name()) {
		case "type":
			if name, _ := c.Text(); name != nil {
				return name
			}
		case "error":
			if c.Kind() != jsonscan.Null {
				name = []byte("error")
			}
		}
		c.Skip()
	}
	return name
}
