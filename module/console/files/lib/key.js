// The key with which the console itself calls models. It is made for the session or given by the
// user, and is only in memory: a reload of the page forgets it.
import { html, signal, useState } from './preact.js';
import { get, post, query, remove } from './api.js';
import { Field, Form } from './ui.js';

const name = 'Console';
const hours = 8;

/** @typedef {{secret: string, id: number}} HeldKey  id is 0 for a key that the user gave */
export const held = signal(/** @type {HeldKey|null} */ (null));

/** make creates the key of the session, after it removed those of earlier sessions that have expired. @returns {Promise<HeldKey>} */
export async function make() {
	const { items } = await get(query('/api/token/', { keyword: name, page_size: 100 }));
	for (const key of items) {
		if (key.name === name && key.status === 3) await remove(`/api/token/${key.id}`);
	}
	const made = await post('/api/token/', { name, expired_time: Math.floor(Date.now() / 1000) + hours * 3600 });
	held.value = { secret: made.key, id: made.id };
	return held.value;
}

/** drop revokes the key of the session, at its end. */
export async function drop() {
	const key = held.value;
	held.value = null;
	if (key?.id) await remove(`/api/token/${key.id}`).catch(() => {}); // it expires by itself
}

/** bearer returns the headers of a request with the key. */
export const bearer = () => ({ Authorization: `Bearer ${held.value?.secret}` });

/** NeedKey asks for a key, for what needs one. @param {{why: string}} props */
export function NeedKey({ why }) {
	const [own, setOwn] = useState(false);
	return html`<section class="panel"><div class="body stack wide"><p>${why}</p>
		${own ? html`<${Form} label="Use this key" cancel=${() => setOwn(false)} send=${async (data) => { held.value = { secret: data.key.trim(), id: 0 }; }}>
			<${Field} label="Key" hint="Kept in this tab only, until it is closed or loaded again."><input name="key" type="password" autocomplete="off" required autofocus /><//><//>`
		: html`<${Form} label=${`Make a key for this session`} send=${make}>
			<p class="muted small">The key is called “${name}”, has your rights and your limits, expires after ${hours} hours, and is listed in Keys. Or <button type="button" class="link" onClick=${() => setOwn(true)}>use a key you have</button>.</p><//>`}</div></section>`;
}
