// Exchanges: the newest records of the ledger, live, and one of them opened.
import { html, useEffect, useState } from '../lib/preact.js';
import { query, useData } from '../lib/api.js';
import { Chart } from '../lib/chart.js';
import { clock, local, milliseconds, number, plural, sentence, short, stamp, when } from '../lib/format.js';
import { keyName } from '../lib/names.js';
import { LimitTable } from '../lib/limits.js';
import { holding } from '../lib/prompts.js';
import { choose, days, hours, Range, spanOf } from '../lib/range.js';
import { Cost, filters, inputOf, Outcome, spaced, tokensOf } from '../lib/record.js';
import { addressOf, oneOf, root, route, set } from '../lib/route.js';
import {
	administers,
	Chip,
	Choice,
	Copy,
	Empty,
	filtered,
	Filters,
	Name,
	Page,
	Part,
	Table,
	Time,
	usable,
} from '../lib/ui.js';

/** @typedef {import('../lib/record.js').UsageRecord} UsageRecord */

const size = 50;
const selectable = /** @type {import('../lib/ui.js').Filter[]} */ ([
	...filters,
	['upstream_model', 'Model of the provider'],
	['client_format', 'Format', ['messages', 'chat', 'completions', 'responses', 'gemini']],
	['status', 'Status'],
	['stream', 'Stream', ['true', 'false']],
	['slower', 'Slower than, s', 'number'],
	['dearer', 'Costs at least', 'number'],
	['limit_name', 'Limit'],
	['request', 'Request id'],
]);
const ranges = /** @type {import('../lib/range.js').Named} */ ([['', 'Newest'], ...hours, ...days]);
const orders = /** @type {[string, string][]} */ ([
	['', 'Newest first'],
	['duration', 'Longest first'],
	['first_byte', 'Latest first byte first'],
	['cost', 'Highest cost first'],
]);

/** selectionOf returns the parameters of the API for filters. @param {Record<string, string>} wanted */
const selectionOf = ({ slower, dearer, ...wanted }) => ({
	...wanted,
	min_duration_ms: slower && Math.round(1000 * Number(slower)),
	min_cost_micro: dearer && Math.round(1e6 * Number(dearer)),
});

/** useLive returns the records that end while the page is visible, the newest first, and whether the stream is open.
 * A listener that was too slow reads the list anew. @param {string|null} path @param {() => void} missed */
function useLive(path, missed) {
	const [fresh, setFresh] = useState(/** @type {UsageRecord[]} */ ([]));
	const [open, setOpen] = useState(false);
	useEffect(() => {
		setFresh([]);
		if (path === null) return;
		/** @type {EventSource|null} */
		let source = null;
		const listen = () => {
			source?.close();
			source = null;
			setOpen(false);
			if (document.hidden) return;
			source = new EventSource(addressOf(path));
			source.addEventListener('open', () => setOpen(true));
			source.addEventListener('error', () => setOpen(false));
			source.addEventListener('record', (event) =>
				setFresh((before) => [JSON.parse(event.data), ...before].slice(0, 200)),
			);
			source.addEventListener('dropped', () => {
				setFresh([]);
				missed();
			});
		};
		const show = () => {
			listen();
			if (!document.hidden) {
				setFresh([]);
				missed();
			}
		};
		listen();
		document.addEventListener('visibilitychange', show);
		return () => {
			source?.close();
			document.removeEventListener('visibilitychange', show);
		};
	}, [path]);
	return { fresh, open };
}

/** columns returns the columns of records. A click on a value filters by it.
 * @param {string} team whose records they are; empty for none */
