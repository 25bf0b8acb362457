// Usage: sums of the ledger over a range, as a chart and as a table with the same numbers.
import { html, useState } from '../lib/preact.js';
import { all, get, query, useData } from '../lib/api.js';
import { Chart } from '../lib/chart.js';
import { milliseconds, money, number, percent, short } from '../lib/format.js';
import { LimitTable } from '../lib/limits.js';
import { filters } from '../lib/record.js';
import { days, Range, spanOf } from '../lib/range.js';
import { addressOf, oneOf, root, route, set } from '../lib/route.js';
import {
	add,
	dimensionOf,
	dimensions,
	exchangesOf,
	fieldOf,
	filtersOf,
	input,
	isLabel,
	measures,
	nameOf,
	series,
	shownAs,
	ticks,
	titleOf,
	waits,
} from '../lib/sums.js';
import { administers, Choice, Empty, filtered, Filters, Name, Page, Part, Switch, Table, usable } from '../lib/ui.js';

/** @typedef {import('../lib/sums.js').Sum} Sum */

const steps = /** @type {[string, string][]} */ ([
	['hour', 'Hours'],
	['day', 'Days'],
	['month', 'Months'],
]);
/** What the range is compared with: the days between both, or the length of the range. */
const comparisons = /** @type {[string, string][]} */ ([
	['', 'the range before'],
	['7', 'the week before'],
	['28', 'four weeks before'],
	['364', 'the year before'],
]);
const measured = /** @type {[string, string][]} */ (Object.entries(measures).map(([name, { title }]) => [name, title]));
const stacked = 6,
	listed = 50,
	compared = 250; // names in the chart, in the table, and of the range before
const hour = 3600e3,
	day = 24 * hour;

/** useSums reads sums of the ledger. @param {Record<string, string|number|undefined>} parameters */
const useSums = (parameters) => useData(query('/api/v1/usage', parameters), { read: all });

/** Change is the change against the range before. @param {{now: number, before: number}} props */
function Change({ now, before }) {
	if (before === 0) return html`<span class="muted">${now === 0 ? '–' : 'new'}</span>`;
	const share = Math.round((100 * (now - before)) / before);
	return html`<span class="muted">${share > 0 ? '+' : share < 0 ? '−' : '±'}${number(Math.abs(share))} %</span>`;
}

/** Against is the change in words. @param {{now: number, before: number, than: string}} props */
const Against = ({ now, before, than }) =>
	before === 0 ? `nothing in ${than}` : html`<${Change} now=${now} before=${before} /> against ${than}`;

/** shownOf returns what the address asks for. */
function shownOf() {
	const settings = route.value.query;
	const span = spanOf(days, '7d');
	const to = new Date(span.to || Math.ceil(Date.now() / hour) * hour),
		from = new Date(span.from || to.getTime() - 7 * day);
	const measure = oneOf('show', measured, 'cost'),
		by = dimensionOf(settings),
		kinds = by === 'kind' && measure === 'tokens';
	const second =
		by === 'kind'
			? ''
			: oneOf(
					'and',
					dimensions.filter(([name]) => name !== by),
					'',
				);
	return {
		span,
		from,
		to,
		measure,
		by,
		kinds,
		second,
		step: oneOf('step', steps, to.getTime() - from.getTime() <= 2 * day ? 'hour' : 'day'),
		split: [by === 'kind' ? 'model' : by, second].filter(Boolean),
		than: oneOf('than', comparisons, ''),
		only: filtered(filters, settings),
	};
}

/** useUsage reads the sums that a page shows.
 * @param {ReturnType<typeof shownOf>} shown */
