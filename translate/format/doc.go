// Package format is what can be known of a wire format: the Descriptor.
//
// It promises that whoever serves clients or calls providers need not know which
// format it has: every difference between formats is a field of the Descriptor.
// It holds no format itself. The package of each has its Descriptor, and package
// formats lists them.
package format
