// Package parts reads and writes what requests of the chat and responses formats have in
// common: turns, whose content is one text or an array of parts, in which images and files
// are URLs; breakpoints of the cache; tools; and options, some of which the completions
// format has, too.
package parts
