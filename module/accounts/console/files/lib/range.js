// A range of time in the address of a page: one with a name, which ends now (range=24h), or from a time to another.
import { html } from './preact.js';
import { local } from './format.js';
import { oneOf, route, set } from './route.js';

/** Ranges that end now: their parameter, and their name. @typedef {[string, string][]} Named */

export const hours = /** @type {Named} */ ([
	['15m', 'Last 15 minutes'],
	['1h', 'Last hour'],
	['6h', 'Last 6 hours'],
	['24h', 'Last 24 hours'],
]);
export const days = /** @type {Named} */ ([
	['today', 'Today'],
	['7d', '7 days'],
	['30d', '30 days'],
	['month', 'This month'],
]);

/** beginOf returns when a range of days began: at midnight in the zone of the browser. @param {string} range */
function beginOf(range) {
	const now = new Date();
	const back = { today: 0, yesterday: 1, '7d': 6, '30d': 29, month: now.getDate() - 1 }[range] ?? 0;
	return new Date(now.getFullYear(), now.getMonth(), now.getDate() - back).toISOString();
}

/** textOf returns a time for the API, and none for what is no time. @param {string|null} text */
const textOf = (text) => (isNaN(Date.parse(text ?? '')) ? '' : new Date(text ?? '').toISOString());

/** spanOf returns the range of the address, with its times for the API.
 * @param {Named} offered @param {string} [standard] */
export function spanOf(offered, standard = '') {
	const settings = route.value.query;
	const from = textOf(settings.get('from')),
		to = textOf(settings.get('to'));
	if (from || to) return { range: '', from, to };
	const range = oneOf('range', offered, standard);
	const begin = days.some(([name]) => name === range) ? beginOf(range) : range && `-${range}`;
	return { range, from: begin, to: '' };
}

/** choose shows the time from a time to another. @param {string} from @param {string} to */
export const choose = (from, to) => set({ range: '', from, to, after: '' });

/** Range is the choice of a range, with the zone of its times.
 * @param {{offered: Named, of: {range: string, from: string, to: string}}} props */
export function Range({ offered, of: { range, from, to } }) {
	const absolute = range === '' && (from !== '' || to !== '');
	const begin = /^\d/.test(from) ? from : beginOf('yesterday'); // what the fields show first
	const edge = (/** @type {string} */ name, /** @type {string} */ at) => html`
		<input type="datetime-local" aria-label=${name} value=${at && local(at)}
			onChange=${(/** @type {any} */ e) => set({ [name.toLowerCase()]: textOf(e.target.value), after: '' })}
		/>
	`;
	return html`
		<select aria-label="Range" value=${absolute ? 'absolute' : range}
			onChange=${(/** @type {any} */ e) => {
				if (e.target.value === 'absolute') choose(begin, new Date().toISOString());
				else set({ range: e.target.value, from: '', to: '', after: '' });
			}}
		>
			${[...offered, ['absolute', 'From … to …']].map(([name, text]) => html`<option value=${name}>${text}</option>`)}
		</select>
		${absolute && [edge('From', from), edge('To', to)]}
		<span class="muted small">${Intl.DateTimeFormat().resolvedOptions().timeZone}</span>
	`;
}
