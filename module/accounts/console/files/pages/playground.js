// Playground: a request in any format, its answer as it arrives, and both sides of the wire.
import { html, useEffect, useRef, useState } from '../lib/preact.js';
import { call, get, post, query, useData } from '../lib/api.js';
import {
	append,
	curl,
	dataOf,
	dialects,
	merged,
	problem,
	python,
	splitEvents,
	tools,
	typescript,
} from '../lib/dialects.js';
import { milliseconds, sentence, short } from '../lib/format.js';
import { bearer, held, NeedKey } from '../lib/key.js';
import { Cost, tokensOf } from '../lib/record.js';
import { addressOf, base, root, route, set } from '../lib/route.js';
import { Chip, Code, Copy, Empty, Field, Page, Part, Switch } from '../lib/ui.js';
import { Wire } from '../lib/wire.js';

/** @typedef {import('../lib/dialects.js').Turn} Turn */
/** @typedef {import('../lib/dialects.js').Piece} Piece */
/** @typedef {{format: string, model: string}} Lane */
/** @typedef {{lanes: Lane[], system: string, turns: Turn[], tools: string, max: number, stream: boolean, temperature:
 * string, effort: string, schema: string, more: string}} Settings  the last two, and tools, are JSON */
/** @typedef {{format: string, path: string, body: any, state: 'running'|'ended'|'failed'|'cancelled', status: number,
 * parts: Piece[], error: string, request: string, first: number, ended: number, raw: string, record?: any, capture?:
 * any, missing?: string}} Run */

const ready = /** @type {[string, string][]} */ ([
	['', 'none'],
	...Object.entries(tools).map(([name, list]) => [JSON.stringify(list, null, 2), name]),
]);

const mostLanes = 4;
const efforts = ['', 'minimal', 'low', 'medium', 'high', 'max'];

/** fault returns what is wrong with a text that should be JSON of a kind, with its line; "" without a fault.
 * @param {string} text @param {'an object'|'a list'} kind */
function fault(text, kind) {
	if (!text.trim()) return '';
	try {
		const value = JSON.parse(text);
		const fits = kind === 'a list' ? Array.isArray(value) : value?.constructor === Object;
		return fits ? '' : `The JSON is not ${kind}.`;
	} catch (error) {
		return sentence(/** @type {Error} */ (error).message);
	}
}

/** initial returns the request that the address keeps. @returns {Settings} */
function initial() {
	const settings = {
		lanes: [{ format: 'chat', model: '' }],
		system: '',
		turns: [{ role: 'user', text: 'Hello' }],
		tools: '',
		max: 400,
		stream: true,
		temperature: '',
		effort: '',
		schema: '',
		more: '',
	};
	try {
		const given = { ...settings, ...JSON.parse(route.value.query.get('request') ?? '{}') };
		const valid =
			given.lanes.length > 0 &&
			given.lanes.length <= mostLanes &&
			given.lanes.every(
				(/** @type {any} */ lane) => Object.hasOwn(dialects, lane.format) && typeof lane.model === 'string',
			) &&
			given.turns.length > 0 &&
			given.turns.every((/** @type {any} */ turn) => typeof turn.text === 'string') &&
			['tools', 'system', 'temperature', 'effort', 'schema', 'more'].every((name) => typeof given[name] === 'string') &&
			typeof given.max === 'number';
		return /** @type {Settings} */ (valid ? given : settings);
	} catch {
		return /** @type {Settings} */ (settings);
	}
}

/** capturing is the header that has both sides of the wire kept; null where captures are off.
 * @returns {Promise<Record<string, string>|null>} */
async function capturing() {
	const token = await post('/api/v1/captures').catch(() => null);
	return token && { [token.header]: token.token };
}

/** run sends a request, and tells what has arrived.
 * @param {string} format @param {string} path @param {any} body @param {AbortSignal} signal
 * @param {(change: Partial<Run>) => void} change */
