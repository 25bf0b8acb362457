package trait

import "strings"

// ReasoningReplay selects how a chat provider gets the reasoning of earlier turns back.
type ReasoningReplay uint8

// The values of ReasoningReplay.
const (
	ReplayNone             ReasoningReplay = iota // not sent; that of chat clients is as they sent it
	ReplayReasoningContent                        // in reasoning_content
	ReplayReasoning                               // in reasoning
	ReplayDrop                                    // not sent, since the provider refuses the fields
	ReplayThinking                                // as a part of the content, since the provider refuses the fields
)

// Field returns the name of the field, "" if no field has earlier reasoning.
func (r ReasoningReplay) Field() string {
	return [...]string{ReplayNone: "", ReplayReasoningContent: "reasoning_content", ReplayReasoning: "reasoning", ReplayDrop: "", ReplayThinking: ""}[r]
}

// ResponsesReasoning selects how earlier reasoning is sent back to a responses provider.
type ResponsesReasoning uint8

// The values of ResponsesReasoning.
const (
	ResponsesReasoningNone      ResponsesReasoning = iota
	ResponsesReasoningEncrypted                    // as the provider encrypted it
	ResponsesReasoningText                         // as plain text, whichever model produced it
	ResponsesReasoningSummary                      // as plain text, in the summary
)

// ThinkingStyle is the type of thinking that a messages provider accepts.
type ThinkingStyle uint8

// The values of ThinkingStyle.
const (
	ThinkingDefault ThinkingStyle = iota // not known: none is asked for
	ThinkingNone
	ThinkingBudget
	ThinkingAdaptive
	ThinkingAlways // adaptive, and never switched off
	ThinkingBoth   // adaptive; the budget of a client is accepted as well
)

// Adapts reports whether the model itself decides how much it thinks, guided by the effort.
func (s ThinkingStyle) Adapts() bool { return s >= ThinkingAdaptive }

// TakesBudget reports whether a request may state a budget, as far as that is known.
func (s ThinkingStyle) TakesBudget() bool {
	return s == ThinkingDefault || s == ThinkingBudget || s == ThinkingBoth
}

// ThinkingSwitch is a member of chat requests that switches thinking off, beyond the public format.
type ThinkingSwitch uint8

// The values of ThinkingSwitch.
const (
	SwitchNone ThinkingSwitch = iota
	SwitchThinkingType
	SwitchEnableThinking
	SwitchDisableReasoning
)

// switches are the paths of the members, their values for off, and the whole members with these.
var switches = [...]struct{ path, off, member string }{
	SwitchThinkingType:     {"thinking.type", `"disabled"`, `"thinking":{"type":"disabled"}`},
	SwitchEnableThinking:   {"enable_thinking", "false", `"enable_thinking":false`},
	SwitchDisableReasoning: {"disable_reasoning", "true", `"disable_reasoning":true`},
}

// Off returns the path of the switch, and its raw value for off. Both are "" for SwitchNone.
func (s ThinkingSwitch) Off() (path, value string) { return switches[s].path, switches[s].off }

// Member returns the whole member that switches thinking off, as JSON, and its name.
func (s ThinkingSwitch) Member() (name, member string) {
	name, _, _ = strings.Cut(switches[s].path, ".")
	return name, switches[s].member
}

// SwitchesOff reports whether the effort none becomes the member that switches thinking off.
func (t *Traits) SwitchesOff() bool {
	return t.ThinkingSwitch != SwitchNone && !t.ReasoningEffort.Has(EffortNone)
}

// Budgets are the bounds of budgets of thinking, in tokens. The zero value is unknown bounds.
type Budgets struct {
	Least, Most int64
}

// Clamp returns the nearest budget within the bounds.
func (b Budgets) Clamp(n int64) int64 {
	if b.Most == 0 {
		return n
	}
	return min(max(n, b.Least), b.Most)
}
