// Package parts reads and writes the content of messages as the formats of OpenAI
// have it: one text, or an array of parts, in which images and files are URLs.
package parts