function columns(team) {
	const value = (/** @type {string} */ name, /** @type {string} */ text, shown = text) =>
		text === ''
			? html`<span class="muted">–</span>`
			: html`
				<button class="link bare" title=${`Only ${text}`} onClick=${() => set({ [name]: text, after: '' })}>
					<${Name} of=${shown} />
				</button>
			`;
	return [
		{
			name: 'Time',
			cell: (/** @type {UsageRecord} */ r) => html`
				<a class="tab nowrap" href=${`${root}exchanges/${r.id}?${route.value.query}`} title=${when(r.at).toString()}>
					${stamp(r.at).slice(stamp(r.at).startsWith(local(Date.now()).slice(0, 10)) ? 11 : 5)}
				</a>
			`,
		},
		{ name: 'Outcome', cell: (/** @type {UsageRecord} */ r) => html`<${Outcome} record=${r} />` },
		(administers() || team) && { name: 'User', cell: (/** @type {UsageRecord} */ r) => value('user', r.user) },
		{ name: 'Key', cell: (/** @type {UsageRecord} */ r) => value('key', r.key, keyName(r.key)) },
		{ name: 'Format', cell: (/** @type {UsageRecord} */ r) => value('client_format', r.format) },
		{ name: 'Model', cell: (/** @type {UsageRecord} */ r) => value('model', r.model) },
		{
			name: 'Answered by',
			cell: (/** @type {UsageRecord} */ r) => {
				const call = r.calls.at(-1);
				return call
					? html`
						<span class="nowrap">
							<${Name} of=${`${call.provider}/${call.upstream_model}`} wide />
							${r.calls.length > 1 && html` <span class="muted" title="Calls of providers">×${r.calls.length}</span>`}
						</span>
					`
					: html`<span class="muted">no call</span>`;
			},
		},
		{ name: 'In', num: true, cell: (/** @type {UsageRecord} */ r) => short(tokensOf(r).input) },
		{ name: 'Out', num: true, cell: (/** @type {UsageRecord} */ r) => short(tokensOf(r).output) },
		{ name: 'Cost', num: true, cell: (/** @type {UsageRecord} */ r) => html`<${Cost} calls=${r.calls} />` },
		{
			name: 'First byte',
			num: true,
			cell: (/** @type {UsageRecord} */ r) => (r.first_byte_ms ? milliseconds(r.first_byte_ms) : '–'),
		},
		{ name: 'Duration', num: true, cell: (/** @type {UsageRecord} */ r) => milliseconds(r.duration_ms) },
	];
}

export default function Exchanges() {
	return route.value.rest ? html`<${One} key=${route.value.rest} id=${route.value.rest} />` : html`<${List} />`;
}

/** Bars shows how the exchanges of a range ended, and how soon their first content came. A part becomes the range.
 * @param {{of: import('../lib/api.js').Data<any>}} props */
function Bars({ of }) {
	return html`
		<section class="panel">
			<${Part} of=${of} rows=${4}>
				${(/** @type {any} */ data) => {
					const items = /** @type {any[]} */ (data.items);
					const end = (/** @type {number} */ i) => items[i + 1]?.from ?? data.to;
					const dated = when(data.to).getTime() - when(data.from).getTime() > 86400e3;
					const label = (/** @type {any} */ { from }) =>
						data.step_seconds < 60
							? clock(when(from))
							: local(from)
									.replace('T', ' ')
									.slice(dated ? 5 : 11, data.step_seconds < 86400 ? 16 : 10);
					const part = (/** @type {string} */ name) => items.map((item) => item[name]);
					const select = (/** @type {number} */ first, /** @type {number} */ last) =>
						choose(items[first].from, end(last));
					return html`
						<div class="body">
							<${Chart} low label="Exchanges over time"
								buckets=${items.map(label)} format=${short} measure=${milliseconds}
								series=${[
									{ name: 'answered', values: part('answered'), is: 'ok' },
									{ name: 'refused', values: part('refused'), is: 'warn' },
									{ name: 'failed', values: part('failed'), is: 'ill' },
									{ name: 'client_closed', values: part('other'), is: 'off' },
								]}
								lines=${[
									{ name: 'first byte, median', values: part('first_byte_p50_ms') },
									{ name: '95 %', values: part('first_byte_p95_ms') },
								]}
								brush=${select}
								pick=${(/** @type {string} */ outcome) => set({ outcome, after: '' })} named=${spaced}
							/>
						</div>
						${
							data.scanned_since &&
							html`
								<footer class="muted small">
									The chart begins at ${local(data.scanned_since).replace('T', ' ')}: choose a shorter range.
								</footer>
							`
						}
					`;
				}}
			<//>
		</section>
	`;
}

/** Shown is the choice of columns. @param {{names: string[], hidden: string[]}} props */
const Shown = ({ names, hidden }) => html`
	<details class="menu">
		<summary class="button">Columns</summary>
		<div class="panel body stack">
			${names.map(
				(name) => html`
					<label class="check">
						<input type="checkbox" checked=${!hidden.includes(name)}
							onChange=${(/** @type {any} */ e) =>
								set({
									hide: (e.target.checked ? hidden.filter((each) => each !== name) : [...hidden, name]).join(','),
								})}
						/>
						<span>${name}</span>
					</label>
				`,
			)}
		</div>
	</details>
`;

