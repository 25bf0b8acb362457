// Package answer reads answers of the converse format. It promises that a stream without the
// reason for its end never becomes a finished answer, that an answer which the model has written
// wrongly is an error, and that clients get the usage that follows the reason.
package answer
