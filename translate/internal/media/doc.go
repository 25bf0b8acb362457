// Package media is the table of media types: which kind of content a type is, and its name in
// the formats. It reads data URLs and base64 in the forms in which clients write them.
package media
