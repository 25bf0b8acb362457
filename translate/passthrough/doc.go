// Package passthrough contains the endpoints of OpenAI's API beside text: embeddings, rerank,
// moderations, images and audio.
//
// It promises that requests and answers pass byte for byte: only the name of the model
// changes, and vectors of a provider that ignores the encoding a client asked for. It reads
// what the gateway needs of them: the model, and the usage.
//
// It refuses requests that a provider might read in another way, such as those with two
// models (wire format F.5).
package passthrough
