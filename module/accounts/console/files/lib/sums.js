// Sums of the ledger: by what they are split, what they measure, and where the exchanges of one are listed.
import { query } from './api.js';
import { local, money, plural, short } from './format.js';
import { keyName } from './names.js';
import { oneOf, root } from './route.js';

/** @typedef {import('./api.js').Schemas['UsageSum'] & Record<string, any>} Sum */

export const dimensions = /** @type {[string, string][]} */ ([
	['model', 'Model'],
	['key', 'Key'],
	['provider', 'Provider'],
	['user', 'User'],
	['limit', 'Limit or team'],
	['outcome', 'Outcome'],
]);

/** isLabel reports whether a dimension is a label, which not all requests have. @param {string} by */
export const isLabel = (by) => by === 'customer' || by.startsWith('tag:');

/** titleOf returns the name of a dimension. @param {string} by */
export const titleOf = (by) =>
	by.startsWith('tag:')
		? `Tag ${by.slice('tag:'.length)}`
		: by === 'customer'
			? 'Customer'
			: (dimensions.find(([name]) => name === by)?.[1] ?? by);

/** fieldOf returns the member of a sum with the value of a dimension. @param {string} by */
export const fieldOf = (by) => (by.startsWith('tag:') ? 'tag' : by);

/** dimensionOf returns the dimension that the address names, if it suits its filters: a query has one label.
 * @param {URLSearchParams} settings */
export function dimensionOf(settings) {
	const by = settings.get('by') ?? '';
	const tag = settings.get('tag') ?? '';
	const only = tag ? `tag:${tag.split('=', 1)[0]}` : settings.get('customer') ? 'customer' : '';
	return isLabel(by) && (!only || only === by) ? by : oneOf('by', [...dimensions, ['kind', '']], 'model');
}

/** filtersOf returns the filters that select the exchanges of a sum. @param {Sum} sum @param {string[]} split */
export const filtersOf = (sum, split) =>
	Object.fromEntries(
		split.map((by) =>
			by.startsWith('tag:')
				? ['tag', `${by.slice('tag:'.length)}=${sum.tag}`]
				: [by === 'limit' ? 'limit_name' : by, sum[by] ?? ''],
		),
	);

/** exchangesOf returns the address of the exchanges of a sum, in the range and with the filters of a page.
 * @param {Record<string, string>} of @param {Sum} [sum] @param {string[]} [split] */
export const exchangesOf = (of, sum, split = []) =>
	query(`${root}exchanges`, { ...of, ...(sum && filtersOf(sum, split)) });

/** input returns all tokens that were read. @param {Sum} sum */
export const input = (sum) => sum.input_tokens + sum.cache_read_tokens + sum.cache_write_tokens;

/** Measure is what a chart shows of sums: the value of a sum, its text, and the measure of the API that ranks names.
 * @typedef {{title: string, of: (sum: Sum) => number, text: (n: number, currency: string) => string, rank: string}}
 * Measure */

export const measures = /** @type {Record<string, Measure>} */ ({
	cost: { title: 'Cost', of: (sum) => sum.cost_micro / 1e6, text: money, rank: 'cost' },
	tokens: { title: 'Tokens', of: (sum) => input(sum) + sum.output_tokens, text: short, rank: 'tokens' },
	requests: { title: 'Requests', of: (sum) => sum.requests, text: short, rank: 'requests' },
	failed: {
		title: 'Not answered',
		of: (sum) => (sum.outcome === 'answered' ? 0 : sum.requests),
		text: short,
		rank: 'requests',
	},
	wait: { title: 'First byte', of: (sum) => sum.requests, text: short, rank: 'requests' },
});

/** nameOf returns the values of members, or how many values the sum is for. @param {Sum} sum @param {string[]} by */
export const nameOf = (sum, by) =>
	sum.others ? plural(sum.others, 'other') : by.map((member) => sum[member] || (by[1] ? '–' : '')).join(' · ');

/** shownAs returns what nameOf returns with the names of keys in the place of their ids. @param {string} name */
export const shownAs = (name) => name.split(' · ').map(keyName).join(' · ');

/** add joins the sums of a name, so that there is one for each. @param {Sum[]} sums @param {string[]} by */
export function add(sums, by) {
	const joined = /** @type {Map<string, Sum>} */ (new Map());
	for (const sum of sums) {
		const name = nameOf(sum, by),
			before = joined.get(name);
		if (!before) {
			joined.set(name, { ...sum });
			continue;
		}
		const waited = waits(before) + waits(sum);
		for (const [name, value] of Object.entries(sum))
			if (typeof value === 'number' && name !== 'others') before[name] += value;
		before.first_byte_ms = waited / before.requests;
		before.currency = before.currency || sum.currency;
	}
	return joined;
}

/** waits returns the times to the first bytes of a sum, of which it has the mean. @param {Sum} sum */
export const waits = (sum) => (sum.first_byte_ms ?? 0) * sum.requests;

/** The number of characters of a time that name a step. */
const lengths = /** @type {Record<string, number>} */ ({ month: 7, day: 10, hour: 13 });

/** stepOf returns the name of a step that begins at a time of the ledger: an hour in the zone of the browser, as other
 * times, a day or a month in that of the ledger, which adds them up. @param {string} step @param {string} from */
const stepOf = (step, from) => (step === 'hour' ? local(from) : from).slice(0, lengths[step]);

/** ticks returns all steps of a range, also those without usage.
 * @param {string} step @param {Date} from @param {Date} to @param {Sum[]} sums */
export function ticks(step, from, to, sums) {
	const first = sums[0]?.from ?? from.toISOString();
	const zone = Date.parse(`${first.slice(0, 19)}Z`) - Date.parse(first);
	const names = new Set(sums.map((sum) => stepOf(step, sum.from ?? first)));
	for (let at = from.getTime(); at < to.getTime(); at += step === 'hour' ? 3600e3 : 24 * 3600e3)
		names.add(stepOf(step, new Date(step === 'hour' ? at : at + zone).toISOString()));
	return [...names].sort();
}

/** series returns what a chart stacks over steps, the largest first, and the sum of the others last.
 * @param {string} step @param {Sum[]} sums @param {string[]} names the steps @param {(sum: Sum) =>
 * [string, number][]} parts of a sum, by their names */
export function series(step, sums, names, parts) {
	const index = new Map(names.map((name, i) => [name, i]));
	const all = /** @type {Map<string, {name: string, values: number[], rest: boolean}>} */ (new Map());
	for (const sum of sums) {
		const i = index.get(stepOf(step, sum.from ?? ''));
		if (i === undefined) continue;
		for (const [name, value] of parts(sum)) {
			const part = all.get(name) ?? { name, values: names.map(() => 0), rest: Boolean(sum.others) };
			part.values[i] += value;
			all.set(name, part);
		}
	}
	const total = (/** @type {number[]} */ values) => values.reduce((a, b) => a + b, 0);
	return [...all.values()]
		.filter(({ values }, _, list) => list.length === 1 || total(values) > 0)
		.sort((a, b) => Number(a.rest) - Number(b.rest) || total(b.values) - total(a.values));
}
