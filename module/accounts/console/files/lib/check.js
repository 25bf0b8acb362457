// Sends small requests for a model in every format of clients, and shows which are answered as they should.
import { html, useRef, useState } from './preact.js';
import { call, useData } from './api.js';
import { answerOf, dialects, tools, turn } from './dialects.js';
import { milliseconds } from './format.js';
import { bearer, held, NeedKey } from './key.js';
import { addressOf } from './route.js';
import { Chip, Part, Table } from './ui.js';

/** @typedef {{state: 'ok'|'warn'|'ill', text: string, ms: number}} Result */

const checks = /** @type {[string, string][]} */ ([
	['answer', 'Answer'],
	['stream', 'Stream'],
	['tool', 'Tool call'],
]);

/** ask sends one request.
 * @param {string} format @param {string} model @param {string} check @param {AbortSignal} signal
 * @returns {Promise<Result>} */
async function ask(format, model, check, signal) {
	const dialect = dialects[format];
	const stream = check === 'stream';
	const wanted = {
		model,
		system: '',
		turns: [turn('user', check === 'tool' ? 'Call get_weather for Bern.' : 'Say OK.')],
		tools: check === 'tool' ? tools.weather : [],
		max: 64,
		stream,
	};
	const start = performance.now();
	const answer = await fetch(addressOf(dialect.path(wanted)), {
		method: 'POST',
		signal,
		headers: { ...bearer(), ...dialect.headers, 'Content-Type': 'application/json' },
		body: JSON.stringify(dialect.body(wanted)),
	});
	const text = await answer.text();
	const ms = performance.now() - start;
	const { parts, error } = answerOf(dialect, text, stream && answer.ok);
	if (error || !answer.ok) return { state: 'ill', text: error || `status ${answer.status}`, ms };
	if (check === 'tool')
		return parts.some((part) => part.kind === 'call')
			? { state: 'ok', text: 'called', ms }
			: { state: 'warn', text: 'no call', ms };
	return parts.length > 0 ? { state: 'ok', text: 'answered', ms } : { state: 'warn', text: 'no content', ms };
}

/** Check asks a model. @param {{model?: string}} props */
export function Check({ model }) {
	const why =
		'A check sends requests as a client does: with a key. ' + 'Their tokens count and cost as those of any client.';
	return held.value ? html`<${Run} key=${held.value.secret} fixed=${model} />` : html`<${NeedKey} why=${why} />`;
}

/** @param {{fixed?: string}} props */
function Run({ fixed }) {
	const models = useData('/v1/models', {
		read: async (path, options) =>
			(await call('GET', path, undefined, { ...options, headers: bearer() })).data.map(
				(/** @type {any} */ each) => each.id,
			),
	});
	const [chosen, setChosen] = useState(fixed ?? '');
	const [results, setResults] = useState(/** @type {Record<string, Result>} */ ({}));
	const [running, setRunning] = useState(false);
	const control = useRef(/** @type {AbortController|null} */ (null));
	const run = async (/** @type {string} */ model) => {
		control.current = new AbortController();
		setResults({});
		setRunning(true);
		for (const format of Object.keys(dialects)) {
			for (const [check] of checks) {
				if (control.current.signal.aborted) break;
				if (check === 'tool' && dialects[format].plain) continue;
				const result = await ask(format, model, check, control.current.signal).catch((error) => ({
					state: /** @type {'ill'} */ ('ill'),
					text: String(error.message ?? error),
					ms: 0,
				}));
				setResults((before) => ({ ...before, [`${format} ${check}`]: result }));
			}
		}
		setRunning(false);
	};
	return html`
		<${Part} of=${models} rows=${3}>
			${(/** @type {string[]} */ names) => {
				const model = chosen || names[0] || '';
				return html`
					<div class="stack wide">
						<div class="row">
							<select aria-label="Model to check" value=${model}
								onChange=${(/** @type {any} */ e) => {
									setChosen(e.target.value);
									setResults({});
								}}
							>
								${[...new Set([...(model ? [model] : []), ...names])].map(
									(name) => html`<option value=${name} selected=${name === model}>${name}</option>`,
								)}
							</select>
							${
								running
									? html`<button onClick=${() => control.current?.abort()}>Stop</button>`
									: html`<button class="primary" disabled=${!model} onClick=${() => run(model)}>Check</button>`
							}
							<span class="muted small">
								Sends up to ${Object.values(dialects).reduce((sum, each) => sum + (each.plain ? 2 : 3), 0)} small
								requests; they count and cost as any.
							</span>
						</div>
						<${Table} label="Results" rows=${Object.keys(dialects)} id=${(format) => format}
							columns=${[
								{ name: 'Format of the client', cell: (/** @type {string} */ format) => format },
								...checks.map(([check, name]) => ({
									name,
									cell: (/** @type {string} */ format) => {
										const is = results[`${format} ${check}`];
										return is
											? html`
												<span class="row nowrap" title=${is.text}>
													<${Chip} is=${is.state}><bdi class="cut">${is.text}</bdi><//>
													<span class="muted small tab">${is.ms > 0 && milliseconds(is.ms)}</span>
												</span>
											`
											: html`
												<span class="muted nowrap">
													${check === 'tool' && dialects[format].plain ? 'not in the format' : '–'}
												</span>
											`;
									},
								})),
							]}
						/>
					</div>
				`;
			}}
		<//>
	`;
}
