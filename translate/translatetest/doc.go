// Package translatetest reads event streams as strictly as official clients do: it adds
// up the events of a stream to a JSON answer, and refuses a stream that breaks a law on
// which those clients rely. It also contains the fuzz targets that the formats have in
// common. Only tests import it.
package translatetest
