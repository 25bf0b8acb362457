package texts

// Unseen are the parts of requests and answers that are no texts, as the pages for users list them.
// What is not among them is a text of OfRequest or of an Answer, which a test checks.
var Unseen = []string{
	"images, audio and files: as base64, in forms, or behind an address",
	"texts in other encodings, such as base64 within a text",
	"the name of the model, and the words of a format: the names of its members, and in answers all names of members that consist of letters and underscores and begin with a small letter",
	"numbers of fewer than 12 digits, as they are without an exponent, and numbers that are divided between several values",
	"signatures, encrypted reasoning, and other values by which a provider recognises what it has written",
	"what a provider keeps",
	"texts as numbers of tokens",
}
