// Package answer reads and writes answers of the gemini format. It promises that a stream
// without a reason for its end never becomes a finished answer, since the format has no last
// event, that signatures of the model's thoughts keep their parts, and that clients get no call
// which is not complete.
package answer
