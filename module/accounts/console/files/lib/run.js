// A request of the playground: sent, followed until the ledger has its record, or opened again.
import { get, post, query } from './api.js';
import { answerOf, append, dataOf, dialects, problem, splitEvents } from './dialects.js';
import { bearer } from './key.js';
import { addressOf } from './route.js';

/** @typedef {import('./dialects.js').Piece} Piece */
/** @typedef {import('./api.js').Schemas['Capture']} Capture */
/** @typedef {import('./api.js').Schemas['UsageRecord']} UsageRecord */
/** @typedef {{format: string, path: string, body: any, state: 'running'|'ended'|'failed'|'cancelled', status: number,
 * parts: Piece[], error: string, request: string, first: number, ended: number, raw: string, record?: UsageRecord,
 * capture?: Capture, missing?: string}} Run */

/** begun returns the run of a request of which nothing has arrived.
 * @param {{format: string, path: string, body: any}} of @returns {Run} */
export const begun = (of) => ({
	...of,
	state: 'running',
	status: 0,
	parts: [],
	error: '',
	request: '',
	first: 0,
	ended: 0,
	raw: '',
});

/** capturing is the header that has both sides of the wire kept; null where captures are off.
 * @returns {Promise<Record<string, string>|null>} */
async function capturing() {
	const token = await post('/api/v1/captures').catch(() => null);
	return token && { [token.header]: token.token };
}

/** run sends a request, and passes on what has arrived.
 * @param {string} format @param {string} path @param {any} body @param {AbortSignal} signal
 * @param {(change: Partial<Run>) => void} change */
export async function run(format, path, body, signal, change) {
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
		if (!streams) ({ parts, error } = answerOf(dialect, raw, false));
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

/** reopened reads what is left of a request that was sent before: its record, and its capture for ten minutes.
 * @param {string} format @param {string} request @param {(change: Partial<Run>) => void} change */
export async function reopened(format, request, change) {
	let record = /** @type {UsageRecord|undefined} */ (undefined),
		capture = /** @type {Capture|undefined} */ (undefined);
	await Promise.all([
		settled(request, (part) => change({ record: (record = part.record), ended: record?.duration_ms ?? 0 })),
		captured(request, (part) => {
			capture = part.capture;
			change(part);
		}),
	]);
	const answer = capture?.client.answer;
	const streams = answer?.headers.some(([name, value]) => /content-type/i.test(name) && /event-stream/.test(value));
	const { parts, error } = answerOf(dialects[format], answer?.body ?? '', Boolean(streams));
	const status = answer?.status ?? record?.status ?? 0;
	change({
		request,
		parts,
		status,
		error: capture || record ? error : 'Neither the ledger nor a capture has the exchange.',
		state: error || status < 200 || status > 299 ? 'failed' : 'ended',
	});
}
