// Health, for administrators: what needs attention, and how providers, targets, the ledger and limits do.
import { html, useState } from '../lib/preact.js';
import { all, post, query, useData } from '../lib/api.js';
import { Chart, Spark } from '../lib/chart.js';
import { bytes, clock, milliseconds, number, percent, plural, relative, when } from '../lib/format.js';
import { LimitTable } from '../lib/limits.js';
import { root, route, set } from '../lib/route.js';
import { Chip, Dialog, Empty, Name, Page, Part, Search, Table, Time } from '../lib/ui.js';

/** @typedef {import('../lib/api.js').Schemas['Target']} Target */
/** @typedef {import('../lib/api.js').Schemas['GatewayStatus']} Status */
/** @typedef {Status['alerts'][number]} Alert */
/** @typedef {import('../lib/api.js').Schemas['LastHour']} Hour */
/** @typedef {Hour['providers'][number]} Provider */
/** @typedef {import('../lib/limits.js').LimitState} LimitState */

const signs = /** @type {Record<string, 'ok'|'warn'|'ill'>} */ ({ available: 'ok', failing: 'warn', resting: 'ill' });
const severity = /** @type {Record<string, number>} */ ({ resting: 0, failing: 1, available: 2 });
const most = 20; // rows of a table

const sum = (/** @type {number[]} */ values, last = 60) => values.slice(-last).reduce((a, b) => a + b, 0);
const latest = (/** @type {(number|null)[]} */ values) => values.findLast((value) => value !== null) ?? null;

export default function Health() {
	const status = useData('/api/v1/status', { every: 5 });
	const hour = useData('/api/v1/health', { every: 15 });
	const targets = useData('/api/v1/targets', { every: 5, read: all });
	const limits = useData('/api/v1/limits?limit=200', { every: 30 });
	const [open, setOpen] = useState('');
	return html`
		<${Page} title="Health" about="Read anew every few seconds while the page is visible.">
			<${Part} of=${status} rows=${2}>
				${(/** @type {Status} */ s) => html`<${Facts} status=${s} hour=${hour.data} />`}
			<//>
			<${Attention} status=${status.data} hour=${hour.data} limits=${limits.data?.items ?? []} />
			<section class="panel">
				<header>
					<h2>Providers</h2>
					<span class="muted small">By minute, for an hour at most</span>
				</header>
				<${Part} of=${hour} rows=${4}>
					${(/** @type {Hour} */ h) => html`<${Providers} hour=${h} open=${setOpen} />`}
				<//>
			</section>
			<section class="panel"><${Targets} of=${targets} /></section>
			${
				(hour.data?.addresses.length ?? 0) > 0 &&
				html`
					<section class="panel">
						<header><h2>Addresses of pools</h2></header>
						<${Table} label="Addresses" id=${(a) => `${a.provider} ${a.address}`}
							rows=${hour.data?.addresses}
							columns=${[
								{ name: 'Provider', cell: (/** @type {any} */ a) => html`<${Name} of=${a.provider} />` },
								{ name: 'Address', cell: (/** @type {any} */ a) => html`<code>${a.address}</code>` },
								{
									name: 'State',
									cell: (/** @type {any} */ a) =>
										html`<${Chip} is=${a.available ? 'ok' : 'ill'}>${a.available ? 'available' : 'not available'}<//>`,
								},
								{ name: 'Failures', num: true, cell: (/** @type {any} */ a) => number(a.failures) },
								{ name: 'Running', num: true, cell: (/** @type {any} */ a) => number(a.running) },
							]}
						/>
					</section>
				`
			}
			<section class="panel">
				<header><h2>Limits close to their end</h2></header>
				<${Part} of=${limits} rows=${1}>
					${(/** @type {any} */ data) => html`<${Limits} all=${data.items} more=${Boolean(data.next)} />`}
				<//>
			</section>
			${open && hour.data && html`<${Minutes} hour=${hour.data} name=${open} close=${() => setOpen('')} />`}
		<//>
	`;
}

