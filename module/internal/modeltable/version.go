package modeltable

import (
	"bytes"
	"slices"
	"strings"
)

// otherModels are words in names that make a name that of another model, and not that of a version:
// of a model that does not answer with text alone, whose tokens of images and sound have prices of
// their own, or of a larger or smaller one.
var otherModels = strings.Fields(`
	image images imagine video tts speech voice audio music live realtime transcribe transcription diarize translate
	embedding embed rerank ocr omni
	nano micro mini lite small medium large plus pro max ultra heavy fast turbo`)

// IsOtherModel reports whether the text that a "*" at the end of a name matches makes it the name of
// another model, such as "-tts-preview" behind gemini-3.8-flash.
func IsOtherModel(rest string) bool {
	words := strings.FieldsFunc(strings.ToLower(rest), func(r rune) bool { return strings.ContainsRune("-_.:/@", r) })
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(otherModels, word) })
}

// isVersion reports whether the end of a plain name is one of a version: a date, a number of two
// digits or more, or a word for whichever version the service chooses. A single digit may be a part
// of the name of another model.
func isVersion(end []byte) bool {
	for word := range bytes.SplitSeq(bytes.TrimPrefix(end, []byte("-")), []byte("-")) {
		isNumber := len(word) > 1 && len(bytes.Trim(word, "0123456789")) == 0
		if len(word) > 0 && !isNumber && !slices.Contains(versions, string(word)) {
			return false
		}
	}
	return true
}

var versions = strings.Fields("latest default stable preview beta exp experimental")
