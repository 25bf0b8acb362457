// Package singleanswer contains what the formats share whose answers are one turn, and not a list of
// choices: a Parser and an Emitter for those of the formats to embed, and an observer and an
// inspection that follow from the parser.
package singleanswer
