// Package translatetest reads event streams the way official clients do, for
// tests: it adds up the events of a stream to the JSON answer that they amount
// to, and refuses a stream that breaks one of the laws which those clients rely
// on. Only tests import it.
package translatetest
