// What the playground knows of the formats: how a request is written, and what an answer says.

/** @typedef {{name: string, url: string}} Attached  an image or a document, as a data URL */
/** @typedef {{id: string, name: string, input: string, signature?: string}} Call  of a tool; the input is JSON, and
 * gemini has a signature for what it thought before */
/** @typedef {{id: string, name: string, text: string}} Result  of a call */
/** @typedef {{role: 'user'|'assistant', text: string, files: Attached[], calls: Call[], results: Result[]}} Turn */
/** @typedef {{name: string, description: string, schema: unknown}} Tool */
/** @typedef {{model: string, system: string, turns: Turn[], tools: Tool[], max: number, stream: boolean, temperature?:
 * number, effort?: string, schema?: any}} Wanted */
/** @typedef {{kind: 'text'|'reasoning'|'call', text: string, name?: string, id?: string, signature?: string, begins?:
 * boolean}} Piece */
/** @typedef {{path: (wanted: {model: string, stream: boolean}) => string, headers?: Record<string, string>, plain?:
 * boolean, body: (wanted: Wanted) => any, event: (event: any) => Piece[], whole: (answer: any) => Piece[], sdk:
 * [string, string, string]}} Dialect */

const text = (/** @type {string|undefined|null} */ value) =>
	value ? [/** @type {Piece} */ ({ kind: 'text', text: value })] : [];
const reasoning = (/** @type {string|undefined|null} */ value) =>
	value ? [/** @type {Piece} */ ({ kind: 'reasoning', text: value })] : [];
/** called is a call that begins, or the next part of its input if it has no name.
 * @param {string|undefined} name @param {string} input @param {string} [id] @param {string} [signature] */
const called = (name, input, id, signature) => [
	/** @type {Piece} */ ({ kind: 'call', name, text: input ?? '', id, signature, begins: Boolean(name) }),
];

/** turn returns a turn that is a text. @param {'user'|'assistant'} role @param {string} text @returns {Turn} */
export const turn = (role, text) => ({ role, text, files: [], calls: [], results: [] });

/** contentOf returns files and text of a turn, as a format writes them. A turn without anything else has a text, even
 * if it is empty.
 * @param {Turn} of @param {(file: Attached) => any} file @param {(text: string) => any} text @returns {any[]} */
const contentOf = (of, file, text) => [
	...of.files.map(file),
	...(of.text || of.files.length + of.calls.length + of.results.length === 0 ? [text(of.text)] : []),
];

const isImage = (/** @type {Attached} */ file) => file.url.startsWith('data:image/');

/** dataIn returns the type and the base64 of a data URL. @param {string} url */
function dataIn(url) {
	const [, media = '', data = ''] = /^data:([^;,]*)[^,]*,(.*)$/s.exec(url) ?? [];
	return { media, data };
}

/** inputOf returns the input of a call. Models may break off in it. @param {Call} call */
function inputOf(call) {
	try {
		return JSON.parse(call.input);
	} catch {
		return {};
	}
}

/** messagesParts returns the parts of a turn of messages. @param {Turn} of */
function messagesParts(of) {
	const file = (/** @type {Attached} */ each) => {
		const { media, data } = dataIn(each.url);
		const source = { type: 'base64', media_type: media, data };
		return isImage(each) ? { type: 'image', source } : { type: 'document', source, title: each.name };
	};
	return [
		...of.results.map(({ id, text }) => ({ type: 'tool_result', tool_use_id: id, content: text })),
		...contentOf(of, file, (text) => ({ type: 'text', text })),
		...of.calls.map((call) => ({ type: 'tool_use', id: call.id, name: call.name, input: inputOf(call) })),
	];
}

/** chatMessages returns the messages of a turn of chat: one for each result, and one for the rest. @param {Turn} of */
function chatMessages(of) {
	const file = (/** @type {Attached} */ each) =>
		isImage(each)
			? { type: 'image_url', image_url: { url: each.url } }
			: { type: 'file', file: { filename: each.name, file_data: each.url } };
	const content = contentOf(of, file, (text) => ({ type: 'text', text }));
	const calls = of.calls.map(({ id, name, input }) => ({ id, type: 'function', function: { name, arguments: input } }));
	return [
		...of.results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text })),
		...(content.length + calls.length > 0
			? [
					{
						role: of.role,
						content: of.files.length > 0 ? content : of.text || (calls.length > 0 ? null : ''),
						...(calls.length > 0 && { tool_calls: calls }),
					},
				]
			: []),
	];
}