async function run(format, path, body, signal, change) {
	const dialect = dialects[format];
	const capture = await capturing();
	const start = performance.now();
	let parts = /** @type {Piece[]} */ ([]),
		raw = '',
		request = '';
	try {
		const answer = await fetch(addressOf(path), {
			method: 'POST',
			signal,
			headers: { ...bearer(), ...dialect.headers, ...capture, 'Content-Type': 'application/json' },
			body: JSON.stringify(body),
		});
		request = answer.headers.get('x-request-id') ?? answer.headers.get('request-id') ?? '';
		change({ status: answer.status, request });
		const streams = answer.headers.get('content-type')?.startsWith('text/event-stream');
		const reader = /** @type {ReadableStream<Uint8Array>} */ (answer.body).getReader();
		const decoder = new TextDecoder();
		let rest = '',
			error = '';
		for (;;) {
			const { done, value } = await reader.read();
			if (done) break;
			const text = decoder.decode(value, { stream: true });
			raw += text;
			if (!streams) continue;
			const split = splitEvents(rest + text);
			rest = split.rest;
			for (const event of split.events.map(dataOf).filter(Boolean)) {
				const pieces = dialect.event(event);
				if (pieces.length > 0 && parts.length === 0) change({ first: performance.now() - start });
				parts = append(parts, pieces);
				error = error || problem(event);
			}
			change({ parts, raw });
		}
		if (!streams) {
			const whole = JSON.parse(raw || '{}');
			error = problem(whole);
			parts = append([], answer.ok ? dialect.whole(whole) : []);
		}
		change({ parts, raw, error, state: error || !answer.ok ? 'failed' : 'ended', ended: performance.now() - start });
	} catch (failure) {
		change({
			raw,
			state: signal.aborted ? 'cancelled' : 'failed',
			error: signal.aborted ? '' : `The answer broke off: ${failure}`,
			ended: performance.now() - start,
		});
	}
	await Promise.all([
		settled(request, change),
		capture && request
			? captured(request, change)
			: change({
					missing: capture
						? 'The request did not reach the gateway.'
						: 'Captures are off in the configuration of the gateway.',
				}),
	]);
}

/** pause waits, the longer the more often it has waited. @param {number} turn */
const pause = (turn) => new Promise((done) => setTimeout(done, 50 * 2 ** turn));

/** captured reads the capture when it is complete.
 * @param {string} request @param {(change: Partial<Run>) => void} change */
async function captured(request, change) {
	for (let turn = 0; turn < 8; turn++) {
		const capture = await get(`/api/v1/captures/${request}`).catch((error) => ({ missing: error.message }));
		change('missing' in capture ? capture : { capture, missing: undefined });
		if (capture.ended) return;
		await pause(turn);
	}
}

/** settled reads the record of the ledger, which has tokens and cost.
 * @param {string} request @param {(change: Partial<Run>) => void} change */
async function settled(request, change) {
	for (let turn = 0; request && turn < 8; turn++) {
		const none = () => ({ items: [] }); // no ledger
		const page = await get(query('/api/v1/records', { request, limit: 1 })).catch(none);
		if (page.items.length > 0) return change({ record: page.items[0] });
		await pause(turn);
	}
}

export default function Playground() {
	if (!held.value)
		return html`
			<${Page} title="Playground">
				<${NeedKey}
					why=${
						'The playground sends requests as a client does: with a key. ' +
						'Their tokens count and cost as those of any client.'
					} />
			<//>
		`;
	return html`<${Bench} key=${held.value.secret} />`;
}

