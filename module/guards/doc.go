// Package guards contains the guards of the gateway, or guardrails: regex finds checked kinds of
// data and patterns, webhook asks another service, and tools allows tools by their names.
//
// It promises that no verdict, log or error contains a text, and that every call of a service
// and every answer of one is bounded. It refuses patterns that cannot be replaced in a stream
// without a part of them being sent.
package guards
