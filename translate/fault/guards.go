package fault

import "fmt"

// The faults of this file refuse texts that a guard does not let pass.

// codeBlocked is the code of requests and answers that a guard blocks.
const codeBlocked = "content_blocked"

// ContentBlocked refuses a request whose text is blocked by a rule of a guard. A client that
// keeps the message in its conversation gets the same fault again.
func ContentBlocked(guard, rule string) *Fault {
	return &Fault{
		Kind: Invalid, Code: codeBlocked, Final: true,
		Message: fmt.Sprintf("the request is blocked by the guard '%s', rule '%s': remove what the rule forbids, also from earlier messages", guard, rule),
	}
}

// AnswerBlocked ends an answer whose text is blocked by a rule of a guard.
func AnswerBlocked(guard, rule string) *Fault {
	return &Fault{
		Kind: Invalid, Code: codeBlocked, Final: true,
		Message: fmt.Sprintf("the answer is blocked by the guard '%s', rule '%s'", guard, rule),
	}
}

// ReferenceBlocked refuses a request with a field that refers to texts which the gateway cannot
// show to a guard.
func ReferenceBlocked(guard, path string) *Fault {
	return &Fault{
		Kind: Invalid, Code: codeBlocked, Param: path, Final: true,
		Message: fmt.Sprintf("%s: refers to a content that the guard '%s' cannot check: send the content itself", path, guard),
	}
}

// GuardFailed refuses a text that a guard could not check.
func GuardFailed(guard string, cause error) *Fault {
	return &Fault{
		Kind: Overloaded, Code: "guard_unavailable",
		Message: fmt.Sprintf("the guard '%s' cannot check the content right now", guard), Cause: cause,
	}
}