function Bench() {
	const [settings, setSettings] = useState(initial);
	const [runs, setRuns] = useState(/** @type {Run[]} */ ([]));
	const control = useRef(/** @type {AbortController|null} */ (null));
	useEffect(() => () => control.current?.abort(), []);
	const models = useData('/v1/models', {
		read: async (path, options) =>
			(await call('GET', path, undefined, { ...options, headers: bearer() })).data.map(
				(/** @type {any} */ model) => model.id,
			),
	});
	const change = (/** @type {Partial<Settings>} */ part) => {
		const next = { ...settings, ...part };
		setSettings(next);
		const kept = linked(next);
		if (kept.length < 6000) set({ request: kept }); // a longer one is no link any more
	};
	/** linked returns what a link keeps of a request: with the names of the models, since others have other lists.
	 * @param {Settings} of */
	const linked = (of) =>
		JSON.stringify({
			...of,
			lanes: of.lanes.map((lane) => ({ ...lane, model: lane.model || models.data?.[0] || '' })),
			turns: of.turns.map(({ role, text }) => ({ role, text })),
		});
	const requests = () =>
		settings.lanes.map((lane) => {
			const json = (/** @type {string} */ text) => (dialects[lane.format].plain ? '' : text.trim()); // not shown there
			const wanted = {
				...settings,
				model: lane.model || models.data?.[0] || '',
				tools: JSON.parse(json(settings.tools) || '[]'),
				temperature: settings.temperature === '' ? undefined : Number(settings.temperature),
				schema: JSON.parse(json(settings.schema) || 'null'),
			};
			return {
				format: lane.format,
				path: dialects[lane.format].path(wanted),
				body: merged(dialects[lane.format].body(wanted), JSON.parse(settings.more.trim() || '{}')),
			};
		});
	const running = runs.some((each) => each.state === 'running');
	const send = () => {
		const faulty = /** @type {HTMLElement|null} */ (document.querySelector('.bench [aria-invalid=true]'));
		if (faulty) {
			faulty.closest('details')?.setAttribute('open', '');
			return faulty.focus();
		}
		const wanted = requests();
		control.current = new AbortController();
		const { signal } = control.current;
		setRuns(
			wanted.map((each) => ({
				...each,
				state: 'running',
				status: 0,
				parts: [],
				error: '',
				request: '',
				first: 0,
				ended: 0,
				raw: '',
			})),
		);
		wanted.forEach((each, i) =>
			run(each.format, each.path, each.body, signal, (part) =>
				setRuns((all) => all.map((other, n) => (n === i ? { ...other, ...part } : other))),
			),
		);
	};
	return html`
		<${Page} title="Playground"
			actions=${html`
				<${Copy} label="Copy link" text=${query(`${base}/console/playground`, { request: linked(settings) })} />
				${
					running
						? html`<button onClick=${() => control.current?.abort()}>Cancel</button>`
						: html`<button class="primary" onClick=${send}>Send</button>`
				}`}
		>
			<div class="bench">
				<section class="panel" aria-label="Request"
					onKeyDown=${(/** @type {KeyboardEvent} */ e) => {
						if (e.key === 'Enter' && (e.ctrlKey || e.metaKey) && !running) send();
					}}
				>
					<header>
						<h2>Request</h2>
						<span class="muted small"><kbd>Ctrl</kbd> <kbd>Enter</kbd> sends</span>
					</header>
					<div class="body stack wide">
						<${Part} of=${models} rows=${2}>
							${(/** @type {string[]} */ names) => html`
								<${Request} settings=${settings} change=${change} models=${names} />
							`}
						<//>
					</div>
				</section>
				<div class="stack wide">
					${
						runs.length === 0
							? html`
								<section class="panel">
									<${Empty} title="The answer appears here">
										with both sides of the wire: what the client sent, what the provider got, and what came back.
									<//>
								</section>
							`
							: html`
								<div class=${runs.length > 1 ? 'two' : ''}>
									${runs.map((each, i) => html`<${Answer} key=${i} run=${each} />`)}
								</div>
							`
					}
				</div>
			</div>
		<//>
	`;
}

/** Json is a text of JSON, with its fault below.
 * @param {{label: string, kind: 'an object'|'a list', value: string, set: (value: string) => void, rows?: number,
 *   hint?: string}} props */
function Json({ label, kind, value, set, rows = 3, hint }) {
	const wrong = fault(value, kind);
	return html`
		<${Field} label=${label} hint=${!wrong && hint}>
			<textarea class="mono" rows=${rows} aria-label=${label} aria-invalid=${wrong ? 'true' : 'false'}
				spellcheck=${false} value=${value} onInput=${(/** @type {any} */ e) => set(e.target.value)}
			></textarea>
			${wrong && html`<span class="note ill small" role="alert">${wrong}</span>`}
		<//>
	`;
}

/** Fields are those that requests may lack. @param {{settings: Settings, change: (part: Partial<Settings>) => void,
 * plain: boolean}} props */
function Fields({ settings, change, plain }) {
	const set = (/** @type {string} */ name) => (/** @type {any} */ e) => change({ [name]: e.target.value });
	const given = ['temperature', 'effort', 'schema', 'more'].some((name) => settings[/** @type {'more'} */ (name)]);
	return html`
		<details open=${given}>
			<summary>More fields</summary>
			<div class="stack">
				<div class="row">
					<${Field} label="Temperature">
						<input type="number" min="0" max="2" step="0.1" placeholder="unset" value=${settings.temperature}
							onInput=${set('temperature')}
						/>
					<//>
					${
						!plain &&
						html`
							<${Field} label="Effort">
								<select value=${settings.effort} onChange=${set('effort')}>
									${efforts.map((name) => html`<option value=${name}>${name || 'unset'}</option>`)}
								</select>
							<//>
						`
					}
				</div>
				${
					!plain &&
					html`
						<${Json} label="Schema of the answer" kind="an object" value=${settings.schema}
							set=${(/** @type {string} */ schema) => change({ schema })}
						/>
					`
				}
				<${Json} label="Other fields, as JSON" kind="an object" value=${settings.more}
					hint="They join the request of every model, and replace its fields of the same name."
					set=${(/** @type {string} */ more) => change({ more })}
				/>
			</div>
		</details>
	`;
}

