// Package openai contains the code that the chat and completions formats share:
// answers and stream chunks that are lists of choices, their usage, their errors, and
// options of requests.
//
// Answers that are relayed unchanged are read leniently: members that are unknown, or
// of an unexpected kind, are ignored. A Parser, whose answers are translated, refuses
// an answer that it cannot read.
package openai