/** List shows the exchanges of a range, the newest first and live unless the address asks for others. */
function List() {
	const settings = route.value.query;
	const wanted = filtered(selectable, settings);
	const after = settings.get('after') ?? '';
	const sort = oneOf('sort', orders, '');
	const span = spanOf(ranges),
		{ from, to } = span;
	const selection = { ...selectionOf(wanted), from, to };
	const records = useData(query('/api/v1/records', { ...selection, sort, limit: size, after: sort ? '' : after }));
	const ended = after || sort || to;
	const bars = useData(query('/api/v1/records/histogram', selection), { every: ended ? 0 : 10 });
	const live = useLive(ended ? null : query('/api/v1/records/live', selectionOf(wanted)), records.reload);
	const given = Object.values(wanted).some(Boolean);
	const [open, setOpen] = useState(false);
	const hidden = (settings.get('hide') ?? '').split(',').filter(Boolean);
	const offered = /** @type {import('../lib/ui.js').Column<any>[]} */ (columns(wanted.team).filter(Boolean));
	const exported = (/** @type {string} */ format) => query(addressOf('/api/v1/records'), { ...selection, format });
	return html`
		<${Page} title="Exchanges"
			actions=${html`<span aria-live="off">
					${
						ended
							? html`<a class="button" href=${query(`${root}exchanges`, { ...wanted, hide: hidden.join() })}>Newest</a>`
							: html`<${Chip} is=${live.open ? 'ok' : 'off'}>${live.open ? 'live' : 'not live'}<//>`
					}
				</span>
				${!live.open && html`<button onClick=${records.reload}>Read again</button>`}
				<button aria-expanded=${open ? 'true' : 'false'} onClick=${() => setOpen(!open)}>
					Filter
				</button>`}
		>
			<div class="row">
				<${Range} offered=${ranges} of=${span} />
				<${Choice} label="Order" name="sort" options=${orders} value=${sort} />
				<${Shown} names=${offered.slice(1).map(({ name }) => name)} hidden=${hidden} />
				<a class="button" href=${exported('csv')} download="exchanges.csv">CSV</a>
				<a class="button" href=${exported('jsonl')} download="exchanges.jsonl">JSON Lines</a>
			</div>
			<${Filters} filters=${usable(selectable)} wanted=${wanted} open=${open} />
			<${Bars} of=${bars} />
			<section class="panel">
				<${Part} of=${records} rows=${12}>
					${(/** @type {any} */ data) => {
						const known = new Set(data.items.map((/** @type {UsageRecord} */ r) => r.id));
						const rows = [...live.fresh.filter((r) => !known.has(r.id)), ...data.items].slice(
							0,
							ended ? size : 2 * size,
						);
						if (rows.length === 0)
							return data.next
								? html`
									<${Empty} title="Nothing among the newest records.">
										<button onClick=${() => set({ after: data.next })}>Search older ones</button>
									<//>
								`
								: html`
									<${Empty} title=${given || from ? 'No exchange matches.' : 'No exchange yet'}>
										${
											!given && !from
												? html`
													A request appears here when it has ended. <a href=${`${root}connect`}>Connect</a> sends the
													first one.
												`
												: html`<a class="button" href=${`${root}exchanges`}>Show all exchanges</a>`
										}
									<//>
								`;
						return html`
							<${Table} label="Exchanges" columns=${offered.filter(({ name }) => !hidden.includes(name))} rows=${rows}
								id=${(r) => r.id} fresh=${(r) => !known.has(r.id)}
							/>
							<footer>
								<span class="muted small">
									${plural(rows.length, 'exchange')}
									${data.behind_seconds ? `, the ledger is ${data.behind_seconds} s behind` : ''}
									${data.scanned_since ? `, of those since ${local(data.scanned_since).replace('T', ' ')}` : ''}
								</span>
								${data.next && html`<button class="small" onClick=${() => set({ after: data.next })}>Older</button>`}
							</footer>
						`;
					}}
				<//>
			</section>
		<//>
	`;
}

