// Package texts finds the texts in requests and answers, for those who check or log them, and
// puts changed texts back.
//
// It promises that no string, long number and name of a member of a body is missing, but those that
// Unseen lists: what the reader or the parser of the format does not recognise is a text of the
// kind Other. Escapes of JSON are undone. All bytes around a text that is put back stay as they
// are, and the result is valid JSON. Reasoning that a provider has signed or encrypted is never
// changed.
//
// It refuses what is no text: images, files and audio, as base64 or in the parts of a form.
package texts
