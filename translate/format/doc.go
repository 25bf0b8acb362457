// Package format contains the Descriptor: all properties of a wire format.
//
// It promises that code which serves clients or calls providers does not depend on a
// format: every difference between formats is a field of the Descriptor. The package of
// each format has its Descriptor, and package formats lists them.
package format
