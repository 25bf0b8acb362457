// Package signal contains the meaning of an event of a stream for the code that relays
// it: whether the answer has begun, has ended or has failed. An Observer returns the
// signals of each event, and never changes a byte.
package signal
