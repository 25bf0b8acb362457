// Requests to the API, and what becomes of a page while they fail.
import { signal, useEffect, useRef, useState } from './preact.js';
import { addressOf } from './route.js';

/** @typedef {import('gateway-api').components['schemas']} Schemas */
/** @typedef {Schemas['User']} User */

/** A request that failed. The status is 0 if no answer came. */
export class Failure extends Error {
	/** @param {number} status @param {string} message @param {string} [request] id of the request @param {number}
	 * [pause] seconds */
	constructor(status, message, request = '', pause = 0) {
		super(message);
		this.status = status;
		this.request = request;
		this.pause = pause;
	}
}

/** The user of the session: undefined before it is known, null without one. */
export const self = signal(/** @type {User|null|undefined} */ (undefined));

/** The teams of the user, as far as they are read: at most as many as a user can have. Administrators see all teams,
 * and have none here. */
export const teams = signal(/** @type {Schemas['Team'][]} */ ([]));

/** Whether the session ended while a page was open. */
export const over = signal(false);

/** Since when the gateway has not answered, and when the next attempt is; null if it answers. */
export const away = signal(/** @type {{since: Date, pause: number}|null} */ (null));

/** When the configuration began that the page shows, and the one that answered last. */
export const configured = signal({ shown: '', running: '' });

/** reread accepts the running configuration: what depends on it is read anew. */
export const reread = () => {
	configured.value = { shown: configured.value.running, running: configured.value.running };
};

/** noticed compares the configuration of an answer with that of the page. @param {string|null} running */
function noticed(running) {
	const { shown } = configured.value;
	if (running && running !== configured.value.running) configured.value = { shown: shown || running, running };
}

/** @type {(() => void)[]} */
let waiting = [];

/** entered continues with the session of a user. Requests that waited for it are repeated. @param {User} user */
export function entered(user) {
	if (self.value && self.value.id !== user.id) {
		location.reload(); // nothing of another user may stay on the page
		return;
	}
	self.value = user;
	over.value = false;
	for (const done of waiting.splice(0)) done();
}

/** left forgets the session. */
export function left() {
	self.value = null;
	over.value = false;
}

const sleep = (/** @type {number} */ seconds, /** @type {AbortSignal|undefined} */ signal) =>
	new Promise((done, failed) => {
		const timer = setTimeout(done, seconds * 1000);
		signal?.addEventListener('abort', () => {
			clearTimeout(timer);
			failed(signal.reason);
		});
	});

/** Requests that read are repeated with growing pauses while the gateway is away. Those that change something are
 * not: nobody knows whether they took effect.
 * @param {string} method @param {string} path @param {unknown} [body]
 * @param {{signal?: AbortSignal, text?: boolean, headers?: Record<string, string>, entering?: boolean}} [options]
 * @returns {Promise<any>} the data of the answer */
export async function call(method, path, body, options = {}) {
	const headers = { ...options.headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) };
	for (let pause = 1; ;) {
		const answer = await fetch(addressOf(path), {
			method,
			headers,
			body: body === undefined ? undefined : JSON.stringify(body),
			signal: options.signal,
			cache: 'no-store',
		}).catch((error) => {
			if (options.signal?.aborted) throw error;
			return null;
		});
		// Something in front of the gateway answers for it; its own errors are JSON.
		const absent =
			answer === null ||
			((answer.status === 502 || answer.status === 504) && !answer.headers.get('content-type')?.includes('json'));
		if (absent) {
			away.value = { since: away.value?.since ?? new Date(), pause };
			if (method !== 'GET')
				throw new Failure(0, 'The gateway does not answer. The change may have been made: look before you repeat it.');
			await sleep(pause, options.signal);
			pause = Math.min(2 * pause, 30);
			continue;
		}
		away.value = null;
		noticed(answer.headers.get('x-gateway-configured'));
		if (answer.status === 401 && !options.entering && !options.headers?.Authorization) {
			if (!self.value) throw new Failure(401, 'Log in first.');
			over.value = true;
			await new Promise((done) => waiting.push(() => done(undefined)));
			continue;
		}
		return opened(answer, options.text);
	}
}

