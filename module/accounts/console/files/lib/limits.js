// What is used and left of limits.
import { html } from './preact.js';
import { money, number, percent } from './format.js';
import { keyName } from './names.js';
import { Meter, Name, Table, Time } from './ui.js';

/** @typedef {import('./api.js').Schemas['LimitState']} LimitState */

/** amount returns an amount of a rule: money, or a number. @param {LimitState} rule @param {number} n */
const amount = (rule, n) => (rule.rule === 'budget' ? money(n / 1e6, rule.currency) : number(n));

/** share returns which part of a rule is used or reserved. @param {LimitState} rule */
const share = (rule) => (rule.amount === 0 ? 1 : 1 - rule.left / rule.amount);

/** whose returns in words whom a rule counts. @param {LimitState} rule */
const whose = (rule) =>
	rule.limit === 'own/key'
		? 'of the key alone'
		: rule.limit === 'own/user'
			? 'of the user'
			: `${rule.limit}, per ${rule.per}`;

/** tightest returns the rules of which least is left, one of each kind, the most used first. Of nested limits, only
 * these decide about a request. @param {LimitState[]} rules */
function tightest(rules) {
	/** @type {Record<string, LimitState>} */
	const least = {};
	for (const rule of rules) {
		if (!least[rule.rule] || rule.left < least[rule.rule].left) least[rule.rule] = rule;
	}
	return Object.values(least).sort((a, b) => share(b) - share(a));
}

/** Left is what is left of the tightest rules, a line for each. @param {{rules: LimitState[]}} props */
export const Left = ({ rules }) => html`
	<span class="stack" style=${{ gap: '2px' }}>
		${rules.length === 0 && html`<span class="muted">no limit</span>`}
		${tightest(rules).map((rule) => {
			const period = rule.period ? ` per ${rule.period}` : '';
			const unit = rule.rule === 'budget' ? '' : ` ${rule.rule}`;
			const label = `${amount(rule, rule.left)} of ${amount(rule, rule.amount)}${unit} left${period}: ${whose(rule)}`;
			return html`
				<span class="row small nowrap" title=${label}>
					<${Meter} share=${share(rule)} label=${label} />
					<span class="tab">${amount(rule, rule.left)}${unit} left</span>
				</span>
			`;
		})}
	</span>
`;

/** of returns whose usage a rule counts together. @param {LimitState} rule */
const of = ({ per, subject }) =>
	({ group: 'all its keys', gateway: 'all requests' })[per] ?? html`${per} <${Name} of=${keyName(subject)} />`;

/** LimitTable shows the states of rules. @param {{rows: LimitState[]}} props */
export const LimitTable = ({ rows }) => html`
	<${Table} label="Limits" rows=${rows} id=${(l) => l.limit + l.per + l.subject + l.rule + l.period}
		columns=${[
			{
				name: 'Limit',
				cell: (/** @type {LimitState} */ l) => html`<${Name} of=${l.limit.replace('own/', 'own rules of the ')} />`,
			},
			{ name: 'Of', cell: (/** @type {LimitState} */ l) => html`<span class="nowrap">${of(l)}</span>` },
			{
				name: 'Rule',
				cell: (/** @type {LimitState} */ l) =>
					html`<span class="nowrap">${l.rule}${l.period ? ` per ${l.period}` : ''}</span>`,
			},
			{
				name: 'Used',
				num: true,
				cell: (/** @type {LimitState} */ l) => html`
					<span class="row end nowrap">
						<${Meter} share=${share(l)} label=${percent(l.amount - l.left, l.amount)} />
						<span class="tab fixed">${percent(l.amount - l.left, l.amount)}</span>
					</span>
				`,
			},
			{
				name: 'Left',
				num: true,
				cell: (/** @type {LimitState} */ l) => `${amount(l, l.left)} of ${amount(l, l.amount)}`,
			},
			{ name: 'Begins anew', cell: (/** @type {LimitState} */ l) => html`<${Time} at=${l.renews_at} none="–" />` },
		]}
	/>
`;
