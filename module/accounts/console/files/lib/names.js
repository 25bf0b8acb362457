// The names of keys, which limits and the ledger have by their ids.
import { signal } from './preact.js';
import { get } from './api.js';

const most = 100; // ids in a request

const names = signal(/** @type {ReadonlyMap<string, string>} */ (new Map()));
const asked = /** @type {Set<string>} */ (new Set());
const waiting = /** @type {string[]} */ ([]);

/** keyName returns the name of a key, or its id if the name is not known, yet or for ever: what calls it while it is
 * drawn is drawn anew when it is. @param {string} id */
export function keyName(id) {
	if (/^key_\d+$/.test(id) && !asked.has(id)) {
		if (waiting.length === 0) setTimeout(read);
		waiting.push(id);
		asked.add(id);
	}
	return names.value.get(id) ?? id;
}

/** forgetNames lets the names be read again, after one was changed. */
export function forgetNames() {
	asked.clear();
	names.value = new Map();
}

/** read reads the names for which a page waits. */
async function read() {
	while (waiting.length > 0) {
		const ids = waiting.splice(0, most).map((id) => `id=${id.replace('key_', '')}`);
		const { items } = await get(`/api/v1/keys?${ids.join('&')}`).catch(() => ({ items: [] }));
		names.value = new Map([...names.value, ...items.map((/** @type {any} */ key) => [`key_${key.id}`, key.name])]);
	}
}
