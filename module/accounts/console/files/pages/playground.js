// Playground: a request in any format, its answer as it arrives, and both sides of the wire.
import { html, useEffect, useRef, useState } from '../lib/preact.js';
import { call, query, useData } from '../lib/api.js';
import { curl, python, typescript } from '../lib/code.js';
import { continued, dialects } from '../lib/dialects.js';
import { milliseconds, sentence, short } from '../lib/format.js';
import { bearer, held, NeedKey } from '../lib/key.js';
import { holding, Prompts, sent } from '../lib/prompts.js';
import { Cost, tokensOf } from '../lib/record.js';
import { Called, Request } from '../lib/request.js';
import { base, root, route, set } from '../lib/route.js';
import { begun, reopened, run } from '../lib/run.js';
import { read, requestOf, written } from '../lib/settings.js';
import { Chip, Code, Copy, Empty, Name, Page, Part, Switch } from '../lib/ui.js';
import { Wire } from '../lib/wire.js';

/** @typedef {import('../lib/prompts.js').Prompt} Prompt */
/** @typedef {import('../lib/run.js').Run} Run */
/** @typedef {import('../lib/settings.js').Settings} Settings */

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
	const before = useRef(holding(route.value.query.get('exchange')));
	const [settings, setSettings] = useState(() => read(before.current?.text ?? route.value.query.get('request')));
	const [runs, setRuns] = useState(/** @type {Run[]} */ ([]));
	const [listed, setListed] = useState(false);
	const control = useRef(/** @type {AbortController|null} */ (null));
	const models = useData('/v1/models', {
		read: async (path, options) =>
			(await call('GET', path, undefined, { ...options, headers: bearer() })).data.map(
				(/** @type {any} */ model) => model.id,
			),
	});
	const text = (/** @type {Settings} */ of) => written(of, models.data?.[0] ?? '');
	const change = (/** @type {Partial<Settings>} */ part) => {
		const next = { ...settings, ...part };
		setSettings(next);
		const request = text(next);
		set({ exchange: '', request: request.length < 6000 ? request : '' }); // a longer one is no link any more
	};
	const changeRun = (/** @type {number} */ n) => (/** @type {Partial<Run>} */ part) =>
		setRuns((all) => all.map((each, i) => (i === n ? { ...each, ...part } : each)));
	const running = runs.some((each) => each.state === 'running');
	const send = () => {
		const faulty = /** @type {HTMLElement|null} */ (document.querySelector('.bench [aria-invalid=true]'));
		if (faulty) {
			faulty.closest('details')?.setAttribute('open', '');
			return faulty.focus();
		}
		const wanted = settings.lanes.map((lane) => requestOf(settings, lane, models.data?.[0] ?? ''));
		control.current = new AbortController();
		const { signal } = control.current;
		setRuns(wanted.map(begun));
		const ids = wanted.map(() => '');
		const all = wanted.map((each, n) =>
			run(each.format, each.path, each.body, signal, (part) => {
				if (part.request) ids[n] = part.request;
				changeRun(n)(part);
			}),
		);
		Promise.all(all).then(() => sent(text(settings), ids));
	};
	const open = (/** @type {Prompt} */ prompt) => {
		const given = read(prompt.text);
		setListed(false);
		setSettings(given);
		set({ exchange: prompt.requests[0] ?? '', request: '' });
		const of = given.lanes.filter((_, n) => prompt.requests[n]);
		setRuns(of.map((lane) => begun(requestOf(given, lane, ''))));
		of.forEach((lane, n) => reopened(lane.format, prompt.requests[n], changeRun(n)));
	};
	useEffect(() => {
		if (before.current) open(before.current);
		return () => control.current?.abort();
	}, []);
	const proceed = (/** @type {Run} */ of) => {
		change({ turns: [...settings.turns, ...continued(of.parts)] });
		requestAnimationFrame(() =>
			/** @type {any} */ ([...document.querySelectorAll('.turn')].at(-1)?.querySelector('textarea'))?.focus(),
		);
	};
	return html`
		<${Page} title="Playground"
			actions=${html`
				<button onClick=${() => setListed(true)}>Saved and sent</button>
				<${Copy} label="Copy link" text=${query(`${base}/console/playground`, { request: text(settings) })} />
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
									${runs.map((each, i) => html`<${Answer} key=${i} run=${each} proceed=${proceed} />`)}
								</div>
							`
					}
				</div>
			</div>
			${listed && html`<${Prompts} text=${text(settings)} open=${open} close=${() => setListed(false)} />`}
		<//>
	`;
}

const signs = /** @type {Record<string, ['ok'|'warn'|'ill'|'off', string]>} */ ({
	running: ['off', 'running'],
	ended: ['ok', 'answered'],
	failed: ['ill', 'failed'],
	cancelled: ['warn', 'cancelled'],
});

/** Answer is what came back. @param {{run: Run, proceed: (run: Run) => void}} props */
function Answer({ run, proceed }) {
	const [view, setView] = useState('answer');
	const [sign, word] = signs[run.state];
	const tokens = run.record && tokensOf(run.record);
	const model = run.body.model ?? /models\/([^:]*)/.exec(run.path)?.[1] ?? '';
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
				<${Name} of=${`${run.format} · ${model}`} />
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
						<dt>Cost</dt><dd>${run.record ? html`<${Cost} calls=${run.record.calls} />` : '–'}</dd>
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
										: html`<${Called} name=${part.name ?? 'call'} input=${part.text} />`,
							)}
							${
								run.state === 'ended' &&
								run.parts.length > 0 &&
								!dialects[run.format].plain &&
								html`
									<div class="row">
										<button class="small" onClick=${() => proceed(run)}>
											${run.parts.some((part) => part.kind === 'call') ? 'Type results' : 'Continue'}
										</button>
									</div>
								`
							}
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
