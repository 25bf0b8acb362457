// Package translatetest holds the fuzz targets that the formats have in common, the laws
// that they check, and transcripts of core events. Only tests import it.
package translatetest
