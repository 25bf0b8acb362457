// The address of the page: the path names the page, and the query holds its settings, so that a
// link shows the same.
import { signal } from './preact.js';

/** Where pages begin, "/console/". Something in front of the gateway may cut off the beginning of paths. */
export const root = new URL('../../', import.meta.url).pathname;

/** The address of the gateway, without a slash at its end: the base URL of clients. */
export const base = new URL('../../..', import.meta.url).href.replace(/\/$/, '');

/** addressOf returns the address of a path of the gateway. @param {string} path */
export const addressOf = (path) => base + path;

/** @typedef {{page: string, rest: string, query: URLSearchParams}} Route */

/** read returns the route of the address. @returns {Route} */
function read() {
	const [page = '', ...rest] = location.pathname.slice(root.length).split('/');
	return { page, rest: decoded(rest.join('/')), query: new URLSearchParams(location.search) };
}

/** decoded returns the text of a part of a path; what is no valid encoding, as it is. @param {string} part */
function decoded(part) {
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}

export const route = signal(read());

/** oneOf returns a setting of the address if it is one of the choices, else another value. Anyone can write a link.
 * @param {string} name @param {[string, string][]} choices @param {string} otherwise */
export function oneOf(name, choices, otherwise) {
	const value = route.value.query.get(name) ?? '';
	return choices.some(([choice]) => choice === value) ? value : otherwise;
}

/** go shows another page. @param {string} path below /console/ @param {boolean} [replace] */
export function go(path, replace) {
	history[replace ? 'replaceState' : 'pushState'](null, '', root + path);
	route.value = read();
	if (!replace) scrollTo(0, 0);
}

/** set changes settings of the page in its address; an empty one is removed.
 * @param {Record<string, string>} settings */
export function set(settings) {
	const query = new URLSearchParams(location.search);
	for (const [name, value] of Object.entries(settings)) {
		if (value === '') query.delete(name);
		else query.set(name, value);
	}
	const text = query.toString();
	history.replaceState(null, '', location.pathname + (text && `?${text}`));
	route.value = read();
}

addEventListener('popstate', () => {
	route.value = read();
});

// Links of the console change the page without a load, unless the user wants another tab.
document.addEventListener('click', (event) => {
	const link = event.target instanceof Element ? event.target.closest('a') : null;
	const held = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
	if (!link || event.button !== 0 || held || link.target || link.hasAttribute('download')) return;
	const url = new URL(link.href);
	if (url.origin !== location.origin || !url.pathname.startsWith(root)) return;
	event.preventDefault();
	go(url.pathname.slice(root.length) + url.search);
});
