package prices

import "strings"

// otherKinds are words in the names of models that do not answer with text alone. Their tokens
// of images and sound have prices of their own.
var otherKinds = map[string]bool{
	"image": true, "images": true, "imagine": true, "video": true, "tts": true, "speech": true, "voice": true, "audio": true,
	"music": true, "live": true, "realtime": true, "transcribe": true, "transcription": true, "diarize": true, "translate": true,
	"embedding": true, "embed": true, "rerank": true, "ocr": true, "omni": true,
}

// isOtherKind reports whether the text that a "*" matches makes a name that of a model of
// another kind, such as "-tts-preview" behind gemini-3.8-flash. Versions do not.
func isOtherKind(rest string) bool {
	words := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("-_.:/@", r) })
	for _, word := range words {
		if otherKinds[strings.ToLower(word)] {
			return true
		}
	}
	return false
}
