// Package modelcard reads and writes lists of models.
//
// Lists of providers are read in any of their shapes. A size that a provider does
// not state is not written.
package modelcard
