package responses

// defaultSettings are the members of a response that repeat its request, for one
// that set nothing. Each has a comma before it.
const defaultSettings = `,"background":false,"instructions":null,"max_output_tokens":null,"max_tool_calls":null` +
	`,"metadata":{},"parallel_tool_calls":true,"previous_response_id":null,"reasoning":{"effort":null,"summary":null}` +
	`,"store":false,"temperature":1,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"top_p":1` +
	`,"truncation":"disabled"`