function useUsage({ from, to, step, split, measure, kinds, than, only }) {
	const at = { from: from.toISOString(), to: to.toISOString(), ...only };
	const shift = Number(than) * day || to.getTime() - from.getTime();
	const ago = {
		...at,
		from: new Date(from.getTime() - shift).toISOString(),
		to: new Date(to.getTime() - shift).toISOString(),
	};
	// What is added up by outcome, by kind or in all has no names to choose from.
	const plain = { failed: `${step},outcome`, wait: step }[measure] ?? (kinds && step);
	const by = split.join();
	const largest = { largest: listed, measure: measures[measure].rank };
	const { team, user, key } = only;
	return {
		csv: query(addressOf('/api/v1/usage'), { ...at, by: `${step},${by}`, format: 'csv' }),
		chart: useSums({ ...at, ...(plain ? { by: plain } : { ...largest, by: `${step},${by}`, largest: stacked }) }),
		table: useSums({ ...at, ...largest, by }),
		before: useSums({ ...ago, ...largest, by, largest: compared }),
		outcomes: useSums({ ...at, by: 'outcome' }),
		outcomesBefore: useSums({ ...ago, by: 'outcome' }),
		labels: useSums({ team, user, key, from: at.from, to: at.to, by: 'label' }),
		saved: useData(query('/api/v1/usage/savings', at), {
			read: (path, options) => get(path, options).catch(() => null),
		}), // the rest is shown without it
	};
}

export default function Usage() {
	const shown = shownOf();
	const { span, from, to, step, by, second, split, measure, than, only } = shown;
	const usage = useUsage(shown);
	const [open, setOpen] = useState(false);
	const labels = (usage.labels.data ?? []).map((sum) => sum.label); // without any, none is offered
	const offered = [
		...dimensions.filter(
			([name]) => !['user', 'limit'].includes(name) || administers() || (only.team && name === 'user'),
		),
		...[...new Set([...labels, ...(isLabel(by) ? [by] : [])])]
			.filter((name) => dimensionOf(new URLSearchParams({ ...only, by: name })) === name)
			.map((name) => [name, titleOf(name)]),
	];
	const range = {
		...only,
		...(span.range ? { range: span.range } : { from: from.toISOString(), to: to.toISOString() }),
	};
	const against = comparisons.find(([name]) => name === than)?.[1] ?? '';
	return html`
		<${Page} title="Usage"
			actions=${html`
				<a class="button" href=${usage.csv} download="usage.csv">CSV</a>
				<button aria-expanded=${open ? 'true' : 'false'} onClick=${() => setOpen(!open)}>Filter</button>
			`}
		>
			<div class="row">
				<${Range} offered=${days} of=${span} />
				<${Choice} label="Steps" name="step" options=${steps} value=${step} />
				<${Choice} label="Compared with" name="than" value=${than}
					options=${comparisons.map(([name, text]) => [name, `compared with ${text}`])}
				/>
			</div>
			<${Filters} filters=${usable(filters)} wanted=${only} open=${open} />
			<${Part} of=${usage.chart} rows=${14}>
				${(/** @type {Sum[]} */ sums) => {
					const currency = sums.find((row) => row.currency)?.currency ?? 'USD';
					return html`
						<${Facts} sums=${usage.outcomes.data ?? []} before=${current(usage.outcomesBefore)}
							saved=${usage.saved.data ?? null} currency=${currency} range=${range} than=${against}
						/>
						<section class="panel">
							<header>
								<${Switch} label="Measure" options=${measured} value=${measure}
									set=${(value) => set({ show: value, by: by === 'kind' ? '' : by })}
								/>
								<div class="row small">
									<span class="muted">by</span>
									<${Choice} label="By" name="by" value=${by}
										options=${[...offered, ...(measure === 'tokens' ? [['kind', 'Kind of token']] : [])]}
									/>
									<span class="muted">and</span>
									<${Choice} label="And by" name="and" value=${second}
										options=${[['', '–'], ...offered.filter(([name]) => name !== by && !isLabel(name))]}
									/>
								</div>
							</header>
							<div class="body">
								${
									sums.length === 0
										? html`
											<${Empty} title="No usage in this range.">
												<a href=${`${root}connect`}>Connect</a> a client, and what it uses appears here.
											<//>
										`
										: html`<${Bars} sums=${sums} shown=${shown} currency=${currency} />`
								}
							</div>
						</section>
						${
							sums.length > 0 &&
							html`
								<section class="panel">
									<${Part} of=${usage.table} rows=${8}>
										${(/** @type {Sum[]} */ found) => html`
											<${Sums} rows=${[...add(found, split.map(fieldOf)).values()]} by=${split} range=${range}
												before=${current(usage.before) && add(usage.before.data ?? [], split.map(fieldOf))}
												measure=${measures[measure].rank} currency=${currency}
											/>
										`}
									<//>
									${
										isLabel(by) &&
										html`
											<footer class="muted small">
												Requests without ${by === 'customer' ? 'a customer' : 'the tag'} are left out of the chart and
												the table.
											</footer>
										`
									}
								</section>
							`
						}
					`;
				}}
			<//>
			<${Budgets} only=${{ team: only.team, user: only.user, key: only.key }} />
		<//>
	`;
}

