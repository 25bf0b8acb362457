// Package token counts tokens: Counts, Usage as providers report it, and estimates of what
// requests cost.
//
// An estimate is never shown as usage.
package token
