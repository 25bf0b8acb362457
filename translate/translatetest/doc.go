// Package translatetest holds the fuzz targets that the formats have in common, and the laws
// that they check. Only tests import it.
package translatetest
