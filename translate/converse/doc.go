// Package converse is the format of Converse and ConverseStream in Amazon Bedrock, and of its
// counts of tokens. It is a format of providers only. The name of the model and the kind of the
// answer are in the path, not in the body. The messages of the service's event streams have
// become server-sent events with the same names and data.
package converse