/** opened returns the data of an answer, or throws its failure. @param {Response} answer @param {boolean} [text] */
async function opened(answer, text) {
	if (text && answer.ok) return answer.text();
	if (answer.status === 204) return null;
	const content = await answer.json().catch(() => null);
	if (answer.ok && content !== null) return content;
	const message = content?.detail || content?.error?.message || `The gateway answered with status ${answer.status}.`;
	throw new Failure(
		answer.status,
		message,
		answer.headers.get('x-request-id') ?? answer.headers.get('request-id') ?? '',
		Number(answer.headers.get('retry-after')) || 0,
	);
}

export const get = (/** @type {string} */ path, /** @type {any} */ options = undefined) =>
	call('GET', path, undefined, options);
export const post = (/** @type {string} */ path, /** @type {unknown} */ body = {}) => call('POST', path, body);
export const put = (/** @type {string} */ path, /** @type {unknown} */ body) => call('PUT', path, body);
export const patch = (/** @type {string} */ path, /** @type {unknown} */ body) => call('PATCH', path, body);
export const remove = (/** @type {string} */ path) => call('DELETE', path);

/** query returns a path with the parameters that have a value.
 * @param {string} path @param {Record<string, string|number|boolean|undefined>} parameters */
export function query(path, parameters) {
	const given = Object.entries(parameters).filter(
		([, value]) => value !== undefined && value !== '' && value !== false,
	);
	return given.length === 0
		? path
		: `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

/** all reads every page of a list, so many items at a time and 40 pages at most.
 * @param {string} path @param {any} options @param {number} [size] @returns {Promise<any[]>} */
export async function all(path, options, size = 200) {
	const items = [];
	for (let after = '', page = 0; page < 40; page++) {
		const data = await get(
			`${path}${path.includes('?') ? '&' : '?'}limit=${size}${after && `&after=${encodeURIComponent(after)}`}`,
			options,
		);
		items.push(...data.items);
		after = data.next;
		if (!after) break;
	}
	return items;
}

/** Data that a part of a page shows. @template T @typedef {{data: T|undefined, error: Failure|null, slow: boolean,
 * stale: boolean, at: Date|null, reload: () => void}} Data */

/** useData reads a path (null: nothing yet), and again every so many seconds while the page is visible. Data of the
 * path before are kept, marked as stale, until the new ones are there. A reader can join several requests. @template
 * [T=any]
 * @param {string|null} path
 * @param {{every?: number, read?: (path: string, options: {signal: AbortSignal}) => Promise<T>}} [options]
 * @returns {Data<T>} */
export function useData(path, { every = 0, read = get } = {}) {
	const [state, setState] = useState(
		/** @type {{data?: T, of?: string, error: Failure|null, at: Date|null}} */ ({ error: null, at: null }),
	);
	const [slow, setSlow] = useState(false);
	const [turn, setTurn] = useState(0);
	const reader = useRef(read);
	reader.current = read;
	useEffect(() => {
		if (path === null) return;
		const control = new AbortController();
		const skeleton = setTimeout(() => setSlow(true), 150);
		/** @type {number|undefined} */
		let again;
		const next = (/** @type {number} */ seconds) => {
			if (seconds > 0)
				again = setTimeout(() => (document.hidden ? next(seconds) : setTurn((n) => n + 1)), seconds * 1000);
		};
		reader
			.current(path, { signal: control.signal })
			.then(
				(data) => {
					setState({ data, of: path, error: null, at: new Date() });
					next(every);
				},
				(error) => {
					if (control.signal.aborted) return;
					const failure = error instanceof Failure ? error : new Failure(0, String(error));
					setState((before) => ({ ...before, of: path, error: failure }));
					next(failure.status === 503 || failure.status === 429 ? failure.pause || 5 : 0);
				},
			)
			.finally(() => {
				clearTimeout(skeleton);
				setSlow(false);
			});
		return () => {
			control.abort();
			clearTimeout(skeleton);
			clearTimeout(again);
		};
	}, [path, turn]);
	return {
		data: state.data,
		error: state.of === path ? state.error : null,
		slow,
		stale: state.data !== undefined && (state.of !== path || state.error !== null),
		at: state.at,
		reload: () => setTurn((n) => n + 1),
	};
}
