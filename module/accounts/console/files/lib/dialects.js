// What the playground knows of the formats: how a request is written, and what an answer says.
import { addressOf } from './route.js';

/** @typedef {{role: 'user'|'assistant', text: string, image?: string}} Turn  image is a data URL */
/** @typedef {{name: string, description: string, schema: unknown}} Tool */
/** @typedef {{model: string, system: string, turns: Turn[], tools: Tool[], max: number, stream: boolean, temperature?:
 * number, effort?: string, schema?: any}} Wanted */
/** @typedef {{kind: 'text'|'reasoning'|'call', text: string, name?: string, begins?: boolean}} Piece */
/** @typedef {{path: (wanted: {model: string, stream: boolean}) => string, headers?: Record<string, string>, plain?:
 * boolean, body: (wanted: Wanted) => any, event: (event: any) => Piece[], whole: (answer: any) => Piece[], sdk:
 * [string, string, string]}} Dialect */

const text = (/** @type {string|undefined|null} */ value) =>
	value ? [/** @type {Piece} */ ({ kind: 'text', text: value })] : [];
const reasoning = (/** @type {string|undefined|null} */ value) =>
	value ? [/** @type {Piece} */ ({ kind: 'reasoning', text: value })] : [];
const called = (/** @type {string|undefined} */ name, /** @type {string} */ input) => [
	/** @type {Piece} */ ({ kind: 'call', name, text: input ?? '', begins: Boolean(name) }),
];

/** source returns the image of a messages request. @param {string} url */
function source(url) {
	const [, media, data] = /^data:([^;]+);base64,(.*)$/s.exec(url) ?? [];
	return { type: 'base64', media_type: media, data };
}

/** inline returns the image of a gemini request. @param {string} url */
function inline(url) {
	const { media_type, data } = source(url);
	return { inlineData: { mimeType: media_type, data } };
}

const geminiPieces = (/** @type {any} */ answer) =>
	(answer.candidates?.[0]?.content?.parts ?? []).flatMap((/** @type {any} */ part) =>
		part.functionCall
			? called(part.functionCall.name, JSON.stringify(part.functionCall.args ?? {}))
			: part.thought
				? reasoning(part.text)
				: text(part.text),
	);

const chatCalls = (/** @type {any} */ message) =>
	(message.tool_calls ?? []).flatMap((/** @type {any} */ call) =>
		called(call.function?.name, call.function?.arguments),
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
			messages: w.turns.map((turn) => ({
				role: turn.role,
				content: turn.image
					? [
							{ type: 'image', source: source(turn.image) },
							{ type: 'text', text: turn.text },
						]
					: turn.text,
			})),
			...(w.tools.length > 0 && {
				tools: w.tools.map((tool) => ({ name: tool.name, description: tool.description, input_schema: tool.schema })),
			}),
			...(w.stream && { stream: true }),
		}),
		event: (e) =>
			e.type === 'content_block_start' && e.content_block.type === 'tool_use'
				? called(e.content_block.name, '')
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
					? called(block.name, JSON.stringify(block.input))
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
			messages: [
				...(w.system ? [{ role: 'system', content: w.system }] : []),
				...w.turns.map((turn) => ({
					role: turn.role,
					content: turn.image
						? [
								{ type: 'image_url', image_url: { url: turn.image } },
								{ type: 'text', text: turn.text },
							]
						: turn.text,
				})),
			],
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
			input: w.turns.map((turn) => ({
				role: turn.role,
				content: [
					...(turn.image ? [{ type: 'input_image', image_url: turn.image }] : []),
					{ type: turn.role === 'user' ? 'input_text' : 'output_text', text: turn.text },
				],
			})),
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
						? called(e.item.name, '')
						: e.type === 'response.function_call_arguments.delta'
							? called(undefined, e.delta)
							: [],
		whole: (a) =>
			(a.output ?? []).flatMap((/** @type {any} */ item) =>
				item.type === 'function_call'
					? called(item.name, item.arguments)
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
			contents: w.turns.map((turn) => ({
				role: turn.role === 'user' ? 'user' : 'model',
				parts: [...(turn.image ? [inline(turn.image)] : []), { text: turn.text }],
			})),
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

/** curl returns the request as a command. @param {Dialect} dialect @param {any} body @param {string} path */
export const curl = (dialect, body, path) =>
	`curl '${addressOf(path)}' \\\n  -H "Authorization: Bearer $GATEWAY_KEY" \\\n${Object.entries(dialect.headers ?? {})
		.map(([name, value]) => `  -H "${name}: ${value}" \\\n`)
		.join('')}  -H "content-type: application/json" \\\n  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`;

/** typescript returns the request as a program; "" for formats without a library.
 * @param {Dialect} dialect @param {any} body */
export function typescript(dialect, body) {
	const [library, method, base] = dialect.sdk;
	if (!library) return '';
	return [
		`import ${library};`,
		'',
		`const client = new ${library.split(' ')[0]}({ baseURL: "${addressOf(base)}", apiKey: process.env.GATEWAY_KEY });`,
		`const answer = await client.${method}(${JSON.stringify(body, null, 2)});`,
	].join('\n');
}

/** python returns the request as a program; "" for formats without a library.
 * @param {Dialect} dialect @param {any} body */
export function python(dialect, body) {
	const [library, method, base] = dialect.sdk;
	if (!library) return '';
	const client = library.split(' ')[0];
	const address = JSON.stringify(addressOf(base));
	return [
		'import os',
		`from ${client.toLowerCase()} import ${client}`,
		'',
		`client = ${client}(base_url=${address}, api_key=os.environ["GATEWAY_KEY"])`,
		`answer = client.${method}(`,
		...Object.entries(body).map(([name, value]) => `    ${name}=${literal(value)},`),
		')',
	].join('\n');
}

/** literal returns a value of JSON as Python writes it. @param {any} value @returns {string} */
function literal(value) {
	if (value === null) return 'None';
	if (typeof value === 'boolean') return value ? 'True' : 'False';
	if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
	if (typeof value === 'object')
		return `{${Object.entries(value)
			.map(([name, each]) => `${JSON.stringify(name)}: ${literal(each)}`)
			.join(', ')}}`;
	return JSON.stringify(value);
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
