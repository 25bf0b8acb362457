// The key with which the console itself calls models. It is made for the session or given by the
// user, and is only in memory. Whoever leaves or reloads the page loses it, so that a key that was
// made for the session is revoked then.
import { html, signal, useState } from './preact.js';
import { get, post, query, remove, self } from './api.js';
import { when } from './format.js';
import { addressOf } from './route.js';
import { Field, Form } from './ui.js';

const name = 'Console';
const hours = 8;

/** @typedef {{secret: string, id: number, ours?: boolean}} HeldKey id is 0 for a key that the user gave; ours: it was
 * made for the session */
export const held = signal(/** @type {HeldKey|null} */ (null));

/** make creates the key of the session, after it removed those of earlier sessions that have expired.
 * @returns {Promise<HeldKey>} */
export async function make() {
	const { items } = await get(query('/api/v1/keys', { user: self.value?.username, search: name }));
	for (const key of items) {
		if (key.name === name && key.expires && when(key.expires) < new Date()) await remove(`/api/v1/keys/${key.id}`);
	}
	const made = await post('/api/v1/keys', { name, expires: new Date(Date.now() + hours * 3600e3).toISOString() });
	held.value = { secret: made.key, id: made.id, ours: true };
	return held.value;
}

/** drop revokes the key of the session, at its end. */
export async function drop() {
	const key = held.value;
	held.value = null;
	if (key?.ours) await remove(`/api/v1/keys/${key.id}`).catch(() => {}); // it expires by itself
}

addEventListener('pagehide', () => {
	const key = held.value;
	held.value = null; // the page may be shown again, from the memory of the browser
	if (key?.ours) fetch(addressOf(`/api/v1/keys/${key.id}`), { method: 'DELETE', keepalive: true });
});

/** bearer returns the headers of a request with the key. */
export const bearer = () => ({ Authorization: `Bearer ${held.value?.secret}` });

/** NeedKey asks for a key, for what needs one. @param {{why: string}} props */
export function NeedKey({ why }) {
	const [own, setOwn] = useState(false);
	return html`
		<section class="panel">
			<div class="body stack wide">
				<p>${why}</p>
				${
					own
						? html`
							<${Form} label="Use this key" cancel=${() => setOwn(false)}
								send=${async (data) => {
									held.value = { secret: data.key.trim(), id: 0 };
								}}
							>
								<${Field} label="Key" hint="Kept in this tab only, until it is closed or loaded again.">
									<input name="key" type="password" autocomplete="off" required autofocus />
								<//>
							<//>
						`
						: html`
							<${Form} label=${`Make a key for this session`} send=${make}>
								<p class="muted small">
									The key is called “${name}”, has your rights and your limits, expires after ${hours} hours, and is
									listed in Keys. Or${' '}
									<button type="button" class="link" onClick=${() => setOwn(true)}>
										use a key you have
									</button>
									.
								</p>
							<//>
						`
				}
			</div>
		</section>
	`;
}