/** Bars is the chart of a measure. A click on a part of it, or on its name, filters by the name.
 * @param {{sums: Sum[], shown: ReturnType<typeof shownOf>, currency: string}} props */
function Bars({ sums, shown: { from, to, step, by, split, measure, kinds }, currency }) {
	const names = ticks(step, from, to, sums);
	const { of, text } = measures[measure];
	const named = (/** @type {Sum} */ sum) => nameOf(sum, measure === 'failed' ? ['outcome'] : split.map(fieldOf));
	const parts = /** @type {(sum: Sum) => [string, number][]} */ (
		(sum) =>
			kinds
				? [
						['input', sum.input_tokens],
						['read from cache', sum.cache_read_tokens],
						['written to cache', sum.cache_write_tokens],
						['output', sum.output_tokens],
					]
				: [[measure === 'wait' ? 'requests' : named(sum), of(sum)]]
	);
	const bars = series(step, sums, names, parts);
	const waited = series(step, sums, names, (sum) => [['', waits(sum)]])[0];
	const lines = measure === 'wait' && [
		{ name: 'first byte, mean', values: waited.values.map((sum, i) => sum / (bars[0].values[i] || 1)) },
	];
	const oneDay = to.getTime() - from.getTime() <= day;
	const label = (/** @type {string} */ name) =>
		step === 'hour'
			? `${oneDay ? '' : `${name.slice(5, 10)} `}${name.slice(11)}:00`
			: name.slice(step === 'day' ? 5 : 0);
	const pick = (/** @type {string} */ name) => {
		const filter = filtersOf(/** @type {any} */ ({ [fieldOf(by)]: name }), split);
		if (filters.some(([known]) => known in filter)) set({ by: '', ...filter });
	};
	return html`
		<${Chart} label=${`${measures[measure].title} over time`}
			buckets=${names.map(label)} series=${bars} named=${shownAs} lines=${lines || []} measure=${milliseconds}
			format=${(/** @type {number} */ n) => text(n, currency)}
			pick=${split.length > 1 || kinds || measure in { failed: 0, wait: 0 } ? undefined : pick}
		/>
	`;
}

/** current returns data unless they are those of another range or dimension.
 * @param {import('../lib/api.js').Data<Sum[]>} of */
const current = (of) => (of.stale ? undefined : of.data);

/** Facts are the totals at one look.
 * @param {{sums: Sum[], before: Sum[]|undefined, currency: string, range: Record<string, string>, than: string,
 *   saved: {items: {saved_micro: number, answers_micro: number, currency: string}[], floor: boolean}|null}} props
 *   the sums are by outcome */
