// Usage: sums of the ledger over a range, as a chart and as a table with the same numbers.
import { html } from '../lib/preact.js';
import { all, get, query, useData } from '../lib/api.js';
import { Chart } from '../lib/chart.js';
import { money, number, percent, plural, short } from '../lib/format.js';
import { addressOf, oneOf, root, route, set } from '../lib/route.js';
import { administers, Empty, Meter, Name, Page, Part, Switch, Table, Time } from '../lib/ui.js';

/** @typedef {import('../lib/api.js').Schemas['UsageSum'] & Record<string, any>} Sum */

const ranges = /** @type {[string, string][]} */ ([
	['today', 'Today'],
	['7d', '7 days'],
	['30d', '30 days'],
	['month', 'Month'],
	['custom', 'Custom'],
]);
const measures = /** @type {[string, string][]} */ ([
	['cost', 'Cost'],
	['tokens', 'Tokens'],
	['requests', 'Requests'],
]);
const dimensions = /** @type {[string, string][]} */ ([
	['model', 'Model'],
	['key', 'Key'],
	['provider', 'Provider'],
	['user', 'User'],
	['limit', 'Limit or team'],
]);
const steps = /** @type {[string, string][]} */ ([
	['hour', 'Hours'],
	['day', 'Days'],
	['month', 'Months'],
]);
const stacked = 6,
	listed = 50,
	compared = 250; // names in the chart, in the table, and of the range before
const hour = 3600e3,
	day = 24 * hour;

/** span returns the times of a range. @param {URLSearchParams} settings @returns {{from: Date, to: Date}} */
function span(settings) {
	const now = new Date();
	const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate());
	const to = new Date(Math.ceil(now.getTime() / hour) * hour);
	switch (settings.get('range') ?? '7d') {
		case 'today':
			return { from: midnight, to };
		case '30d':
			return { from: new Date(midnight.getTime() - 29 * day), to };
		case 'month':
			return { from: new Date(now.getFullYear(), now.getMonth(), 1), to };
		case 'custom': {
			const from = new Date(`${settings.get('from')}T00:00`),
				until = new Date(`${settings.get('to')}T00:00`);
			return {
				from: isNaN(+from) ? new Date(midnight.getTime() - 6 * day) : from,
				to: isNaN(+until) ? to : new Date(until.getTime() + day),
			};
		}
		default:
			return { from: new Date(midnight.getTime() - 6 * day), to };
	}
}

/** isLabel reports whether a dimension is a label, which not all requests have. @param {string} by */
const isLabel = (by) => by === 'customer' || by.startsWith('tag:');

/** titleOf returns the name of a dimension. @param {string} by */
const titleOf = (by) =>
	by.startsWith('tag:')
		? `Tag ${by.slice('tag:'.length)}`
		: by === 'customer'
			? 'Customer'
			: (dimensions.find(([name]) => name === by)?.[1] ?? by);

/** fieldOf returns the member of a sum with the value of a dimension. @param {string} by */
const fieldOf = (by) => (by.startsWith('tag:') ? 'tag' : by);

/** dimensionOf returns the dimension that the address names, if it suits its filters: a query has one label.
 * @param {URLSearchParams} settings */
function dimensionOf(settings) {
	const by = settings.get('by') ?? '';
	const tag = settings.get('tag') ?? '';
	const only = tag ? `tag:${tag.split('=', 1)[0]}` : settings.get('customer') ? 'customer' : '';
	return isLabel(by) && (!only || only === by) ? by : oneOf('by', [...dimensions, ['kind', '']], 'model');
}

const input = (/** @type {Sum} */ sum) => sum.input_tokens + sum.cache_read_tokens + sum.cache_write_tokens;

const valueOf = /** @type {Record<string, (sum: Sum) => number>} */ ({
	cost: (sum) => sum.cost_micro / 1e6,
	tokens: (sum) => input(sum) + sum.output_tokens,
	requests: (sum) => sum.requests,
});

/** nameOf returns the value of a dimension, or how many values the sum is for. @param {Sum} sum @param {string} by */
const nameOf = (sum, by) => (sum.others ? plural(sum.others, 'other') : (sum[by] ?? ''));

/** add joins the sums of a name, so that there is one for each. @param {Sum[]} sums @param {string} by */
function add(sums, by) {
	const joined = /** @type {Map<string, Sum>} */ (new Map());
	for (const sum of sums) {
		const name = nameOf(sum, by),
			before = joined.get(name);
		if (!before) {
			joined.set(name, { ...sum });
			continue;
		}
		for (const [name, value] of Object.entries(sum))
			if (typeof value === 'number' && name !== 'others') before[name] += value;
		before.currency = before.currency || sum.currency;
	}
	return joined;
}

