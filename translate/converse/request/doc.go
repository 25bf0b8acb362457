// Package request writes requests of the converse format: of Converse, ConverseStream and
// CountTokens.
//
// It promises what strict services ask for: messages that begin with the user and whose roles
// alternate, the results of one turn together and in front of everything else, no blank texts,
// the declaration of tools wherever the conversation has calls, and a text beside each document.
package request