/** Request is what is sent.
 * @param {{settings: Settings, change: (part: Partial<Settings>) => void, models: string[]}} props */
function Request({ settings, change, models }) {
	const lane = (/** @type {number} */ n, /** @type {Partial<Lane>} */ part) =>
		change({ lanes: settings.lanes.map((each, i) => (i === n ? { ...each, ...part } : each)) });
	const turn = (/** @type {number} */ n, /** @type {Partial<Turn>} */ part) =>
		change({ turns: settings.turns.map((each, i) => (i === n ? { ...each, ...part } : each)) });
	const read = (/** @type {number} */ n, /** @type {File|undefined} */ file) => {
		if (!file?.type.startsWith('image/')) return;
		const reader = new FileReader();
		reader.onload = () => turn(n, { image: String(reader.result) });
		reader.readAsDataURL(file);
	};
	const value = (/** @type {any} */ event) => event.target.value;
	const plain = settings.lanes.every((each) => dialects[each.format].plain);
	return html`
		<datalist id="playground-models">${models.map((name) => html`<option value=${name} />`)}</datalist>
		${settings.lanes.map(
			(each, n) => html`
				<div class="row" key=${n}>
					<select aria-label=${`Format ${n + 1}`} value=${each.format}
						onChange=${(/** @type {any} */ e) => lane(n, { format: value(e) })}
					>
						${Object.keys(dialects).map((name) => html`<option value=${name}>${name}</option>`)}
					</select>
					<input class="grow" aria-label=${`Model ${n + 1}`} list="playground-models" autocomplete="off"
						spellcheck=${false} placeholder=${models[0] ?? 'name of a model'} value=${each.model}
						onInput=${(/** @type {any} */ e) => lane(n, { model: value(e).trim() })}
					/>
					${
						settings.lanes.length > 1 &&
						html`
							<button class="small" aria-label=${`Remove model ${n + 1}`}
								onClick=${() => change({ lanes: settings.lanes.filter((_, i) => i !== n) })}
							>
								✕
							</button>
						`
					}
				</div>
			`,
		)}
		<div class="row between">
			<label class="check">
				<input type="checkbox" checked=${settings.stream}
					onChange=${(/** @type {any} */ e) => change({ stream: e.target.checked })}
				/>
				Stream
			</label>
			<label class="row small">
				<span class="muted">at most</span>
				<input type="number" min="1" style=${{ width: '88px' }} value=${settings.max}
					onInput=${(/** @type {any} */ e) => change({ max: Number(value(e)) || 1 })}
				/>
				<span class="muted">tokens</span>
			</label>
			${
				settings.lanes.length < mostLanes &&
				html`
					<button class="small" onClick=${() => change({ lanes: [...settings.lanes, { ...settings.lanes[0] }] })}>
						Add model
					</button>
				`
			}
		</div>
		<${Fields} settings=${settings} change=${change} plain=${plain} />
		<${Field} label="System">
			<textarea rows="2" value=${settings.system}
				onInput=${(/** @type {any} */ e) => change({ system: value(e) })}
			></textarea>
		<//>
		${settings.turns.map(
			(each, n) => html`
				<div class="stack" key=${n} onDragOver=${(/** @type {Event} */ e) => e.preventDefault()}
					onDrop=${(/** @type {DragEvent} */ e) => {
						e.preventDefault();
						read(n, e.dataTransfer?.files[0]);
					}}
				>
					<div class="row between">
						<select class="small" aria-label=${`Role of turn ${n + 1}`} value=${each.role}
							onChange=${(/** @type {any} */ e) => turn(n, { role: value(e) })}
						>
							<option value="user">user</option>
							<option value="assistant">assistant</option>
						</select>
						<span class="row">
							${
								!plain &&
								(each.image
									? html`
										<img class="thumb" src=${each.image} alt="Image of the turn" />
										<button class="small" onClick=${() => turn(n, { image: undefined })}>
											Remove image
										</button>
									`
									: html`
										<label class="button small">
											Image
											<input class="sr" type="file" accept="image/*"
												onChange=${(/** @type {any} */ e) => read(n, e.target.files[0])}
											/>
										</label>
									`)
							}
							${
								settings.turns.length > 1 &&
								html`
									<button class="small" aria-label=${`Remove turn ${n + 1}`}
										onClick=${() => change({ turns: settings.turns.filter((_, i) => i !== n) })}
									>
										✕
									</button>
								`
							}
						</span>
					</div>
					<textarea aria-label=${`Text of turn ${n + 1}`} rows="4" value=${each.text}
						onInput=${(/** @type {any} */ e) => turn(n, { text: value(e) })}
					></textarea>
				</div>
			`,
		)}
		<div class="row">
			<button class="small"
				onClick=${() =>
					change({
						turns: [
							...settings.turns,
							{ role: settings.turns.at(-1)?.role === 'user' ? 'assistant' : 'user', text: '' },
						],
					})}
			>
				Add turn
			</button>
		</div>
		${
			!plain &&
			html`
				<div class="stack">
					<div class="row between">
						<h3>Tools</h3>
						<${Switch} label="Tools" options=${ready} value=${settings.tools}
							set=${(/** @type {string} */ tools) => change({ tools })}
						/>
					</div>
					${
						settings.tools !== '' &&
						html`
							<${Json} label="Tools as JSON" kind="a list" rows=${9} value=${settings.tools}
								set=${(/** @type {string} */ tools) => change({ tools })}
							/>
						`
					}
				</div>
			`
		}
	`;
}

