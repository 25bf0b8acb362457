// A model, for administrators: where its requests go now and why, how its targets have answered, and its rules.
import { html } from '../lib/preact.js';
import { query, useData } from '../lib/api.js';
import { clock, milliseconds, money, number, relative, short, when } from '../lib/format.js';
import { oneOf, root, set } from '../lib/route.js';
import { Chip, Empty, Name, Page, Part, Switch, Table } from '../lib/ui.js';

/** @typedef {import('../lib/api.js').Schemas['Explanation']['targets'][number]} Target */
/** @typedef {import('../lib/api.js').Schemas['Interval']} Interval */

const ranges = /** @type {[string, string][]} */ ([
	['1h', 'Last hour'],
	['24h', '24 hours'],
	['7d', '7 days'],
]);

/** Model is the page of a model. @param {{name: string}} props */
export function Model({ name }) {
	const range = oneOf('range', ranges, '1h');
	const order = useData(query('/api/v1/explain', { model: name }), { every: 10 });
	const compared = useData(query('/api/v1/records/comparison', { model: name, from: `-${range}` }), { every: 30 });
	const running = useData('/api/v1/configuration');
	const block = (/** @type {string} */ of) => query(`${root}configuration`, { part: 'models', name: of });
	const rules = running.data?.models.find((/** @type {any} */ m) => m.name === order.data?.pattern);
	return html`
		<${Page} title=${name} about="Where requests go now, and how the targets have answered."
			actions=${html`<a href=${`${root}models`}>All models</a>`}
		>
			<section class="panel">
				<header>
					<h2>Order now</h2>
					<span class="muted small">Of one session; targets with a share are first for others</span>
				</header>
				<${Part} of=${order} rows=${3}>
					${(/** @type {any} */ e) => html`<${Order} targets=${e.targets} />`}
				<//>
			</section>
			<section class="panel">
				<header>
					<h2>Targets</h2>
					<${Switch} label="Time" options=${ranges} value=${range}
						set=${(/** @type {string} */ to) => set({ range: to })}
					/>
				</header>
				<${Part} of=${compared} rows=${3}>
					${(/** @type {any} */ c) => html`<${Compared} of=${c} model=${name} />`}
				<//>
			</section>
			<section class="panel">
				<header>
					<h2>Rules</h2>
					${rules && html`<a href=${block(rules.name)}>Whole block</a>`}
				</header>
				<${Part} of=${running} rows=${3}>${() => html`<${Rules} of=${rules} />`}<//>
			</section>
		<//>
	`;
}

const signs = /** @type {Record<string, string>} */ ({ available: 'ok', failing: 'warn', resting: 'ill' });

/** Order shows the targets as they are asked. @param {{targets: Target[]}} props */
const Order = ({ targets }) => html`
	<${Table} label="Order" rows=${targets.map((target, i) => ({ ...target, i: i + 1 }))} id=${(t) => t.i}
		columns=${[
			{ name: '', num: true, cell: (/** @type {any} */ t) => t.i },
			{
				name: 'Target',
				cell: (/** @type {Target} */ t) => html`<${Name} of=${`${t.provider}/${t.upstream_model}`} wide />`,
			},
			{
				name: 'State',
				cell: (/** @type {Target} */ t) => html`
					<${Chip} is=${signs[t.state]} title=${t.last_failure}>
						${t.rest_until ? `rests until ${clock(when(t.rest_until))}` : t.state}
					<//>
				`,
			},
			{
				name: 'Share',
				num: true,
				cell: (/** @type {Target} */ t) => (t.step_weight === t.weight ? 'all' : `${t.weight} of ${t.step_weight}`),
			},
			{ name: 'Why', cell: (/** @type {Target} */ t) => html`<${Why} of=${t} />` },
			{ name: 'Running', num: true, cell: (/** @type {Target} */ t) => number(t.running) },
		]}
	/>
`;

/** Why is what puts a target in its place, and what an operator should know of it. @param {{of: Target}} props */
const Why = ({ of: t }) => html`
	${t.passed_over ? `passed over: ${t.passed_over}` : (t.measured ?? 'as configured')}
	${t.condition && html`<div class="small">if <code>${t.condition}</code></div>`}
	${t.warnings.map((warning) => html`<div class="small muted">${warning}</div>`)}
`;

/** Compared shows how targets have answered. @param {{of: any, model: string}} props */
function Compared({ of, model }) {
	if (of.items.length === 0) return html`<${Empty} title="No requests were sent to a target." />`;
	const dash = html`<span class="muted">–</span>`;
	const between = (/** @type {Interval} */ i, /** @type {(n: number) => string} */ text) => html`
		${text(i.value)}
		<div class="small muted nowrap" title="The interval contains the true figure with 95 %">
			${text(i.low)} to ${text(i.high)}
		</div>
	`;
	const columns = /** @type {{name: string, num?: boolean, cell: (t: any) => any}[]} */ ([
		{
			name: 'Target',
			cell: (t) => html`
				<${Name} of=${`${t.provider}/${t.upstream_model}`} wide />
				${t.mirror && html` <${Chip} is="off">mirror<//>`}
			`,
		},
		{
			name: 'Requests',
			num: true,
			cell: ({ provider, upstream_model, ...t }) => html`
				<a href=${query(`${root}exchanges`, { model, provider, upstream_model, key: t.mirror ? '(mirror)' : '' })}>
					${number(t.requests)}
				</a>
				<div class="small muted">${Object.entries(t.choices).map(([why, n]) => `${why} ${n} `)}</div>
			`,
		},
		{ name: 'Failed', num: true, cell: (t) => between(t.failed_percent, (n) => `${n} %`) },
		{
			name: 'First content, median and p95',
			num: true,
			cell: (t) =>
				t.first_byte_p95_ms ? `${milliseconds(t.first_byte_p50_ms)}, ${milliseconds(t.first_byte_p95_ms)}` : dash,
		},
		{ name: 'Whole answer', num: true, cell: (t) => (t.duration_p50_ms ? milliseconds(t.duration_p50_ms) : dash) },
		{
			name: 'Ended by',
			cell: (t) =>
				Object.entries(t.finish_percent).map(
					([why, i]) => html`<div class="nowrap" title=${`${i.low} to ${i.high} %`}>${why} ${i.value} %</div>`,
				),
		},
		{ name: 'Tokens in, out', num: true, cell: (t) => `${short(t.input_tokens)}, ${short(t.output_tokens)}` },
		{
			name: 'Cost of a request',
			num: true,
			cell: (t) => (t.cost_micro ? between(t.cost_micro, (n) => money(n / 1e6, t.currency)) : dash),
		},
	]);
	return html`
		<${Table} label="Targets" rows=${of.items} columns=${columns}
			id=${(/** @type {any} */ t) => `${t.provider}/${t.upstream_model} ${t.mirror}`}
		/>
		${of.scanned_since && html`<footer class="muted small">Only since ${relative(when(of.scanned_since))}</footer>`}
	`;
}

/** Rules are those of the model block. @param {{of: any}} props */
function Rules({ of }) {
	if (!of) return html`<${Empty} title="No model block has the name: the provider serves it by its own." />`;
	const given = [
		['Order', of.order || 'as configured'],
		['Split by', of.split_by],
		['Mirror', of.mirror],
		['Hedge', of.hedge],
		['Fallback on', of.fallback_on.join(' ') || 'default'],
		['Attempts', of.attempts || 'all targets'],
	];
	return html`
		<dl class="facts">
			${given.map(([name, value]) => value && html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
		</dl>
	`;
}