/** Facts are the state at one look. @param {{status: Status, hour: Hour|undefined}} props */
function Facts({ status: s, hour }) {
	const behind = s.ledger_behind_seconds;
	const ledger = hour?.ledger;
	return html`
		<dl class="facts">
			<div>
				<dt>Gateway</dt>
				<dd>
					<${Chip} is=${s.ready ? 'ok' : 'ill'}>${s.ready ? 'ready' : 'not ready'}<//>
					<small>${s.reason || `since ${relative(when(s.started))}`}</small>
				</dd>
			</div>
			<div>
				<dt>Requests</dt>
				<dd>${number(s.running)} running<small>${number(s.ended)} ended within a minute</small></dd>
			</div>
			<div>
				<dt>Providers</dt>
				<dd>
					${s.providers.filter((p) => p.available).length} of ${s.providers.length}
					<small>available</small>
				</dd>
			</div>
			<div>
				<dt>Ledger</dt>
				<dd>
					${
						behind === null
							? html`<span class="muted">${ledger === null ? 'off' : 'unknown'}</span>`
							: html`
								<${Chip} is=${behind > 60 ? 'ill' : behind > 5 ? 'warn' : 'ok'}>
									${behind === 0 ? 'up to date' : `${behind} s behind`}
								<//>
							`
					}
					${ledger && html`<small>${plural(ledger.pending, 'record')} waiting, journal ${bytes(ledger.bytes)}</small>`}
				</dd>
			</div>
			<div>
				<dt>Catalog</dt>
				<dd>
					<${Chip} is=${s.catalog.old ? 'warn' : 'ok'}>${s.catalog.as_of}<//>
					<small>models and prices</small>
				</dd>
			</div>
			<div>
				<dt>Version</dt>
				<dd class="small">
					<bdi>${s.version || s.revision.slice(0, 12) || 'of a checkout'}</bdi>
					<small>Caddy ${s.caddy}, ${s.go}</small>
				</dd>
			</div>
		</dl>
	`;
}

/** ills returns what needs attention: the alerts that are in effect, and what has no event of its own.
 * @param {Status} status @param {Hour} hour @param {LimitState[]} limits */
function ills(status, hour, limits) {
	const found = /** @type {{what: any, then: any}[]} */ ([]);
	if (!status.ready)
		found.push({
			what: html`The gateway is not ready: ${status.reason}.`,
			then: 'Requests with keys of the store are refused.',
		});
	for (const alert of status.alerts.filter((each) => !each.over))
		found.push({ what: html`<bdi>${alert.text}</bdi>`, then: html`since <${Time} at=${alert.time} />` });
	for (const provider of hour.providers) {
		const calls = sum(provider.calls, 5),
			failed = sum(provider.failed, 5);
		if (failed >= 5 && failed > calls / 10)
			found.push({
				what: html`
					<b>${provider.name}</b> failed in ${percent(failed, calls)} of ${plural(calls, 'call')} within 5 minutes.
				`,
				then: html`
					<a href=${query(`${root}exchanges`, { provider: provider.name, outcome: 'failed' })}>Failed exchanges</a>
				`,
			});
	}
	for (const rule of limits.filter((each) => each.left <= 0 && !['budget', 'concurrent'].includes(each.rule)))
		found.push({
			what: html`The limit <b>${rule.limit}</b> ${rule.subject && html`of ${rule.subject} `}has no ${rule.rule} left.`,
			then: html`
				Requests are refused until it begins anew
				${rule.renews_at && html`: <${Time} at=${rule.renews_at} />`}
				.
			`,
		});
	return found;
}

/** Attention lists what is ill now.
 * @param {{status: Status|undefined, hour: Hour|undefined, limits: LimitState[]}} props */
