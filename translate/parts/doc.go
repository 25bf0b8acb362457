// Package parts reads and writes the content of messages in the chat and responses
// formats: one text, or an array of parts, in which images and files are URLs. It also
// has the options that these formats and the completions format have in common.
package parts