/** tick returns the part of a time that names its step. @param {string} step @param {Date} at */
function tick(step, at) {
	const two = (/** @type {number} */ n) => String(n).padStart(2, '0');
	const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}`;
	return step === 'month'
		? date
		: step === 'day'
			? `${date}-${two(at.getDate())}`
			: `${date}-${two(at.getDate())}T${two(at.getHours())}`;
}

/** ticks returns all steps of a range in the zone of the ledger, also those without usage.
 * @param {string} step @param {Date} from @param {Date} to @param {Sum[]} sums */
function ticks(step, from, to, sums) {
	const names = new Set(sums.map((sum) => cut(step, sum.from ?? '')));
	for (let at = from.getTime(); at < to.getTime(); at += step === 'hour' ? hour : day)
		names.add(tick(step, new Date(at)));
	return [...names].sort();
}

const cut = (/** @type {string} */ step, /** @type {string} */ from) =>
	from.slice(0, step === 'month' ? 7 : step === 'day' ? 10 : 13);

/** series returns what the chart stacks, the largest first, and the sum of the others last.
 * @param {Sum[]} sums @param {string[]} names @param {{step: string, by: string, kinds: boolean, measure: string}}
 * shown */
function series(sums, names, { step, by, kinds, measure }) {
	const index = new Map(names.map((name, i) => [name, i]));
	const parts = /** @type {Map<string, {name: string, values: number[], rest: boolean}>} */ (new Map());
	const put = (
		/** @type {string} */ name,
		/** @type {number|undefined} */ i,
		/** @type {number} */ value,
		rest = false,
	) => {
		if (i === undefined) return;
		const part = parts.get(name) ?? { name, values: names.map(() => 0), rest };
		part.values[i] += value;
		parts.set(name, part);
	};
	for (const sum of sums) {
		const i = index.get(cut(step, sum.from ?? ''));
		if (kinds) {
			for (const [name, value] of /** @type {[string, number][]} */ ([
				['input', sum.input_tokens],
				['read from cache', sum.cache_read_tokens],
				['written to cache', sum.cache_write_tokens],
				['output', sum.output_tokens],
			]))
				put(name, i, value);
		} else put(nameOf(sum, by), i, valueOf[measure](sum), Boolean(sum.others));
	}
	const total = (/** @type {number[]} */ values) => values.reduce((a, b) => a + b, 0);
	return [...parts.values()]
		.filter(({ values }, _, list) => list.length === 1 || total(values) > 0)
		.sort((a, b) => Number(a.rest) - Number(b.rest) || total(b.values) - total(a.values));
}

/** Change is the change against the range before. @param {{now: number, before: number}} props */
function Change({ now, before }) {
	if (before === 0) return html`<span class="muted">${now === 0 ? '–' : 'new'}</span>`;
	const share = Math.round((100 * (now - before)) / before);
	return html`<span class="muted">${share > 0 ? '+' : share < 0 ? '−' : '±'}${number(Math.abs(share))} %</span>`;
}

/** Against is the change in words. @param {{now: number, before: number}} props */
const Against = ({ now, before }) =>
	before === 0
		? 'nothing in the range before'
		: html`<${Change} now=${now} before=${before} /> against the range before`;

export default function Usage() {
	const settings = route.value.query;
	const range = oneOf('range', ranges, '7d'),
		measure = oneOf('show', measures, 'cost'),
		by = dimensionOf(settings);
	const { from, to } = span(settings);
	const step = oneOf('step', steps, to.getTime() - from.getTime() <= 2 * day ? 'hour' : 'day');
	const dimension = by === 'kind' ? 'model' : by,
		field = fieldOf(dimension);
	const of = { team: settings.get('team') ?? '', user: settings.get('user') ?? '', key: settings.get('key') ?? '' };
	const only = { ...of, tag: settings.get('tag') ?? '', customer: settings.get('customer') ?? '' };
	const at = { from: from.toISOString(), to: to.toISOString(), ...only };
	const kinds = by === 'kind' && measure === 'tokens';
	const sums = useData(
		query('/api/v1/usage', {
			...at,
			by: kinds ? step : `${step},${dimension}`,
			...(!kinds && { largest: stacked, measure }),
		}),
		{ read: all },
	);
	const table = useData(query('/api/v1/usage', { ...at, by: dimension, largest: listed, measure }), { read: all });
	const ago = { ...at, from: new Date(2 * from.getTime() - to.getTime()).toISOString(), to: from.toISOString() };
	const before = useData(query('/api/v1/usage', { ...ago, by: dimension, largest: compared, measure }), { read: all });
	const outcomes = useData(query('/api/v1/usage', { ...at, by: 'outcome' }), { read: all });
	const allBefore = useData(query('/api/v1/usage', { ...ago, by: 'outcome' }), { read: all });
	// without labels, none is offered
	const labels = useData(query('/api/v1/usage', { ...of, from: at.from, to: at.to, by: 'label' }), { read: labelsOf });
	const saved = useData(
		administers() ? query('/api/v1/usage', { ...at, by: 'model', largest: listed, measure: 'tokens' }) : null,
		{ read: (path, options) => savings(path, options).catch(() => null) },
	); // the rest stands without it
	const pick = (/** @type {string} */ name) => {
		if (['user', 'key'].includes(dimension)) set({ [dimension]: name, by: 'model' });
		else if (isLabel(dimension))
			set({
				tag: '',
				customer: '',
				[field]: field === 'tag' ? `${dimension.slice('tag:'.length)}=${name}` : name,
				by: '',
			});
		else if (dimension === 'model') location.assign(query(`${root}exchanges`, { ...only, model: name }));
	};
	const options = [
		...dimensions.filter(
			([name]) => !['user', 'limit'].includes(name) || administers() || (of.team && name === 'user'),
		),
		...[...new Set([...(labels.data ?? []), ...(isLabel(by) ? [by] : [])])]
			.filter((name) => dimensionOf(new URLSearchParams({ ...only, by: name })) === name)
			.map((name) => [name, titleOf(name)]),
	];
	return html`
		<${Page} title="Usage"
			actions=${html`<a class="button"
					href=${query(addressOf('/api/v1/usage'), { ...at, by: `${step},${dimension}`, format: 'csv' })}
					download="usage.csv"
				>
					CSV
				</a>`}
		>
			<div class="row">
				<${Switch} label="Range" options=${ranges} value=${range}
					set=${(value) => set({ range: value === '7d' ? '' : value, step: '' })}
				/>
				${
					range === 'custom' &&
					html`
						<input type="date" aria-label="From" value=${settings.get('from') ?? tick('day', from)}
							onChange=${(/** @type {any} */ e) => set({ from: e.target.value })}
						/>
						<input type="date" aria-label="To, included" value=${settings.get('to') ?? ''}
							onChange=${(/** @type {any} */ e) => set({ to: e.target.value })}
						/>
					`
				}
				<select aria-label="Steps" value=${step} onChange=${(/** @type {any} */ e) => set({ step: e.target.value })}>
					${steps.map(([name, text]) => html`<option value=${name}>${text}</option>`)}
				</select>
				${Object.entries(only).map(
					([name, value]) =>
						value &&
						html`
							<button class="small" onClick=${() => set({ [name]: '' })}
								aria-label=${`Remove the filter ${name} ${value}`}
							>
								${name}: <${Name} of=${value} /> ✕
							</button>
						`,
				)}
			</div>
			<${Part} of=${sums} rows=${14}>
				${(/** @type {Sum[]} */ rows) => {
					const names = ticks(step, from, to, rows);
					const currency = rows.find((row) => row.currency)?.currency ?? 'USD';
					const format = measure === 'cost' ? (/** @type {number} */ n) => money(n, currency) : short;
					const label = (/** @type {string} */ name) =>
						step === 'hour'
							? `${name.slice(5, 10)} ${name.slice(11)}:00`.slice(to.getTime() - from.getTime() <= day ? 6 : 0)
							: step === 'day'
								? name.slice(5)
								: name;
					return html`
						<${Facts} sums=${outcomes.data ?? []} before=${current(allBefore)}
							saved=${saved.data ?? null} currency=${currency}
						/>
						<section class="panel">
							<header>
								<${Switch} label="Measure" options=${measures} value=${measure}
									set=${(value) => {
										const kept = by === 'kind' || by === 'model' ? '' : by;
										set({ show: value === 'cost' ? '' : value, by: kept });
									}}
								/>
								<label class="row small">
									<span class="muted">by</span>
									<select value=${by}
										onChange=${(/** @type {any} */ e) => set({ by: e.target.value === 'model' ? '' : e.target.value })}
									>
										${[...options, ...(measure === 'tokens' ? [['kind', 'Kind of token']] : [])].map(
											([name, text]) => html`<option value=${name} selected=${name === by}>${text}</option>`,
										)}
									</select>
								</label>
							</header>
							<div class="body">
								${
									rows.length === 0
										? html`
											<${Empty} title="No usage in this range.">
												${
													allBefore.data?.length
														? html`
															The range before had${' '}
															${plural(
																allBefore.data.reduce((sum, row) => sum + row.requests, 0),
																'request',
															)}
															.
														`
														: html`<a href=${`${root}connect`}>Connect</a> a client, and what it uses appears here.`
												}
											<//>
										`
										: html`
											<${Chart} label=${`${measure} by ${by} and ${step}`} buckets=${names.map(label)}
												series=${series(rows, names, { step, by: field, kinds, measure })} format=${format}
												pick=${by === 'kind' ? undefined : pick}
											/>
										`
								}
							</div>
						</section>
						${
							rows.length > 0 &&
							html`
								<section class="panel">
									<${Part} of=${table} rows=${8}>
										${(/** @type {Sum[]} */ found) => html`
											<${Sums} rows=${[...add(found, field).values()]}
												before=${current(before) && add(before.data ?? [], field)} by=${dimension}
												measure=${measure} currency=${currency}
											/>
										`}
									<//>
									${
										isLabel(dimension) &&
										html`
											<footer class="muted small">
												Requests without ${dimension === 'customer' ? 'a customer' : 'the tag'} are left out of the
												chart and of the table.
											</footer>
										`
									}
								</section>
							`
						}
					`;
				}}
			<//>
			<${Budgets} only=${of} />
		<//>
	`;
}

/** current returns data unless they are those of another range or dimension.
 * @param {import('../lib/api.js').Data<Sum[]>} of */
const current = (of) => (of.stale ? undefined : of.data);

/** labelsOf returns the labels that requests have.
 * @param {string} path @param {any} options @returns {Promise<string[]>} */
const labelsOf = async (path, options) => (await all(path, options)).map((sum) => sum.label);

/** savings returns what reads from caches cost less than fresh input, at the prices of today, which only
 * administrators see; null without any. It is the least of it if there are models beyond the largest, or providers of
 * a model have several prices: one read of all models with all their targets took seconds.
 * @param {string} path @param {any} options @returns {Promise<{amount: number, least: boolean}|null>} */
async function savings(path, options) {
	const sums = (await all(path, options)).filter((sum) => sum.cache_read_tokens > 0);
	const named = sums.filter((sum) => !sum.others);
	if (named.length === 0) return null;
	const { items } = await get(
		`/api/v1/prices?${named.map(({ model }) => `model=${encodeURIComponent(model)}`).join('&')}`,
		options,
	);
	let amount = 0,
		least = named.length < sums.length;
	for (const sum of named) {
		const differences = items
			.filter((/** @type {any} */ each) => each.model === sum.model)
			.map((/** @type {any} */ { price }) => (price ? price.input - price.cache_read : 0));
		amount += (sum.cache_read_tokens * (differences.length > 0 ? Math.min(...differences) : 0)) / 1e6;
		least ||= new Set(differences).size !== 1;
	}
	return { amount, least };
}

/** Facts are the totals at one look.
 * @param {{sums: Sum[], before: Sum[]|undefined, saved: {amount: number, least: boolean}|null, currency: string}}
 * props the sums are by outcome */
function Facts({ sums, before, saved, currency }) {
	const total = (/** @type {Sum[]} */ of, /** @type {(sum: Sum) => number} */ value) =>
		of.reduce((sum, each) => sum + value(each), 0);
	const against = (/** @type {(sum: Sum) => number} */ value) =>
		html`
			<small>${before ? html`<${Against} now=${total(sums, value)} before=${total(before, value)} />` : '…'}</small>
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
					${sums.some((sum) => sum.floor) ? '≥ ' : ''}
					${money(total(sums, valueOf.cost), currency)}
					${against(valueOf.cost)}
				</dd>
			</div>
			<div>
				<dt>Requests</dt>
				<dd>${number(total(sums, (sum) => sum.requests))}${against(valueOf.requests)}</dd>
			</div>
			<div>
				<dt>Input tokens</dt>
				<dd>
					${short(whole)}
					<small>
						${percent(read, whole)} read from cache
						${
							saved !== null && saved.amount >= 0.005
								? html`
									,${' '}
									<span title="At the prices of today">
										${saved.least ? '≥ ' : ''}
										${money(saved.amount, currency)} saved
									</span>
								`
								: ''
						}
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
								<a href=${query(`${root}exchanges`, { outcome: sum.outcome })}>
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