function Attention({ status, hour, limits }) {
	if (!status || !hour) return null;
	const found = ills(status, hour, limits);
	const over = status.alerts.filter((each) => each.over);
	return html`
		<section class="panel" aria-live="polite">
			<header>
				<h2>Needs attention</h2>
				<span class="muted small">
					The alerts that are in effect, which a <a href=${`${root}docs/alerts.html`}>webhook</a> can send, and more
				</span>
			</header>
			${
				found.length === 0
					? html`<div class="body"><${Chip} is="ok">Nothing<//></div>`
					: html`
						<ul class="body stack">
							${found.map(
								({ what, then }) => html`
									<li>
										<${Chip} is="ill"><span class="text">${what}</span><//>${' '}
										<span class="muted">${then}</span>
									</li>
								`,
							)}
						</ul>
					`
			}
			${
				over.length > 0 &&
				html`
					<details class="body">
						<summary>${plural(over.length, 'alert')} that ${over.length === 1 ? 'is' : 'are'} over</summary>
						<${Table} label="Alerts that are over" rows=${over} id=${(a) => `${a.time} ${a.text}`}
							columns=${[
								{ name: 'Alert', cell: (/** @type {Alert} */ a) => html`<bdi>${a.text}</bdi>` },
								{ name: 'Began', cell: (/** @type {Alert} */ a) => html`<${Time} at=${a.time} />` },
								{ name: 'Over', cell: (/** @type {Alert} */ a) => html`<${Time} at=${a.over} />` },
							]}
						/>
					</details>
				`
			}
		</section>
	`;
}

/** Probe asks a provider whether it answers. @param {{name: string}} props */
function Probe({ name }) {
	const [result, setResult] = useState(/** @type {any} */ (null));
	const ask = async () => {
		setResult({ running: true });
		setResult(
			await post(query('/api/v1/targets/probe', { provider: name })).catch((error) => ({ message: error.message })),
		);
	};
	return html`
		<span class="row end nowrap">
			${
				result &&
				!result.running &&
				(result.message
					? html`<${Chip} is="ill">${result.message}<//>`
					: html`
						<${Chip} is=${result.answered && result.status < 400 ? 'ok' : 'ill'}>
							${result.answered ? `${result.status} in ${milliseconds(result.milliseconds)}` : 'no answer'}
						<//>
					`)
			}
			<button class="small" aria-label=${`Probe now: ${name}`} disabled=${result?.running} onClick=${ask}>
				${result?.running ? 'Probing …' : 'Probe now'}
			</button>
		</span>
	`;
}

/** Providers shows calls, failures and times by minute. @param {{hour: Hour, open: (name: string) => void}} props */
function Providers({ hour, open }) {
	if (hour.providers.length === 0) return html`<${Empty} title="The configuration has no provider." />`;
	const time = (/** @type {(number|null)[]} */ values, /** @type {string} */ what) => {
		const last = latest(values);
		return html`
			<span class="row nowrap end">
				<${Spark} label=${`${what} by minute`} values=${values} />
				<span class="tab fixed">${last === null ? '–' : milliseconds(last)}</span>
			</span>
		`;
	};
	return html`
		<${Table} label="Providers" rows=${hour.providers} size=${100} id=${(p) => p.name}
			columns=${[
				{
					name: 'Provider',
					cell: (/** @type {Provider} */ p) => html`
						<button class="link" aria-label=${`Minutes of ${p.name}`} onClick=${() => open(p.name)}>
							<${Name} of=${p.name} />
						</button>
					`,
					sort: (/** @type {Provider} */ p) => p.name,
				},
				{
					name: 'Calls',
					num: true,
					cell: (/** @type {Provider} */ p) => html`
						<span class="row nowrap end">
							<${Spark} label="Calls by minute" values=${p.calls} />
							<span class="tab fixed">${number(sum(p.calls))}</span>
						</span>
					`,
					sort: (/** @type {Provider} */ p) => sum(p.calls),
				},
				{
					name: 'Failed',
					num: true,
					cell: (/** @type {Provider} */ p) => html`
						<span class="row nowrap end">
							<${Spark} ill label="Failed calls by minute" values=${p.failed} />
							<span class="tab fixed">${sum(p.failed) === 0 ? '0' : percent(sum(p.failed), sum(p.calls))}</span>
						</span>
					`,
					sort: (/** @type {Provider} */ p) => sum(p.failed) / Math.max(1, sum(p.calls)),
				},
				{
					name: 'First event, p50',
					num: true,
					cell: (/** @type {Provider} */ p) => time(p.p50_ms, 'Median time to the first event'),
				},
				{
					name: 'p95',
					num: true,
					cell: (/** @type {Provider} */ p) => time(p.p95_ms, '95th percentile of the time to the first event'),
				},
				{ name: '', num: true, cell: (/** @type {Provider} */ p) => html`<${Probe} name=${p.name} />` },
			]}
		/>
	`;
}

/** Minutes shows the last hour of a provider, as a chart and as a table.
 * @param {{hour: Hour, name: string, close: () => void}} props */
function Minutes({ hour, name, close }) {
	const provider = hour.providers.find((each) => each.name === name);
	if (!provider) return null;
	const minutes = provider.calls.map((calls, i) => ({
		i,
		at: clock(new Date(Date.parse(hour.from) + i * 60000)).slice(0, 5),
		calls,
		failed: provider.failed[i],
		p50: provider.p50_ms[i],
		p95: provider.p95_ms[i],
	}));
	const ms = (/** @type {number|null} */ value) =>
		value === null ? html`<span class="muted">–</span>` : milliseconds(value);
	const before = Array.from({ length: 60 - minutes.length }, (_, i) =>
		clock(new Date(Date.parse(hour.from) - (60 - minutes.length - i) * 60000)).slice(0, 5),
	);
	const drawn = (/** @type {(m: typeof minutes[number]) => number} */ of) => [
		...before.map(() => 0),
		...minutes.map(of),
	];
	return html`
		<${Dialog} wide title=${`${name}: the last hour`} close=${close}>
			<${Chart} label="Calls by minute" buckets=${[...before, ...minutes.map((m) => m.at)]}
				format=${number}
				series=${[
					{ name: 'not failed', values: drawn((m) => m.calls - m.failed) },
					{ name: 'failed', values: drawn((m) => m.failed), is: 'ill' },
				]}
			/>
			<${Table} label="Minutes" rows=${minutes.toReversed()} id=${(m) => m.i}
				columns=${[
					{ name: 'Minute', cell: (/** @type {any} */ m) => html`<span class="tab">${m.at}</span>` },
					{ name: 'Calls', num: true, cell: (/** @type {any} */ m) => number(m.calls) },
					{ name: 'Failed', num: true, cell: (/** @type {any} */ m) => number(m.failed) },
					{ name: 'First event, p50', num: true, cell: (/** @type {any} */ m) => ms(m.p50) },
					{ name: 'p95', num: true, cell: (/** @type {any} */ m) => ms(m.p95) },
				]}
			/>
			<p class="muted small">
				Percentiles are those of streams, as far as a histogram shows them.${' '}
				<a href=${query(`${root}exchanges`, { provider: name })}>Exchanges of ${name}</a>
			</p>
		<//>
	`;
}

/** Targets lists targets, the ill ones first. @param {{of: import('../lib/api.js').Data<any>}} props */
function Targets({ of }) {
	const text = route.value.query.get('q') ?? '';
	return html`
		<header>
			<h2>Targets</h2>
			<${Search} label="Search targets" value=${text} set=${(value) => set({ q: value })} />
		</header>
		<${Part} of=${of} rows=${5}>
			${(/** @type {Target[]} */ targets) => {
				const found = targets
					.filter((t) => `${t.provider}/${t.upstream_model}`.toLowerCase().includes(text.toLowerCase()))
					.sort((a, b) => severity[a.state] - severity[b.state]);
				if (found.length === 0)
					return html`
						<${Empty} title=${text ? 'No target has such a name.' : 'No target yet'}>
							${!text && 'Targets of patterns appear here when they run or fail.'}
						<//>
					`;
				return html`
					<${Table} label="Targets"
						id=${(t) => `${t.provider}/${t.upstream_model}/${t.api_key ?? ''}`}
						rows=${found} size=${most}
						columns=${[
							{
								name: 'Target',
								cell: (/** @type {Target} */ t) => html`<${Name} of=${`${t.provider}/${t.upstream_model}`} wide />`,
								sort: (/** @type {Target} */ t) => `${t.provider}/${t.upstream_model}`,
							},
							{
								name: 'API key',
								cell: (/** @type {Target} */ t) =>
									t.api_key ? html`<${Name} of=${t.api_key} mono />` : html`<span class="muted">–</span>`,
							},
							{
								name: 'State',
								cell: (/** @type {Target} */ t) => html`<${Chip} is=${signs[t.state]}>${t.state}<//>`,
								sort: (/** @type {Target} */ t) => severity[t.state],
							},
							{
								name: 'Rests until',
								cell: (/** @type {Target} */ t) =>
									t.rest_until ? html`<${Time} at=${t.rest_until} />` : html`<span class="muted">–</span>`,
							},
							{
								name: 'Last failure',
								cell: (/** @type {Target} */ t) =>
									t.last_failure ? t.last_failure.replaceAll('_', ' ') : html`<span class="muted">none</span>`,
							},
							{
								name: 'Running',
								num: true,
								cell: (/** @type {Target} */ t) => number(t.running),
								sort: (/** @type {Target} */ t) => t.running,
							},
						]}
					/>
					<footer>
						<span class="muted small">
							${
								found.length > most
									? `${most} of ${plural(found.length, 'target')}, the ill ones first: search for the others`
									: plural(found.length, 'target')
							}
							. Those of models with exact names, and others that failed lately or run now.
						</span>
					</footer>
				`;
			}}
		<//>
	`;
}

/** Limits shows those of which less than a fifth is left. @param {{all: LimitState[], more: boolean}} props */
function Limits({ all, more }) {
	const rows = all.filter((each) => each.left < each.amount / 5);
	if (all.length === 0) return html`<div class="body muted">The configuration has no limit that is in use.</div>`;
	if (rows.length === 0)
		return html`
			<div class="body muted">
				None of the ${more ? 'first ' : ''}
				${plural(all.length, 'rule')} has less than a fifth left.
			</div>
		`;
	return html`<${LimitTable} rows=${rows.slice(0, 100)} />`;
}
