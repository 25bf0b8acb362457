// Package demo is a provider without a model: an HTTP handler that speaks every wire
// format. With it, users can try the gateway without an account, and tests have a provider.
//
// A request is checked by the strict pass of its format, and read by the reader of the format.
// Package reply composes the answer in the words of no format, and the emitter of the format
// writes it, as JSON or as a stream. So a format that is added to package formats has a demo
// without further code. This package serves HTTP, paces streams, and carries out the faults of the
// connection.
//
// The same request gets the same answer, except for the time of creation. The handler keeps no
// state, so it refuses to continue a conversation by the id of an answer. It reads no files and
// makes no calls.
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
// Words in double square brackets in the last text of the user change the answer.
//
//	[[words:500]]                 add 500 numbered words to the text
//	[[tool NAME {"a":1}]]         call this tool with these arguments; repeatable
//	[[tool NAME {"input":"x"}]]   call this tool, which takes text, with this text
//	[[think]]                     reason even if the request does not ask for it
//	[[refuse]]                    decline to answer, as a model does
//	[[filter]]                    cut the text off, as a content filter does
//	[[fault:503]]                 answer this error status; retry-after=7 and
//	                              code=insufficient_quota may follow
//	[[fault:reset]]               reset the connection before any header
//	[[fault:cut]]                 break the connection off in mid-answer
//	[[fault:stall]]               send nothing more in mid-answer until the client disconnects
//	[[fault:error-event]]         fail in mid-stream; in JSON: 200 with an error body;
//	                              code=rate_limit_exceeded may follow
//	[[fault:first-event-error]]   fail with the first event of a stream
//	[[fault:garbage]]             end with an event, or a body, that is not JSON
//	[[fault:html]]                answer a proxy's HTML page: 502, or status=200
//	[[fault:empty-body]]          answer 200 with an empty body
//	[[fault:no-done]]             leave out the terminal event of a stream
//	[[fault:no-finish]]           end the stream before its finish, without a break
//	[[fault:no-usage]]            leave out the usage, or write zeros
//	[[fault:no-signature]]        think with an empty signature, or without one
//	[[fault:no-content]]          answer without content
//	[[fault:too-long]]            refuse the prompt as too long for the context
//	[[fault:slow-headers=2s]]     send the headers late
//	[[fault:slow-first=2s]]       send the headers at once, the first event late
//	[[fault:gzip]]                compress the answer although the request does not accept it
//	[[fault:crlf]]                end the lines of a stream with CR LF
//	[[fault:burst]]               send a stream in one piece, once it is complete
//	[[fault:json]]                answer a streaming request with one JSON body
//
// The faults of mid-stream happen after three pieces of content; after=N changes the
// number. A prompt may contain several directives. An unknown one is refused with 400.
package demo