/** responsesItems returns the items of a turn of responses. @param {Turn} of */
function responsesItems(of) {
	const file = (/** @type {Attached} */ each) =>
		isImage(each)
			? { type: 'input_image', image_url: each.url }
			: { type: 'input_file', filename: each.name, file_data: each.url };
	const type = of.role === 'user' ? 'input_text' : 'output_text';
	const content = contentOf(of, file, (text) => ({ type, text }));
	return [
		...of.results.map(({ id, text }) => ({ type: 'function_call_output', call_id: id, output: text })),
		...(content.length > 0 ? [{ role: of.role, content }] : []),
		...of.calls.map(({ id, name, input }) => ({ type: 'function_call', call_id: id, name, arguments: input })),
	];
}

/** geminiParts returns the parts of a turn of gemini. @param {Turn} of */
function geminiParts(of) {
	const file = (/** @type {Attached} */ each) => {
		const { media, data } = dataIn(each.url);
		return { inlineData: { mimeType: media, data } };
	};
	return [
		...of.results.map(({ name, text }) => ({ functionResponse: { name, response: { result: text } } })),
		...contentOf(of, file, (text) => ({ text })),
		...of.calls.map((call) => ({
			functionCall: { name: call.name, args: inputOf(call) },
			...(call.signature && { thoughtSignature: call.signature }),
		})),
	];
}

const geminiPieces = (/** @type {any} */ answer) =>
	(answer.candidates?.[0]?.content?.parts ?? []).flatMap((/** @type {any} */ part) =>
		part.functionCall
			? called(
					part.functionCall.name,
					JSON.stringify(part.functionCall.args ?? {}),
					part.functionCall.id,
					part.thoughtSignature,
				)
			: part.thought
				? reasoning(part.text)
				: text(part.text),
	);

const chatCalls = (/** @type {any} */ message) =>
	(message.tool_calls ?? []).flatMap((/** @type {any} */ call) =>
		called(call.function?.name, call.function?.arguments, call.id),
	);
const chatPieces = (/** @type {any} */ message) =>
	message
		? [...reasoning(message.reasoning_content ?? message.reasoning), ...text(message.content), ...chatCalls(message)]
		: [];

