// Package edit changes single values of a JSON body and leaves all other bytes as
// they are.
package edit
