// The login, as a page and above a page whose session is over.
import { html } from '../lib/preact.js';
import { call, entered, Failure, self } from '../lib/api.js';
import { Field, Form } from '../lib/ui.js';

/** logIn sends name and password. The token in the answer is for programs: the browser has the cookie.
 * @param {Record<string, string>} data */
async function logIn(data) {
	try {
		const { user } = await call('POST', '/api/user/login', { username: data.username, password: data.password }, { entering: true });
		entered(user);
	} catch (error) {
		if (error instanceof Failure && error.status === 401) throw new Failure(401, 'The name or the password is wrong, or the account is disabled.');
		if (error instanceof Failure && error.status === 429) throw new Failure(429, `Too many attempts. Wait ${error.pause || 1} s, and try again.`);
		throw error;
	}
}

/** @param {{bare?: boolean}} props */
export function Login({ bare }) {
	const form = html`<${Form} label="Log in" send=${logIn}>
		<${Field} label="Name"><input name="username" autocomplete="username" required autofocus autocapitalize="none" spellcheck=${false} defaultValue=${self.value?.username ?? ''} /><//>
		<${Field} label="Password"><input name="password" type="password" autocomplete="current-password" required /><//><//>`;
	if (bare) return form;
	return html`<main class="login"><div class="panel"><div class="brand"><img src=${new URL('../icon.svg', import.meta.url).href} alt="" /><h1>AI gateway</h1></div>${form}
		<p class="small muted">The first start of <code>caddy ai-gateway</code> prints the password of <code>root</code>. <code>caddy ai-gateway user passwd root</code> sets another one.</p></div></main>`;
}