function Facts({ sums, before, saved, currency, range, than }) {
	const total = (/** @type {Sum[]} */ of, /** @type {(sum: Sum) => number} */ value) =>
		of.reduce((sum, each) => sum + value(each), 0);
	const against = (/** @type {(sum: Sum) => number} */ value) =>
		html`
			<small>
				${before ? html`<${Against} now=${total(sums, value)} before=${total(before, value)} than=${than} />` : '…'}
			</small>
		`;
	const read = total(sums, (sum) => sum.cache_read_tokens),
		whole = total(sums, input),
		unpriced = total(sums, (sum) => sum.unpriced);
	const failed = sums.filter((sum) => sum.outcome !== 'answered' && sum.requests > 0);
	return html`
		<dl class="facts">
			<div>
				<dt>Cost</dt>
				<dd>
					<a class="bare" href=${exchangesOf({ ...range, sort: 'cost' })}>
						${sums.some((sum) => sum.floor) ? '≥ ' : ''}${money(total(sums, measures.cost.of), currency)}
					</a>
					${against(measures.cost.of)}
				</dd>
			</div>
			<div>
				<dt>Requests</dt>
				<dd>
					<a class="bare" href=${exchangesOf(range)}>${number(total(sums, measures.requests.of))}</a>
					${against(measures.requests.of)}
				</dd>
			</div>
			<div>
				<dt>Input tokens</dt>
				<dd>
					${short(whole)}
					<small>
						${percent(read, whole)} read from cache
						${saved?.items
							.filter((each) => each.saved_micro + each.answers_micro >= 5000)
							.map(
								(each) => html`
									,${' '}
									<span class="nowrap" title="At the prices of today, by caches of prompts and of answers">
										${saved.floor ? '≥ ' : ''}
										${money((each.saved_micro + each.answers_micro) / 1e6, each.currency)} saved
									</span>
								`,
							)}
					</small>
				</dd>
			</div>
			<div>
				<dt>Output tokens</dt>
				<dd>
					${short(total(sums, (sum) => sum.output_tokens))}
					<small>${short(total(sums, (sum) => sum.reasoning_tokens))} reasoning</small>
				</dd>
			</div>
			<div>
				<dt>Not answered</dt>
				<dd>
					${number(total(failed, (sum) => sum.requests))}
					<small>
						${failed.map(
							(sum) => html`
								<a href=${exchangesOf(range, sum, ['outcome'])}>
									${number(sum.requests)} ${String(sum.outcome).replace('_', ' ')}
								</a>${' '}
							`,
						)}
					</small>
				</dd>
			</div>
			<div>
				<dt>Calls without a price</dt>
				<dd>
					${number(unpriced)}
					<small>
						${
							unpriced > 0
								? html`
									<a
										href=${`${root}docs/prices.html`}
										target="_blank" rel="noreferrer"
									>
										how to price them
									</a>
								`
								: 'all are priced'
						}
					</small>
				</dd>
			</div>
		</dl>
	`;
}

/** Sums is the table of the chart's numbers, which lead to the exchanges.
 * @param {{rows: Sum[], before: Map<string, Sum>|undefined, by: string[], measure: string, currency: string,
 *   range: Record<string, string>}} props */