/** One shows an exchange with its calls. @param {{id: string}} props */
function One({ id }) {
	const team = route.value.query.get('team') ?? '';
	const record = useData(query(`/api/v1/records/${encodeURIComponent(id)}`, { team }));
	return html`
		<${Page} title="Exchange"
			actions=${html`
				${
					holding(record.data?.request) &&
					html`
						<a class="button" href=${query(`${root}playground`, { exchange: record.data?.request })}>
							Open in the playground
						</a>
					`
				}
				<a class="button" href=${`${root}exchanges?${route.value.query}`}>All exchanges</a>
			`}
		>
			<${Part} of=${record} rows=${8}>
				${(/** @type {UsageRecord} */ r) => html`
					<dl class="facts">
						<div>
							<dt>Outcome</dt>
							<dd>
								<${Outcome} record=${r} bare />
								<small>${r.status ? `status ${r.status}` : 'no status sent'}</small>
							</dd>
						</div>
						<div>
							<dt>Model</dt>
							<dd>
								<${Name} of=${r.model} />
								<small>
									${r.format}
									${r.stream ? ', stream' : ''}
									${r.operation === 'generate' ? '' : `, ${r.operation}`}
								</small>
							</dd>
						</div>
						<div>
							<dt>Tokens</dt>
							<dd class="nowrap">
								${short(tokensOf(r).input)} → ${short(tokensOf(r).output)}
								<small>in → out</small>
							</dd>
						</div>
						<div><dt>Cost</dt><dd><${Cost} calls=${r.calls} /></dd></div>
						<div>
							<dt>First byte</dt><dd>${r.first_byte_ms ? milliseconds(r.first_byte_ms) : '–'}</dd>
						</div>
						<div><dt>Duration</dt><dd>${milliseconds(r.duration_ms)}</dd></div>
					</dl>
					<div class="two">
						<section class="panel">
							<header><h2>Request</h2></header>
							<div class="body">
								<dl class="list">
									${r.reason && html`<dt>Reason</dt><dd>${sentence(r.reason)}</dd>`}
									${r.choice && html`<dt>Target chosen</dt><dd>by ${spaced(r.choice)}</dd>`}
									<dt>Time</dt>
									<dd>
										<${Time} at=${r.at} /> <span class="muted">${stamp(r.at)}</span>
									</dd>
									<dt>Key</dt>
									<dd>
										<a href=${query(`${root}exchanges`, { key: r.key, team })}><bdi>${keyName(r.key)}</bdi></a>
									</dd>
									<dt>User</dt>
									<dd>${r.user ? html`<bdi>${r.user}</bdi>` : html`<span class="muted">none</span>`}</dd>
									<dt>Limit</dt>
									<dd>${r.limit ? html`<bdi>${r.limit}</bdi>` : html`<span class="muted">none</span>`}</dd>
									${
										r.customer &&
										html`
											<dt>Customer</dt>
											<dd>
												<a href=${query(`${root}exchanges`, { customer: r.customer, team })}>
													<bdi>${r.customer}</bdi>
												</a>
											</dd>
										`
									}
									${
										r.tags.length > 0 &&
										html`
											<dt>Tags</dt>
											<dd class="tags">
												${r.tags.map(
													(tag) => html`
														<a class="tag"
															href=${query(`${root}exchanges`, { tag: `${tag.name}=${tag.value}`, team })}
														>
															<bdi>${tag.name}=${tag.value}</bdi>
														</a>
													`,
												)}
											</dd>
										`
									}
									${
										/** @type {[string, string[]][]} */ ([
											['Left out of the request', r.losses],
											['Left out of the answer', r.answer_losses],
											['Not checked by', r.unchecked],
										]).map(
											([title, names]) =>
												names.length > 0 &&
												html`
													<dt>${title}</dt>
													<dd class="tags">${names.map((name) => html`<code class="tag">${name}</code>`)}</dd>
												`,
										)
									}
									<dt>Request id</dt><dd class="row"><code>${r.request}</code><${Copy} text=${r.request} /></dd>
								</dl>
								<p class="small muted">
									The logs name the request by this id. The ledger has no part of a prompt or of an answer.
								</p>
							</div>
						</section>
						${administers() ? html`<${Why} record=${r} />` : html`<${Counted} record=${r} team=${team} />`}
					</div>
					${
						r.attempts.length > 0 &&
						html`
							<section class="panel">
								<header>
									<h2>Attempts</h2>
									<span class="muted small">In the order in which the targets were asked</span>
								</header>
								<${Attempts} record=${r} />
							</section>
						`
					}
					<section class="panel">
						<header>
							<h2>Calls of providers</h2>
							<span class="muted small">${r.calls.length === 0 ? '' : 'The last one decided the outcome.'}</span>
						</header>
						${
							r.calls.length === 0
								? html`
									<${Empty} title="No provider was called.">
										The gateway answered by itself, with status ${r.status}.
									<//>
								`
								: html`
									<${Table} label="Calls" id=${(c) => c.n}
										rows=${r.calls.map((call, n) => ({ ...call, n }))}
										columns=${[
											{ name: '#', cell: (/** @type {any} */ c) => c.n + 1 },
											{ name: 'Provider', cell: (/** @type {any} */ c) => html`<${Name} of=${c.provider} />` },
											{
												name: 'Model',
												cell: (/** @type {any} */ c) => html`
													<${Name} of=${c.upstream_model} />
													${
														c.answered_model &&
														c.answered_model !== c.upstream_model &&
														html` <span class="muted small">answered by <bdi>${c.answered_model}</bdi></span>`
													}
												`,
											},
											{
												name: 'Format',
												cell: (/** @type {any} */ c) => html`
													${c.format}
													${c.format === r.format ? '' : html` <span class="tag">translated</span>`}
												`,
											},
											{
												name: 'Status',
												cell: (/** @type {any} */ c) =>
													html`
														<${Chip} is=${c.status >= 200 && c.status < 300 ? 'ok' : 'ill'}>
															${c.status || 'no answer'}
														<//>
													`,
											},
											{ name: 'Input', num: true, cell: (/** @type {any} */ c) => number(inputOf(c)) },
											{
												name: 'of it from cache',
												num: true,
												cell: (/** @type {any} */ c) => number(c.cache_read_tokens),
											},
											{ name: 'Output', num: true, cell: (/** @type {any} */ c) => number(c.output_tokens) },
											{
												name: 'of it reasoning',
												num: true,
												cell: (/** @type {any} */ c) => number(c.reasoning_tokens),
											},
											...(r.calls.some(unitsOf) ? [{ name: 'Units', cell: (/** @type {any} */ c) => unitsOf(c) }] : []),
											{ name: 'Counted by', cell: (/** @type {any} */ c) => c.source },
											{
												name: 'Price',
												cell: (/** @type {any} */ c) =>
													c.price
														? html`<${Name} of=${c.price} />`
														: html`
															<span class="muted">
																${c.cost_source === 'provider' ? 'stated by the provider' : 'none'}
															</span>
														`,
											},
											{ name: 'Cost', num: true, cell: (/** @type {any} */ c) => html`<${Cost} calls=${[c]} />` },
										]}
									/>
								`
						}
					</section>
				`}
			<//>
		<//>
	`;
}

