// Health, for administrators: what is ill, and what is close to its end.
import { html } from '../lib/preact.js';
import { query, useData } from '../lib/api.js';
import { milliseconds, number, percent, plural, relative, when } from '../lib/format.js';
import { root } from '../lib/route.js';
import { Chip, Empty, Meter, Name, Page, Part, Table, Time } from '../lib/ui.js';

/** @typedef {import('../lib/api.js').Schemas['Target']} Target */
/** @typedef {import('../lib/api.js').Schemas['UsageRecord']} UsageRecord */

const signs = /** @type {Record<string, 'ok'|'warn'|'ill'>} */ ({ available: 'ok', failing: 'warn', resting: 'ill' });
const severity = /** @type {Record<string, number>} */ ({ resting: 0, failing: 1, available: 2 });

export default function Health() {
	const status = useData('/api/status', { every: 5 });
	const targets = useData('/api/targets', { every: 5 });
	const records = useData('/api/usage/records?limit=100', { every: 15 });
	return html`<${Page} title="Health" about="Read anew every few seconds while the page is visible.">
		<${Part} of=${status} rows=${2}>${(/** @type {any} */ s) => html`<dl class="facts">
			<div><dt>Gateway</dt><dd><${Chip} is=${s.ready ? 'ok' : 'ill'}>${s.ready ? 'ready' : 'not ready'}<//><small>${s.reason || `since ${relative(when(s.started))}`}</small></dd></div>
			<div><dt>Running requests</dt><dd>${number(s.running)}</dd></div>
			<div><dt>Providers</dt><dd>${s.providers.filter((/** @type {any} */ p) => p.available).length} of ${s.providers.length}<small>available</small></dd></div>
			<div><dt>Ledger</dt><dd>${s.ledger_behind_seconds === null ? html`<span class="muted">unknown</span>` : html`<${Chip} is=${s.ledger_behind_seconds > 60 ? 'ill' : s.ledger_behind_seconds > 5 ? 'warn' : 'ok'}>${s.ledger_behind_seconds === 0 ? 'up to date' : `${s.ledger_behind_seconds} s behind`}<//>`}</dd></div>
			<div><dt>Version</dt><dd class="small"><bdi>${s.version || s.revision.slice(0, 12) || 'of a checkout'}</bdi><small>Caddy ${s.caddy}, ${s.go}</small></dd></div></dl>`}<//>
		<section class="panel"><header><h2>Targets</h2><span class="muted small">Those of models with exact names, and others that failed lately or run now</span></header><${Part} of=${targets} rows=${5}>${(/** @type {{targets: Target[]}} */ data) => data.targets.length === 0
			? html`<${Empty} title="No target yet">Targets of patterns appear here when they run or fail.<//>` : html`<${Table} label="Targets" id=${(t) => `${t.provider}/${t.upstream_model}/${t.api_key ?? ''}`} rows=${[...data.targets].sort((a, b) => severity[a.state] - severity[b.state])} columns=${[
			{ name: 'Target', cell: (/** @type {Target} */ t) => html`<${Name} of=${`${t.provider}/${t.upstream_model}`} wide />`, sort: (/** @type {Target} */ t) => `${t.provider}/${t.upstream_model}` },
			{ name: 'API key', cell: (/** @type {Target} */ t) => t.api_key ? html`<${Name} of=${t.api_key} mono />` : html`<span class="muted">–</span>` },
			{ name: 'State', cell: (/** @type {Target} */ t) => html`<${Chip} is=${signs[t.state]}>${t.state}<//>`, sort: (/** @type {Target} */ t) => severity[t.state] },
			{ name: 'Rests until', cell: (/** @type {Target} */ t) => t.rest_until ? html`<${Time} at=${t.rest_until} />` : html`<span class="muted">–</span>` },
			{ name: 'Last failure', cell: (/** @type {Target} */ t) => t.last_failure ? t.last_failure.replaceAll('_', ' ') : html`<span class="muted">none</span>` },
			{ name: 'Running', num: true, cell: (/** @type {Target} */ t) => number(t.running), sort: (/** @type {Target} */ t) => t.running },
		]} />`}<//></section>
		<section class="panel"><header><h2>Providers</h2><span class="muted small">Of the newest 100 exchanges</span></header><${Part} of=${records} rows=${4}>${(/** @type {{items: UsageRecord[]}} */ data) => html`<${Providers} records=${data.items} />`}<//></section>
		<${Limits} /><//>`;
}

