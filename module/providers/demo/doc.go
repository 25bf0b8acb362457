// Package demo is a provider without a model: an HTTP handler that speaks every wire
// format. With it, users can try the gateway without an account, and tests have a strict
// provider.
//
// Answers have the public shapes of the formats, as JSON and as streams. The same request
// gets the same answer, except for the time of creation. The handler refuses what the
// public services refuse, in the error body of the format. It keeps no state, so it
// refuses to continue a conversation by the id of an answer. It reads no files and makes
// no calls.
//
// Package reply composes the content of answers. Each format is a package below wire,
// listed in formats.go, which reads requests and writes answers independently of the other
// formats. This package serves HTTP, paces streams, and carries out the faults of the
// connection.
//
// # What it answers
//
// The text names the model and the format, repeats the last user text, shortened, and
// counts the messages. One word is one token, in max_tokens and in usage. If the prompt
// contains the name of an offered tool and the word "use" or "call", or tool_choice demands
// a tool, the tool is called with arguments that its schema requires. Several named tools
// are called in parallel. The next answer quotes the results of tools. The answer has
// reasoning if the request asks for it.
//
// # Directives
//
// Words in double square brackets in the last user text change the answer.
//
//	[[words:500]]                 add 500 numbered words to the text
//	[[tool NAME {"a":1}]]         call this tool with these arguments; repeatable
//	[[tool NAME {"input":"x"}]]   call this custom tool with this text
//	[[think]]                     reason even if the request does not ask for it
//	[[refuse]]                    decline to answer, as a model does
//	[[filter]]                    cut the text off, as a content filter does
//	[[fault:503]]                 answer this error status; retry-after=7 and
//	                              code=insufficient_quota may follow
//	[[fault:reset]]               reset the connection before any header
//	[[fault:cut]]                 break the connection off in mid-answer
//	[[fault:stall]]               send nothing more in mid-answer until the client disconnects
//	[[fault:error-event]]         fail in mid-stream; in JSON: 200 with an error body,
//	                              or a response that failed; code=rate_limit_exceeded
//	                              may follow
//	[[fault:first-event-error]]   fail with the first event of a stream
//	[[fault:garbage]]             end with an event, or a body, that is not JSON
//	[[fault:html]]                answer a proxy's HTML page: 502, or status=200
//	[[fault:empty-body]]          answer 200 with an empty body
//	[[fault:no-done]]             leave out the terminal event of a stream
//	[[fault:no-finish]]           end the stream before its finish, without a break
//	[[fault:no-usage]]            leave out the usage, or write zeros
//	[[fault:no-signature]]        think without a signature
//	[[fault:null-content]]        write null in place of the content
//	[[fault:too-long]]            refuse the prompt as too long for the context
//	[[fault:slow-headers=2s]]     send the headers late
//	[[fault:slow-first=2s]]       send the headers at once, the first event late
//	[[fault:gzip]]                compress the answer although the request does not accept it
//	[[fault:crlf]]                end the lines of a stream with CR LF
//	[[fault:burst]]               send a stream in one piece, once it is complete
//	[[fault:json]]                answer a streaming request with one JSON body
//
// A response that fails in mid-stream ends with response.failed; one that fails with the
// first event has only the error event.
//
// The faults of mid-stream happen after three pieces of content; after=N changes the
// number. A prompt may contain several directives. An unknown one is refused with 400.
package demo