function Sums({ rows, before, by, measure, currency, range }) {
	const whole = rows.reduce((sum, row) => sum + measures[measure].of(row), 0);
	const foot = (/** @type {(sum: Sum) => number} */ value) => rows.reduce((sum, row) => sum + value(row), 0);
	const fields = by.map(fieldOf);
	const costs = rows.map(measures.cost.of);
	const most = rows.toSorted(
		(a, b) => (a.others ?? 0) - (b.others ?? 0) || measures[measure].of(b) - measures[measure].of(a),
	);
	const earlier = (/** @type {Sum} */ row) => {
		const sum = before?.get(nameOf(row, fields));
		return sum ? measures[measure].of(sum) : 0;
	};
	const unknown = !before || [...before.values()].some((sum) => sum.others); // a name may be among them
	const link = (/** @type {Sum} */ r, /** @type {string} */ text, sort = '') =>
		r.others || fields.some((member) => !r[member])
			? text
			: html`<a class="bare" href=${exchangesOf({ ...range, sort }, r, by)}>${text}</a>`;
	const last = (/** @type {(sum: Sum) => number} */ value) => (/** @type {Sum} */ row) =>
		row.others ? -1 : value(row); // the others are no name that could be the largest
	return html`
		<${Table} key=${by.join()} label="Sums" rows=${most} id=${(row) => (row.others ? 'others ' : nameOf(row, fields))}
			first=${1 + ['requests', '', '', 'cost', 'tokens'].indexOf(measure === 'tokens' ? '' : measure)}
			columns=${[
				{
					name: by.map(titleOf).join(' · '),
					cell: (/** @type {Sum} */ r) =>
						r.others || !fields.some((member) => r[member])
							? html`<span class="muted">${(r.others && nameOf(r, fields)) || 'none'}</span>`
							: fields.map((member, i) => html`${i > 0 && ' · '}<${Name} of=${shownAs(r[member] || '–')} wide />`),
					sort: (/** @type {Sum} */ r) => shownAs(nameOf(r, fields)),
					foot: 'All',
				},
				{
					name: 'Requests',
					num: true,
					cell: (/** @type {Sum} */ r) => link(r, number(r.requests)),
					sort: last(measures.requests.of),
					foot: number(foot(measures.requests.of)),
				},
				{
					name: 'Input',
					num: true,
					cell: (/** @type {Sum} */ r) => html`<span title=${number(input(r))}>${short(input(r))}</span>`,
					sort: last(input),
					foot: short(foot(input)),
				},
				{
					name: 'Output',
					num: true,
					cell: (/** @type {Sum} */ r) => html`<span title=${number(r.output_tokens)}>${short(r.output_tokens)}</span>`,
					sort: last((r) => r.output_tokens),
					foot: short(foot((r) => r.output_tokens)),
				},
				{
					name: 'Cost',
					num: true,
					cell: (/** @type {Sum} */ r) =>
						r.currency
							? link(r, `${r.floor ? '≥ ' : ''}${money(r.cost_micro / 1e6, r.currency, costs)}`, 'cost')
							: html`<span class="muted">${r.unpriced > 0 ? 'no price' : '–'}</span>`,
					sort: last(measures.cost.of),
					foot: money(foot(measures.cost.of), currency, costs),
				},
				{
					name: 'First byte',
					num: true,
					cell: (/** @type {Sum} */ r) =>
						r.first_byte_ms ? link(r, milliseconds(r.first_byte_ms), 'first_byte') : '–',
					sort: last((r) => r.first_byte_ms ?? 0),
					foot: milliseconds(foot(waits) / (foot(measures.requests.of) || 1)),
				},
				{
					name: 'Share',
					num: true,
					cell: (/** @type {Sum} */ r) => percent(measures[measure].of(r), whole),
					sort: last(measures[measure].of),
					foot: '',
				},
				{
					name: 'Change',
					num: true,
					cell: (/** @type {Sum} */ r) =>
						r.others || (unknown && earlier(r) === 0)
							? html`<span class="muted">–</span>`
							: html`<${Change} now=${measures[measure].of(r)} before=${earlier(r)} />`,
					foot: '',
				},
			]}
		/>
	`;
}

/** Budgets shows what is spent and left, and when it begins anew.
 * @param {{only: {team: string, user: string, key: string}}} props */
function Budgets({ only }) {
	const limits = useData(query('/api/v1/limits', { ...only, limit: 100 }));
	const budgets = (limits.data?.items ?? []).filter((/** @type {any} */ each) => each.rule === 'budget');
	if (!limits.error && budgets.length === 0) return null;
	return html`
		<section class="panel">
			<header><h2>Budgets</h2></header>
			<${Part} of=${limits} rows=${2}>${() => html`<${LimitTable} rows=${budgets} />`}<//>
		</section>
	`;
}
