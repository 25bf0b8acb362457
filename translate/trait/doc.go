// Package trait describes the traits of providers: what a provider, or one of
// its models, accepts beyond its format or refuses within it. One table lists
// the names, values and defaults of the traits for configurations.
//
// No trait depends on the name of a vendor.
package trait