/** @type {Record<string, Dialect>} */
export const dialects = {
	messages: {
		path: () => '/v1/messages',
		headers: { 'anthropic-version': '2023-06-01' },
		body: (w) => ({
			model: w.model,
			max_tokens: w.max,
			...(w.temperature !== undefined && { temperature: w.temperature }),
			...((w.effort || w.schema) && {
				output_config: {
					...(w.effort && { effort: w.effort }),
					...(w.schema && { format: { type: 'json_schema', schema: w.schema } }),
				},
			}),
			...(w.system && { system: w.system }),
			messages: w.turns.map((turn) => {
				const parts = messagesParts(turn);
				return { role: turn.role, content: parts.length === 1 && parts[0].type === 'text' ? turn.text : parts };
			}),
			...(w.tools.length > 0 && {
				tools: w.tools.map((tool) => ({ name: tool.name, description: tool.description, input_schema: tool.schema })),
			}),
			...(w.stream && { stream: true }),
		}),
		event: (e) =>
			e.type === 'content_block_start' && e.content_block.type === 'tool_use'
				? called(e.content_block.name, '', e.content_block.id)
				: e.type === 'content_block_delta'
					? [
							...text(e.delta.text),
							...reasoning(e.delta.thinking),
							...(e.delta.partial_json ? called(undefined, e.delta.partial_json) : []),
						]
					: [],
		whole: (a) =>
			(a.content ?? []).flatMap((/** @type {any} */ block) =>
				block.type === 'tool_use'
					? called(block.name, JSON.stringify(block.input), block.id)
					: [...reasoning(block.thinking), ...text(block.text)],
			),
		sdk: ['Anthropic from "@anthropic-ai/sdk"', 'messages.create', ''],
	},
	chat: {
		path: () => '/v1/chat/completions',
		body: (w) => ({
			model: w.model,
			max_tokens: w.max,
			...(w.temperature !== undefined && { temperature: w.temperature }),
			...(w.effort && { reasoning_effort: w.effort }),
			...(w.schema && {
				response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: w.schema } },
			}),
			messages: [...(w.system ? [{ role: 'system', content: w.system }] : []), ...w.turns.flatMap(chatMessages)],
			...(w.tools.length > 0 && {
				tools: w.tools.map((tool) => ({
					type: 'function',
					function: { name: tool.name, description: tool.description, parameters: tool.schema },
				})),
			}),
			...(w.stream && { stream: true, stream_options: { include_usage: true } }),
		}),
		event: (e) => chatPieces(e.choices?.[0]?.delta),
		whole: (a) => chatPieces(a.choices?.[0]?.message),
		sdk: ['OpenAI from "openai"', 'chat.completions.create', '/v1'],
	},
	completions: {
		path: () => '/v1/completions',
		plain: true,
		body: (w) => ({
			model: w.model,
			max_tokens: w.max,
			...(w.temperature !== undefined && { temperature: w.temperature }),
			prompt: [w.system, ...w.turns.map((turn) => turn.text)].filter(Boolean).join('\n\n'),
			...(w.stream && { stream: true, stream_options: { include_usage: true } }),
		}),
		event: (e) => text(e.choices?.[0]?.text),
		whole: (a) => text(a.choices?.[0]?.text),
		sdk: ['OpenAI from "openai"', 'completions.create', '/v1'],
	},
	responses: {
		path: () => '/v1/responses',
		body: (w) => ({
			model: w.model,
			max_output_tokens: w.max,
			...(w.temperature !== undefined && { temperature: w.temperature }),
			...(w.effort && { reasoning: { effort: w.effort } }),
			...(w.schema && { text: { format: { type: 'json_schema', name: 'answer', strict: true, schema: w.schema } } }),
			...(w.system && { instructions: w.system }),
			input: w.turns.flatMap(responsesItems),
			...(w.tools.length > 0 && {
				tools: w.tools.map((tool) => ({
					type: 'function',
					name: tool.name,
					description: tool.description,
					parameters: tool.schema,
				})),
			}),
			...(w.stream && { stream: true }),
		}),
		event: (e) =>
			e.type === 'response.output_text.delta'
				? text(e.delta)
				: e.type.startsWith('response.reasoning') && e.type.endsWith('.delta')
					? reasoning(e.delta)
					: e.type === 'response.output_item.added' && e.item.type === 'function_call'
						? called(e.item.name, '', e.item.call_id)
						: e.type === 'response.function_call_arguments.delta'
							? called(undefined, e.delta)
							: [],
		whole: (a) =>
			(a.output ?? []).flatMap((/** @type {any} */ item) =>
				item.type === 'function_call'
					? called(item.name, item.arguments, item.call_id)
					: [
							...(item.summary ?? []).flatMap((/** @type {any} */ each) => reasoning(each.text)),
							...(item.content ?? []).flatMap((/** @type {any} */ each) =>
								item.type === 'reasoning' ? reasoning(each.text) : text(each.text),
							),
						],
			),
		sdk: ['OpenAI from "openai"', 'responses.create', '/v1'],
	},
	gemini: {
		path: (w) => {
			const model = w.model.split('/').map(encodeURIComponent).join('/');
			return `/v1beta/models/${model}:${w.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
		},
		body: (w) => ({
			...(w.system && { systemInstruction: { parts: [{ text: w.system }] } }),
			contents: w.turns.map((turn) => ({ role: turn.role === 'user' ? 'user' : 'model', parts: geminiParts(turn) })),
			...(w.tools.length > 0 && {
				tools: [
					{
						functionDeclarations: w.tools.map((tool) => ({
							name: tool.name,
							description: tool.description,
							parameters: tool.schema,
						})),
					},
				],
			}),
			generationConfig: {
				maxOutputTokens: w.max,
				...(w.temperature !== undefined && { temperature: w.temperature }),
				...(w.effort && { thinkingConfig: { thinkingLevel: w.effort } }),
				...(w.schema && { responseMimeType: 'application/json', responseJsonSchema: w.schema }),
			},
		}),
		event: (e) => geminiPieces(e),
		whole: (a) => geminiPieces(a),
		sdk: ['', '', ''],
	},
};

/** The tools that are ready to be sent. @type {Record<string, Tool[]>} */
export const tools = {
	weather: [
		{
			name: 'get_weather',
			description: 'Returns the weather of a city',
			schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
		},
	],
	time: [
		{
			name: 'get_time',
			description: 'Returns the time of a zone',
			schema: { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] },
		},
	],
};

/** problem returns the message of an error, in an answer or an event of any format; "" without one.
 * @param {any} content */
export function problem(content) {
	const error = content?.error ?? content?.response?.error ?? (content?.type === 'error' ? content : null);
	return error ? String(error.message ?? JSON.stringify(error)) : '';
}

/** append adds pieces to the parts of an answer: what continues the last part, joins it.
 * @param {Piece[]} parts @param {Piece[]} pieces */
export function append(parts, pieces) {
	const all = [...parts];
	for (const piece of pieces) {
		const last = all.at(-1);
		if (last && last.kind === piece.kind && !piece.begins)
			all[all.length - 1] = { ...last, text: last.text + piece.text };
		else all.push(piece);
	}
	return all;
}

/** answerOf returns the parts of a whole answer, and its error; "" without one.
 * @param {Dialect} dialect @param {string} body @param {boolean} streams */
export function answerOf(dialect, body, streams) {
	const contents = streams ? splitEvents(body).events.map(dataOf).filter(Boolean) : [JSON.parse(body || '{}')];
	const error = contents.map(problem).find(Boolean) ?? '';
	const read = streams ? dialect.event : dialect.whole;
	return { error, parts: error && !streams ? [] : append([], contents.flatMap(read)) };
}

/** continued returns the turns that follow from an answer: the answer itself, and the user's, with a result of each
 * call. What a model thought is not sent to it again.
 * @param {Piece[]} parts @returns {Turn[]} */
export function continued(parts) {
	const calls = parts
		.filter((part) => part.kind === 'call')
		.map(({ id, name = '', text, signature }, n) => ({
			id: id || `call_${n + 1}`,
			name,
			input: text || '{}',
			signature,
		}));
	const texts = parts.filter((part) => part.kind === 'text').map((part) => part.text);
	return [
		{ ...turn('assistant', texts.join('')), calls },
		{ ...turn('user', ''), results: calls.map(({ id, name }) => ({ id, name, text: '' })) },
	];
}

/** splitEvents returns the events of a stream with their ends, whose texts together are the whole, and what is not
 * yet an event.
 * @param {string} stream */
export function splitEvents(stream) {
	const events = stream.split(/(?<=\r?\n\r?\n)/);
	const rest = /\n\r?\n$/.test(stream) ? '' : (events.pop() ?? '');
	return { events, rest };
}

/** dataOf returns the JSON of an event; null without one. @param {string} event */
export function dataOf(event) {
	const data = event
		.split(/\r?\n/)
		.filter((line) => line.startsWith('data:'))
		.map((line) => line.slice(5).trim())
		.join('\n');
	try {
		return JSON.parse(data);
	} catch {
		return null; // [DONE], or a comment
	}
}

/** merged returns a request with the fields of another, objects joined.
 * @param {any} body @param {any} more @returns {any} */
export function merged(body, more) {
	const joins = (/** @type {any} */ value) => value && typeof value === 'object' && !Array.isArray(value);
	if (!joins(body) || !joins(more)) return more;
	const all = { ...body };
	for (const [name, value] of Object.entries(more))
		all[name] = Object.hasOwn(body, name) ? merged(body[name], value) : value;
	return all;
}