const signs = /** @type {Record<string, ['ok'|'warn'|'ill'|'off', string]>} */ ({
	running: ['off', 'running'],
	ended: ['ok', 'answered'],
	failed: ['ill', 'failed'],
	cancelled: ['warn', 'cancelled'],
});

/** Answer is what came back. @param {{run: Run}} props */
function Answer({ run }) {
	const [view, setView] = useState('answer');
	const [sign, word] = signs[run.state];
	const tokens = run.record && tokensOf(run.record);
	return html`
		<section class="panel" aria-label="Answer">
			<header>
				<${Switch} label="View"
					options=${[
						['answer', 'Answer'],
						['wire', 'Wire'],
						['code', 'Code'],
					]}
					value=${view} set=${setView}
				/>
				<${Chip} is=${sign}>${word}${run.status ? ` ${run.status}` : ''}<//>
			</header>
			<div class="body stack wide">
				<dl class="facts small">
					<div><dt>First content</dt><dd>${run.first ? milliseconds(run.first) : '–'}</dd></div>
					<div><dt>End</dt><dd>${run.ended ? milliseconds(run.ended) : '–'}</dd></div>
					<div>
						<dt>Tokens</dt>
						<dd class="nowrap">${tokens ? `${short(tokens.input)} → ${short(tokens.output)}` : '–'}</dd>
					</div>
					<div>
						<dt>Cost</dt>
						<dd>${run.record ? html`<${Cost} calls=${run.record.calls} />` : '–'}</dd>
					</div>
				</dl>
				${run.error && html`<div class="note ill" role="alert">${sentence(run.error)}</div>`}
				${
					view === 'answer' &&
					html`
						<div class="stack" aria-live="off" data-answer>
							${run.parts.map((part) =>
								part.kind === 'text'
									? html`<div class="answer">${part.text}</div>`
									: part.kind === 'reasoning'
										? html`
											<details open class="small muted">
												<summary>Reasoning</summary>
												<div class="answer">${part.text}</div>
											</details>
										`
										: html`<div class="call"><b>${part.name ?? 'call'}</b> <code>${part.text}</code></div>`,
							)}
							${
								run.parts.length === 0 &&
								!run.error &&
								html`
									<p class="muted">
										${run.state === 'running' ? 'Waiting for the answer …' : 'The answer has no content.'}
									</p>
								`
							}
						</div>
					`
				}
				${
					view === 'wire' &&
					(run.capture
						? html`<${Wire} key=${run.request} capture=${run.capture} />`
						: html`
							<${Empty} title=${run.missing ? 'No capture' : 'The capture appears when the exchange has begun.'}>
								${run.missing}
							<//>
						`)
				}
				${
					view === 'code' &&
					html`
						<${Code} label="curl" wrap text=${curl(dialects[run.format], run.body, run.path)} />
						${
							dialects[run.format].sdk[0] &&
							html`
								<${Code} label="TypeScript" text=${typescript(dialects[run.format], run.body)} />
								<${Code} label="Python" text=${python(dialects[run.format], run.body)} />
							`
						}
					`
				}
				${
					run.request &&
					html`
						<div class="row between small muted">
							<span>Request <code>${run.request}</code></span>
							${run.record && html`<a href=${`${root}exchanges/${run.record.id}`}>Open the exchange</a>`}
						</div>
					`
				}
			</div>
		</section>
	`;
}
