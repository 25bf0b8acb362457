// What the playground sends, as links and this browser keep it.
import { dialects, merged, turn } from './dialects.js';

/** @typedef {import('./dialects.js').Turn} Turn */
/** @typedef {{format: string, model: string}} Lane */
/** @typedef {{lanes: Lane[], system: string, turns: Turn[], tools: string, max: number, stream: boolean, temperature:
 * string, effort: string, schema: string, more: string}} Settings  the last two, and tools, are JSON */

export const mostLanes = 4;

/** @type {Settings} */
const blank = {
	lanes: [{ format: 'chat', model: '' }],
	system: '',
	turns: [turn('user', 'Hello')],
	tools: '',
	max: 400,
	stream: true,
	temperature: '',
	effort: '',
	schema: '',
	more: '',
};

/** texts reports whether members of a value are texts. @param {any} of @param {string[]} names */
const texts = (of, ...names) => names.every((name) => typeof of[name] === 'string');

/** written returns a text that keeps settings, without files, and with the name of a model for those that have none,
 * since others have other lists.
 * @param {Settings} settings @param {string} model */
export const written = (settings, model) =>
	JSON.stringify({
		...settings,
		lanes: settings.lanes.map((lane) => ({ ...lane, model: lane.model || model })),
		turns: settings.turns.map((each) => ({ ...each, files: undefined })),
	});

/** read returns the settings of a text that anyone may have written; those of an empty page if it has none.
 * @param {string|null|undefined} text @returns {Settings} */
export function read(text) {
	try {
		const given = { ...blank, ...JSON.parse(text ?? '{}') };
		given.turns = given.turns.map((/** @type {any} */ each) => ({ ...turn('user', ''), ...each, files: [] }));
		const valid =
			given.lanes.length > 0 &&
			given.lanes.length <= mostLanes &&
			given.lanes.every((/** @type {any} */ lane) => Object.hasOwn(dialects, lane.format) && texts(lane, 'model')) &&
			given.turns.length > 0 &&
			given.turns.every(
				(/** @type {any} */ each) =>
					texts(each, 'text') &&
					['user', 'assistant'].includes(each.role) &&
					each.calls.every((/** @type {any} */ call) => texts(call, 'id', 'name', 'input')) &&
					each.results.every((/** @type {any} */ result) => texts(result, 'id', 'name', 'text')),
			) &&
			texts(given, 'tools', 'system', 'temperature', 'effort', 'schema', 'more') &&
			typeof given.max === 'number';
		return valid ? given : blank;
	} catch {
		return blank;
	}
}

/** requestOf returns the request of a lane. @param {Settings} settings @param {Lane} lane @param {string} model */
export function requestOf(settings, lane, model) {
	const dialect = dialects[lane.format];
	const json = (/** @type {string} */ text) => (dialect.plain ? '' : text.trim()); // not shown there
	const wanted = {
		...settings,
		model: lane.model || model,
		tools: JSON.parse(json(settings.tools) || '[]'),
		temperature: settings.temperature === '' ? undefined : Number(settings.temperature),
		schema: JSON.parse(json(settings.schema) || 'null'),
	};
	return {
		format: lane.format,
		path: dialect.path(wanted),
		body: merged(dialect.body(wanted), JSON.parse(settings.more.trim() || '{}')),
	};
}