/** percentile returns a value of sorted numbers. @param {number[]} sorted @param {number} share */
const percentile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];

/** Providers sums calls by provider: how many failed, and how long the first byte took. @param {{records: UsageRecord[]}} props */
function Providers({ records }) {
	const by = /** @type {Map<string, {name: string, calls: number, failed: number, first: number[]}>} */ (new Map());
	for (const record of records) {
		record.calls.forEach((call, i) => {
			const sums = by.get(call.provider) ?? { name: call.provider, calls: 0, failed: 0, first: [] };
			by.set(call.provider, sums);
			sums.calls++;
			if (call.status < 200 || call.status >= 300) sums.failed++;
			else if (i === 0 && record.first_byte_ms > 0) sums.first.push(record.first_byte_ms);
		});
	}
	if (by.size === 0) return html`<${Empty} title="No provider was called lately." />`;
	const rows = [...by.values()].map((sums) => ({ ...sums, first: sums.first.sort((a, b) => a - b) }));
	/** @typedef {typeof rows[number]} Row */
	const first = (/** @type {Row} */ row, /** @type {number} */ share) => row.first.length === 0 ? html`<span class="muted">–</span>` : milliseconds(percentile(row.first, share));
	return html`<${Table} label="Providers" rows=${rows} id=${(row) => row.name} first=${3} columns=${[
		{ name: 'Provider', cell: (/** @type {Row} */ r) => html`<a href=${query(`${root}exchanges`, { provider: r.name })}><${Name} of=${r.name} /></a>`, sort: (/** @type {Row} */ r) => r.name },
		{ name: 'Calls', num: true, cell: (/** @type {Row} */ r) => number(r.calls), sort: (/** @type {Row} */ r) => r.calls },
		{ name: 'Failed', num: true, cell: (/** @type {Row} */ r) => number(r.failed), sort: (/** @type {Row} */ r) => r.failed },
		{ name: 'Share', num: true, cell: (/** @type {Row} */ r) => html`<${Meter} share=${r.failed / r.calls} label=${`${percent(r.failed, r.calls)} failed`} /> ${percent(r.failed, r.calls)}`, sort: (/** @type {Row} */ r) => r.failed / r.calls },
		{ name: 'First byte, p50', num: true, cell: (/** @type {Row} */ r) => first(r, 0.5) },
		{ name: 'p95', num: true, cell: (/** @type {Row} */ r) => first(r, 0.95) },
	]} />`;
}

/** Limits shows those of which less than a fifth is left. */
function Limits() {
	const limits = useData('/api/limits?limit=200', { every: 30 });
	return html`<section class="panel"><header><h2>Limits close to their end</h2></header><${Part} of=${limits} rows=${1}>${(/** @type {any} */ data) => {
		const rows = data.items.filter((/** @type {any} */ each) => each.left < each.amount / 5);
		if (rows.length === 0) return html`<div class="body muted">None of the ${data.next ? 'first ' : ''}${plural(data.items.length, 'rule')} has less than a fifth left.</div>`;
		return html`<${Table} label="Limits" rows=${rows} id=${(l) => l.limit + l.per + l.subject + l.rule + l.period} columns=${[
			{ name: 'Limit', cell: (/** @type {any} */ l) => html`<${Name} of=${l.limit} />` }, { name: 'Of', cell: (/** @type {any} */ l) => html`${l.per} <${Name} of=${l.subject} />` },
			{ name: 'Rule', cell: (/** @type {any} */ l) => `${l.rule}${l.period ? ` per ${l.period}` : ''}` },
			{ name: 'Used', num: true, cell: (/** @type {any} */ l) => html`<${Meter} share=${1 - l.left / l.amount} label=${percent(l.amount - l.left, l.amount)} /> ${percent(l.amount - l.left, l.amount)}` },
			{ name: 'Begins anew', cell: (/** @type {any} */ l) => html`<${Time} at=${l.renews_at} none="–" />` },
		]} />`;
	}}<//></section>`;
}
