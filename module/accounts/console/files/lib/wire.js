// Both sides of the wire of a captured exchange, as raw bytes, with the time of each event.
import { html, useState } from './preact.js';
import { splitEvents } from './dialects.js';
import { bytes, milliseconds } from './format.js';
import { Chip, Copy, Empty, Name, Switch } from './ui.js';

/** @typedef {import('./api.js').Schemas['Capture']} Capture */
/** @typedef {NonNullable<import('./api.js').Schemas['CaptureMessage']>} Message */

const views = /** @type {[string, string][]} */ ([
	['client-request', 'Client request'],
	['provider-request', 'Provider request'],
	['provider-answer', 'Provider answer'],
	['client-answer', 'Client answer'],
	['report', 'Report'],
]);

/** Wire shows one message of a capture at a time. @param {{capture: Capture}} props */
export function Wire({ capture }) {
	const [view, setView] = useState('client-request');
	const [n, setN] = useState(capture.calls.length - 1);
	const call = capture.calls[Math.min(Math.max(n, 0), capture.calls.length - 1)];
	const message = /** @type {Record<string, Message|null|undefined>} */ ({
		'client-request': capture.client.request,
		'client-answer': capture.client.answer,
		'provider-request': call?.request,
		'provider-answer': call?.answer,
	})[view];
	const provider = view.startsWith('provider');
	return html`
		<div class="stack">
			<${Switch} label="Message" options=${views} value=${view} set=${setView} />
			${
				provider &&
				capture.calls.length > 1 &&
				html`
					<label class="row small">
						<span class="muted">Call</span>
						<select value=${String(n)} onChange=${(/** @type {any} */ e) => setN(Number(e.target.value))}>
							${capture.calls.map(
								(each, i) => html`
									<option value=${i} selected=${i === n}>
										${i + 1}: ${each.provider}/${each.upstream_model}
									</option>
								`,
							)}
						</select>
					</label>
				`
			}
			${
				view === 'report'
					? html`<${Report} capture=${capture} />`
					: message
						? html`
							<${Shown} key=${view + n} message=${message}
								of=${provider && call ? `${call.provider}/${call.upstream_model}, ${call.format}` : ''}
							/>
						`
						: html`<${Empty} title=${provider ? 'No provider was called.' : 'Nothing was sent.'} />`
			}
		</div>
	`;
}

/** Shown is a message: its line, its headers, and its body. @param {{message: Message, of: string}} props */
function Shown({ message, of }) {
	const events = message.headers.some(
		([name, value]) => name.toLowerCase() === 'content-type' && value.startsWith('text/event-stream'),
	);
	return html`
		<div class="row between small">
			<span>
				<b class="mono">${message.method ? `${message.method} ${message.path}` : `${message.status}`}</b>${' '}
				${of && html`<span class="muted">· <bdi>${of}</bdi></span>`}
			</span>
			<span class="muted tab">
				${bytes(message.size)} · ${message.method ? 'sent' : 'began'} at ${milliseconds(message.at_ms)}
				${message.cut ? ' · only the first 1 MiB is shown' : ''}
			</span>
		</div>
		<details class="small">
			<summary>${message.headers.length} headers, without credentials</summary>
			<dl class="list mono">
				${message.headers.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}
			</dl>
		</details>
		${
			events && message.encoding === ''
				? html`<${Events} message=${message} />`
				: html`
					<div class="code wrap">
						<pre data-body tabindex="0" role="region" aria-label="Body">${message.body}</pre>
						<${Copy} text=${message.body} />
					</div>
				`
		}
	`;
}

/** times returns when each event was complete: the time of the part with its last byte.
 * @param {Message} message @param {string[]} events */
function times(message, events) {
	const encoder = new TextEncoder();
	let end = 0,
		part = 0,
		parts = message.chunks[0]?.[1] ?? 0;
	return events.map((event) => {
		end += encoder.encode(event).length;
		while (parts < end && part < message.chunks.length - 1) parts += message.chunks[++part][1];
		return message.chunks[part]?.[0] ?? message.at_ms;
	});
}

/** Events shows a stream with the time of each event, and a line that is as long as the pause before it.
 * @param {{message: Message}} props */
function Events({ message }) {
	const { events, rest } = splitEvents(message.body);
	const all = rest ? [...events, rest] : events;
	const at = times(message, all);
	const longest = Math.max(1, ...at.map((time, i) => time - (at[i - 1] ?? message.at_ms)));
	return html`
		<div class="row between small muted">
			<span>
				${all.length} events in ${message.chunks.length} ${message.method ? 'reads' : 'parts'}
			</span>
			<${Copy} text=${message.body} label="Copy all" />
		</div>
		<div class="events" data-body tabindex="0" role="region" aria-label="Events">
			<ol>
				${all.map((event, i) => {
					const pause = at[i] - (at[i - 1] ?? message.at_ms);
					return html`
						<li>
							<span class="num muted" data-time=${`${at[i]} ms`}>
								<i style=${{ width: `${Math.round((32 * pause) / longest)}px` }}
									title=${`${pause} ms after the one before`}
								></i>
							</span>
							<pre class=${/\n\r?\n$/.test(event) ? 'whole' : ''}>${event}</pre>
						</li>
					`;
				})}
			</ol>
		</div>
	`;
}

/** Report is what the gateway did: losses, usage, and how the calls ended. @param {{capture: Capture}} props */
function Report({ capture }) {
	const exchange = /** @type {any} */ (capture.exchange);
	if (!exchange) return html`<${Empty} title="The exchange still runs." />`;
	const lost = (/** @type {string} */ title, /** @type {any} */ names) => html`
		<dt>${title}</dt>
		<dd>
			${
				names?.length > 0
					? html`
						<span class="tags">
							${[names]
								.flat()
								.map(
									(name) => html`<code class="tag">${typeof name === 'string' ? name : JSON.stringify(name)}</code>`,
								)}
						</span>
					`
					: html`<span class="muted">nothing</span>`
			}
		</dd>
	`;
	const others = Object.entries(exchange).filter(
		([name]) => !['losses', 'answer_losses', 'calls', 'outcome', 'passed_over'].includes(name),
	);
	return html`
		<dl class="list small">
			<dt>Outcome</dt>
			<dd>
				<${Chip} is=${exchange.outcome === 'answered' ? 'ok' : 'ill'}>
					${String(exchange.outcome).replace('_', ' ')}
				<//>
			</dd>
			${lost('Left out of the request', exchange.losses)}
			${lost('Left out of the answer', exchange.answer_losses)}
			${lost('Targets not asked', exchange.passed_over)}
			${(exchange.calls ?? []).map(
				(/** @type {any} */ each, /** @type {number} */ i) => html`
					<dt>Call ${i + 1}</dt>
					<dd class="mono">
						${Object.entries(each)
							.map(
								([name, value]) =>
									`${name.replaceAll('_', ' ')}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
							)
							.join(', ')}
					</dd>
				`,
			)}
			${others.map(
				([name, value]) => html`
					<dt>${name.replaceAll('_', ' ')}</dt>
					<dd class="mono">
						<${Name} wide of=${typeof value === 'string' ? value : JSON.stringify(value)} />
					</dd>
				`,
			)}
		</dl>
	`;
}