/** Sums is the table of the chart's numbers.
 * @param {{rows: Sum[], before: Map<string, Sum>|undefined, by: string, measure: string, currency: string}} props */
function Sums({ rows, before, by, measure, currency }) {
	const whole = rows.reduce((sum, row) => sum + valueOf[measure](row), 0);
	const foot = (/** @type {(sum: Sum) => number} */ value) => rows.reduce((sum, row) => sum + value(row), 0);
	const field = fieldOf(by);
	const most = rows.toSorted((a, b) => (a.others ?? 0) - (b.others ?? 0) || valueOf[measure](b) - valueOf[measure](a));
	const earlier = (/** @type {Sum} */ row) => {
		const sum = before?.get(nameOf(row, field));
		return sum ? valueOf[measure](sum) : 0;
	};
	const unknown = !before || [...before.values()].some((sum) => sum.others); // a name may be among them
	const last = (/** @type {(sum: Sum) => number} */ value) => (/** @type {Sum} */ row) =>
		row.others ? -1 : value(row); // the others are no name that could be the largest
	return html`
		<${Table} key=${by} label="Sums" rows=${most} id=${(row) => (row.others ? 'others ' : row[field])}
			first=${1 + ['requests', '', '', 'cost', 'tokens'].indexOf(measure === 'tokens' ? '' : measure)}
			columns=${[
				{
					name: titleOf(by),
					cell: (/** @type {Sum} */ r) =>
						r[field]
							? html`<${Name} of=${r[field]} wide />`
							: html`<span class="muted">${nameOf(r, field) || 'none'}</span>`,
					sort: (/** @type {Sum} */ r) => nameOf(r, field),
					foot: 'All',
				},
				{
					name: 'Requests',
					num: true,
					cell: (/** @type {Sum} */ r) => number(r.requests),
					sort: last(valueOf.requests),
					foot: number(foot(valueOf.requests)),
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
							? `${r.floor ? '≥ ' : ''}${money(r.cost_micro / 1e6, r.currency)}`
							: html`<span class="muted">${r.unpriced > 0 ? 'no price' : '–'}</span>`,
					sort: last(valueOf.cost),
					foot: money(foot(valueOf.cost), currency),
				},
				{
					name: 'Share',
					num: true,
					cell: (/** @type {Sum} */ r) => percent(valueOf[measure](r), whole),
					sort: last(valueOf[measure]),
					foot: '',
				},
				{
					name: 'Change',
					num: true,
					cell: (/** @type {Sum} */ r) =>
						r.others || (unknown && earlier(r) === 0)
							? html`<span class="muted">–</span>`
							: html`<${Change} now=${valueOf[measure](r)} before=${earlier(r)} />`,
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
	if (!limits.error && !limits.data?.items.some((/** @type {any} */ each) => each.rule === 'budget')) return null;
	return html`
		<section class="panel">
			<header><h2>Budgets</h2></header>
			<${Part} of=${limits} rows=${2}>
				${(/** @type {any} */ data) => html`
					<${Table} label="Budgets"
						rows=${data.items.filter((/** @type {any} */ each) => each.rule === 'budget')}
						id=${(l) => l.limit + l.per + l.subject + l.period}
						columns=${[
							{ name: 'Limit', cell: (/** @type {any} */ l) => html`<${Name} of=${l.limit} />` },
							{ name: 'Of', cell: (/** @type {any} */ l) => html`${l.per} <${Name} of=${l.subject} />` },
							{ name: 'Spent', num: true, cell: (/** @type {any} */ l) => money(l.used / 1e6, l.currency) },
							{ name: 'Reserved', num: true, cell: (/** @type {any} */ l) => money(l.reserved / 1e6, l.currency) },
							{
								name: 'Left',
								num: true,
								cell: (/** @type {any} */ l) =>
									html`${money(l.left / 1e6, l.currency)} of ${money(l.amount / 1e6, l.currency)}`,
							},
							{
								name: '',
								cell: (/** @type {any} */ l) =>
									html`
										<${Meter} share=${1 - l.left / l.amount} label=${`${percent(l.amount - l.left, l.amount)} used`} />
									`,
							},
							{
								name: 'Begins anew',
								cell: (/** @type {any} */ l) =>
									html`<${Time} at=${l.renews_at} none=${l.period ? 'nothing used' : 'never'} />`,
							},
						]}
					/>
				`}
			<//>
		</section>
	`;
}
