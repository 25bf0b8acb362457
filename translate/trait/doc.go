// Package trait holds the traits of providers: what a provider, or one of its
// models, accepts beyond its format or refuses within it. One table has their
// names, values and defaults as configurations write them.
//
// No trait depends on the name of a vendor.
package trait
