// Package demo is a provider without a model: one HTTP handler that speaks
// every wire format, so that a stranger sees the gateway work without any
// account, and tests have a strict and honest counterpart.
//
// It promises answers in the public shapes of the formats, JSON and streamed,
// and the same answer for the same request, except for the time of creation. It
// refuses what the public services refuse, in the error body of the format. It
// holds no state: it refuses to continue conversations by the id of an answer,
// reads no file and calls nobody.
//
// Package reply decides what is answered. Each format is a package below wire,
// listed in formats.go, which reads requests and writes answers without knowing
// the others. This package serves them over HTTP, keeps the pace of streams, and
// carries out the faults of the connection.
//
// # What it answers
//
// The text names the model and the format, repeats the last user text,
// shortened, and counts the messages. One word is one token, for max_tokens
// and usage alike. When the prompt names an offered tool beside the word "use"
// or "call", or tool_choice demands one, it is called with arguments that its
// schema requires; several named tools are called in parallel. Tool results
// are quoted in the next answer. Reasoning comes when the request asks for it.
//
// # Directives
//
// Words in double square brackets in the last user text change the answer.
//
//	[[words:500]]                 add 500 numbered words to the text
//	[[tool NAME {"a":1}]]         call this tool with these arguments; repeatable
//	[[tool NAME {"input":"x"}]]   call this custom tool with this text
//	[[think]]                     reason even when it was not asked for
//	[[refuse]]                    decline to answer, as a model does
//	[[filter]]                    break the text off, as a content filter does
//	[[fault:503]]                 answer this error status; retry-after=7 and
//	                              code=insufficient_quota may follow
//	[[fault:reset]]               reset the connection before any header
//	[[fault:cut]]                 break the connection off in mid-answer
//	[[fault:stall]]               fall silent in mid-answer until the client leaves
//	[[fault:error-event]]         fail in mid-stream; in JSON: 200 with an error body,
//	                              or a response that failed; code=rate_limit_exceeded
//	                              may follow
//	[[fault:first-event-error]]   fail with the first event of a stream
//	[[fault:garbage]]             end with an event, or a body, that is not JSON
//	[[fault:html]]                answer a proxy's HTML page: 502, or status=200
//	[[fault:empty-body]]          answer 200 and nothing else
//	[[fault:no-done]]             leave out the terminal event of a stream
//	[[fault:no-finish]]           end the stream before its finish, without a break
//	[[fault:no-usage]]            count nothing
//	[[fault:no-signature]]        think without a signature
//	[[fault:null-content]]        say nothing, and write null for it
//	[[fault:too-long]]            refuse the prompt as too long for the context
//	[[fault:slow-headers=2s]]     send the headers late
//	[[fault:slow-first=2s]]       send the headers at once, the first event late
//	[[fault:gzip]]                compress the answer although nobody asked for it
//	[[fault:crlf]]                end the lines of a stream with CR LF
//	[[fault:burst]]               send a stream in one piece, once it is complete
//	[[fault:json]]                answer a streaming request with one JSON body
//
// A response that fails in mid-stream ends with response.failed, one that fails
// with the first event has the error event alone.
//
// The faults of mid-stream come after three pieces of content; after=N moves
// them. Several directives may be given. An unknown one is refused with 400.
package demo
