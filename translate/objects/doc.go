// Package objects contains where the APIs of vendors have the ids of the objects that they store: in
// paths, in requests and in answers.
//
// It promises that only named places are read as ids, so that no text of a user is taken for one. What is
// not in its tables is not known to belong to anybody.
package objects
