// Package choices is what the chat and completions formats share: answers and
// stream chunks that are lists of choices, their usage, their errors, and options
// of requests.
//
// It promises to read answers generously, since they are relayed and not
// judged: a member it does not know, or that is of another kind than it ought
// to be, says nothing. A parser, whose answers are translated, refuses what it
// cannot read at all, since nobody behind it could.
package choices