const tokensOfMedia = ['image_input', 'image_output', 'audio_input', 'audio_output'];

/** unitsOf lists what a call is charged for beside tokens, and the tokens of images and of sound. @param {any} call */
const unitsOf = (call) =>
	['images', 'seconds', 'characters', 'queries', 'searches', ...tokensOfMedia.map((kind) => `${kind}_tokens`)]
		.filter((name) => call[name] > 0)
		.map((name) => `${spaced(name)}: ${number(call[name])}`)
		.join(', ');

/** What became of an attempt: its state, and its words. @type {Map<string, ['ok'|'warn'|'ill'|'off', string]>} */
const ends = new Map(
	Object.entries({
		answered: ['ok', 'answered'],
		cached: ['ok', 'answered from the cache'],
		client_closed: ['off', 'the client left'],
		lost: ['off', 'another target was faster'],
		refused: ['warn', 'refused the request'],
		rests: ['off', 'not asked: it rests'],
		busy: ['off', 'not asked: too many requests at once'],
		unsuitable: ['off', 'not asked: it cannot take the request'],
		costly: ['off', 'not asked: it may cost more than is left of a budget'],
		limited: ['off', 'not asked: a limit of its calls is used up'],
		unmet: ['off', 'not asked: the request does not meet its condition'],
		unreachable: ['ill', 'no answer'],
		cut: ['ill', 'broke off after content'],
	}),
);

