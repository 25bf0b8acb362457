// The login, as a page and above a page whose session is over.
import { html } from '../lib/preact.js';
import { call, entered, Failure, self, useData } from '../lib/api.js';
import { addressOf, root } from '../lib/route.js';
import { Field, Form, Problem } from '../lib/ui.js';

/** Why a sign-in at an issuer or a proxy failed, by the parameter signin of the address. */
const reasons = /** @type {Record<string, string>} */ ({
	expired: 'The sign-in was begun in another browser, or took too long. Sign in again.',
	refused: 'You may not sign in here, or have not finished.',
	away: 'The sign-in service does not answer. Try again later.',
	invalid: 'The sign-in service gave an answer that is not valid. The log of the gateway says why.',
	unknown: 'No account is linked with your identity. Ask an administrator.',
	name: 'An account with your name cannot be created. Ask an administrator to link one.',
	disabled: 'Your account is disabled.',
	root: 'Your groups would take the role from the last root user. Ask an administrator.',
});

/** leave remembers the page, since who comes back from a sign-in is at the first one. */
const leave = () => sessionStorage.setItem('before', location.pathname.slice(root.length) + location.search);
/** Ways are the ways to sign in without a password. @param {{ways: {name: string, path: string}[]}} props */
const Ways = ({ ways }) => html`
	<div class="stack">
		${ways.map(
			(way) => html`
				<a key=${way.name} class="button" href=${addressOf(way.path)} onClick=${leave}>Sign in with ${way.name}</a>
			`,
		)}
	</div>
`;

/** logIn sends name and password. The token in the answer is for programs: the browser has the cookie.
 * @param {Record<string, string>} data */
async function logIn(data) {
	try {
		const { user } = await call(
			'POST',
			'/api/v1/session',
			{ username: data.username, password: data.password },
			{ entering: true },
		);
		entered(user);
	} catch (error) {
		if (error instanceof Failure && error.status === 401)
			throw new Failure(401, 'The name or the password is wrong, or the account is disabled.');
		if (error instanceof Failure && error.status === 429)
			throw new Failure(429, `Too many attempts. Wait ${error.pause || 1} s, and try again.`);
		throw error;
	}
}

/** @param {{bare?: boolean}} props */
export function Login({ bare }) {
	const { data, error } = useData('/api/v1/signin');
	const shown = data ?? (error ? { password: true, ways: [] } : undefined);
	const failed = new URLSearchParams(location.search).get('signin') ?? '';
	const form = html`
		${Object.hasOwn(reasons, failed) && html`<${Problem} error=${new Failure(0, reasons[failed])} />`}
		${shown?.ways.length > 0 && html`<${Ways} ways=${shown.ways} />`}
		${
			shown?.password &&
			html`
				<${Form} label="Log in" send=${logIn}>
					<${Field} label="Name">
						<input name="username" autocomplete="username" required autofocus
							autocapitalize="none" spellcheck=${false} defaultValue=${self.value?.username ?? ''}
						/>
					<//>
					<${Field} label="Password">
						<input name="password" type="password" autocomplete="current-password" required />
					<//>
				<//>
			`
		}
	`;
	if (bare) return form;
	return html`
		<main class="login">
			<div class="panel">
				<div class="brand">
					<img src=${new URL('../icon.svg', import.meta.url).href} alt="" />
					<h1>AI gateway</h1>
				</div>
				${form}
				${
					shown?.password &&
					html`
						<p class="small muted">
							On the machine of the gateway, <code>caddy ai-gateway user add root --role root</code> creates the first
							user and prints the password; the first start of <code>caddy ai-gateway</code> without a configuration
							does so itself. <code>caddy ai-gateway user passwd root</code> sets another password.
						</p>
					`
				}
			</div>
		</main>
	`;
}
