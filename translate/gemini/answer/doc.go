// Package answer reads answers of the gemini format. It promises that a stream without a
// reason for its end never becomes a finished answer, since the format has no last event, and
// that signatures of the model's thoughts keep their parts.
package answer
