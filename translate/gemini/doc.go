// Package gemini is the format of Google's Gemini API: generateContent, streamGenerateContent
// and countTokens. The name of the model and the kind of the answer are in the path, not in the
// body.
package gemini
