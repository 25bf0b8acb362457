package exchange

// Choice is why the gateway asked a target, and no other one of its model.
type Choice uint8

// The choices.
const (
	First        Choice = iota // the first target of the configuration, often the only one
	ByWeight                   // drawn by the weights of its step
	BySession                  // the target of the session in its step
	BySplit                    // the arm of the customer, the key or the session
	ByCost                     // the cheapest, or within the range of the cheapest
	ByLatency                  // the fastest, or within the range of the fastest
	ByTrial                    // its latency was unknown
	ByCondition                // the conditions of targets left it as the first
	ByBudget                   // a budget could not pay for the targets in front
	AfterRest                  // those in front rested
	AfterBusy                  // those in front had too many requests at once
	AfterLimit                 // those in front had used up a limit of their calls
	Unfit                      // those in front could not take the request
	Fallback                   // another target had failed
	Repeated                   // the target itself was asked before, with another API key or without an answer
	ByObject                   // it stores what the request names
	OfConnection               // the WebSocket leads to it
	Hedged                     // another target had no content after a time, and this one was faster
)

var choices = [...]string{
	"", "weight", "session", "split", "cost", "latency", "trial", "condition", "budget", "rests", "busy", "limited", "unsuitable",
	"fallback", "repeated", "object", "socket", "hedge",
}

// String returns the choice in one word, such as "latency"; "" for First.
func (c Choice) String() string { return choices[c] }

// ChoiceOver returns why the next target is asked after others were not, for a reason.
func ChoiceOver(why Reason) Choice {
	switch why {
	case Busy:
		return AfterBusy
	case Unsuitable:
		return Unfit
	case Costly:
		return ByBudget
	case Limited:
		return AfterLimit
	case Unmet:
		return ByCondition
	}
	return AfterRest
}
