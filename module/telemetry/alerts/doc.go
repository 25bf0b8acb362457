// Package alerts decides which events of the gateway need somebody, puts them in words, and shows
// the latest ones and whether they are over. It also puts reports of the spend in words. The webhook that
// sends both is in the folder below.
//
// It refuses events that every request could cause.
package alerts
