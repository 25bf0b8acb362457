// What a record of the ledger says in words.
import { html } from './preact.js';
import { money } from './format.js';
import { Chip } from './ui.js';

/** @typedef {import('./api.js').Schemas['UsageRecord']} UsageRecord */
/** @typedef {import('./api.js').Schemas['UsageCall']} UsageCall */

const states = /** @type {Map<string, 'ok'|'warn'|'ill'|'off'>} */ (
	new Map(Object.entries({ answered: 'ok', refused: 'warn', client_closed: 'off', imported: 'off' }))
);

/** The filters that exchanges and their sums share. */
export const filters = /** @type {import('./ui.js').Filter[]} */ ([
	['model', 'Model'],
	['key', 'Key'],
	['user', 'User'],
	['provider', 'Provider'],
	['outcome', 'Outcome', ['answered', 'refused', 'failed', 'cut', 'client_closed', 'crashed']],
	['team', 'Team'],
	['tag', 'Tag'],
	['customer', 'Customer'],
]);

/** spaced returns a word of the ledger as text. @param {string} word */
export const spaced = (word) => word.replaceAll('_', ' ');

/** Outcome is how an exchange ended. @param {{record: UsageRecord, bare?: boolean}} props  bare: without the status */
export const Outcome = ({ record, bare }) => html`
	<${Chip} is=${states.get(record.outcome) ?? 'ill'} title=${record.reason}>
		${spaced(record.outcome)}
		${bare || record.outcome === 'answered' ? '' : ` ${record.status || ''}`}
	<//>
`;

/** inputOf returns all tokens that a call read. @param {UsageCall} call */
export const inputOf = (call) => call.input_tokens + call.cache_read_tokens + call.cache_write_tokens;

/** tokensOf returns the tokens of an exchange. @param {UsageRecord} record */
export const tokensOf = (record) =>
	record.calls.reduce((sum, call) => ({ input: sum.input + inputOf(call), output: sum.output + call.output_tokens }), {
		input: 0,
		output: 0,
	});

/** costOf returns the cost of calls; null if nothing is known of it. @param {UsageCall[]} calls */
function costOf(calls) {
	const priced = calls.filter((call) => ['price', 'floor', 'provider'].includes(call.cost_source));
	if (priced.length === 0) return null;
	return {
		amount: priced.reduce((sum, call) => sum + call.cost_nano, 0) / 1e9,
		currency: priced[0].currency,
		floor: calls.some((call) => call.cost_source === 'floor' || call.cost_source === 'unknown'),
	};
}

/** Cost is the cost of calls, or that their price is unknown. @param {{calls: UsageCall[]}} props */
export function Cost({ calls }) {
	const cost = costOf(calls);
	if (cost) return `${cost.floor ? '≥ ' : ''}${money(cost.amount, cost.currency)}`;
	return calls.some((call) => inputOf(call) + call.output_tokens > 0)
		? html`<span class="muted" title="The model has no price">no price</span>`
		: html`<span class="muted">–</span>`;
}