/** Attempts shows each target whose turn it was, and how long its call took. @param {{record: UsageRecord}} props */
function Attempts({ record }) {
	const whole = Math.max(
		1,
		record.duration_ms,
		record.attempts.reduce((sum, each) => sum + each.duration_ms, 0),
	);
	let before = 0;
	const rows = record.attempts.map((each, n) => {
		const row = { ...each, n, from: before };
		before += each.duration_ms;
		return row;
	});
	/** @typedef {typeof rows[number]} Row */
	return html`
		<${Table} label="Attempts" rows=${rows} id=${(/** @type {Row} */ a) => a.n}
			columns=${[
				{ name: '#', cell: (/** @type {Row} */ a) => a.n + 1 },
				{
					name: 'Target',
					cell: (/** @type {Row} */ a) => html`
						<${Name} of=${`${a.provider}/${a.upstream_model}`} wide />
						${a.repeated && html` <span class="tag">again</span>`}
					`,
				},
				{ name: 'Format', cell: (/** @type {Row} */ a) => a.format || html`<span class="muted">–</span>` },
				{
					name: 'End',
					cell: (/** @type {Row} */ a) => {
						const [is, words] = ends.get(a.end) ?? ['ill', spaced(a.end)];
						return html`<${Chip} is=${is}>${words}<//>`;
					},
				},
				{ name: 'Status', cell: (/** @type {Row} */ a) => a.status || html`<span class="muted">–</span>` },
				{
					name: 'Time',
					num: true,
					cell: (/** @type {Row} */ a) => html`
						<span class="row end nowrap">
							<span class="span" title=${`from ${milliseconds(a.from)} to ${milliseconds(a.from + a.duration_ms)}`}>
								<i
									style=${{ marginLeft: `${(100 * a.from) / whole}%`, width: `${(100 * a.duration_ms) / whole}%` }}
								></i>
							</span>
							<span class="tab fixed">${milliseconds(a.duration_ms)}</span>
						</span>
					`,
				},
			]}
		/>
	`;
}

/** Why shows where requests for the model go now. @param {{record: UsageRecord}} props */
function Why({ record }) {
	const why = useData(query('/api/v1/explain', { model: record.model, format: record.format, key: record.key }));
	return html`
		<section class="panel">
			<header><h2>Targets of the model now</h2></header>
			${
				why.error?.status === 404 || why.error?.status === 400
					? html`<div class="body muted">${why.error.message}</div>`
					: html`
						<${Part} of=${why} rows=${2}>
							${(/** @type {any} */ data) => html`
								<${Table} label="Targets" id=${(t) => `${t.provider}/${t.upstream_model}/${t.api_key}`}
									rows=${data.targets}
									columns=${[
										{
											name: 'Target',
											cell: (/** @type {any} */ t) => html`<${Name} of=${`${t.provider}/${t.upstream_model}`} />`,
										},
										{
											name: 'State',
											cell: (/** @type {any} */ t) => html`
												<${Chip} is=${t.state === 'available' ? 'ok' : t.state === 'failing' ? 'warn' : 'ill'}>
													${t.state}
												<//>
											`,
										},
										{
											name: 'Lane',
											cell: (/** @type {any} */ t) =>
												t.lane ?? html`<span class="muted">not for ${record.format}</span>`,
										},
										{
											name: 'Left out',
											cell: (/** @type {any} */ t) => html`
												<span class="nowrap" title=${t.reported.join('\n')}>
													${plural(t.reported.length, 'field')}
												</span>
											`,
										},
										{
											name: 'Refused',
											cell: (/** @type {any} */ t) => html`
												<span class="nowrap" title=${t.refused.join('\n')}>
													${plural(t.refused.length, 'field')}
												</span>
											`,
										},
									]}
								/>
								${
									data.key &&
									html`
										<div class="body small">
											<span class="muted">Limits that count:</span>${' '}
											${
												data.key.limits.length === 0
													? 'none'
													: data.key.limits.map(
															(/** @type {any} */ l) => html`<bdi>${l.name}</bdi> (per ${l.per}: ${l.rules}) `,
														)
											}
										</div>
									`
								}
							`}
						<//>
					`
			}
		</section>
	`;
}

/** Counted shows which limits count requests with the key, or the limit of the team whose record it is.
 * @param {{record: UsageRecord, team: string}} props */
function Counted({ record, team }) {
	const limits = useData(query('/api/v1/limits', team ? { team } : { key: record.key }));
	return html`
		<section class="panel">
			<header><h2>Limits of the ${team ? 'team' : 'key'}</h2></header>
			<${Part} of=${limits} rows=${1}>
				${(/** @type {any} */ data) =>
					data.items.length === 0
						? html`<div class="body muted">None.</div>`
						: html`<${LimitTable} rows=${data.items} />`}
			<//>
		</section>
	`;
}
