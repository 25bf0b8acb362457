// The frame of the console: who is logged in, the pages, and the keys that lead to them.
import { html, render, useEffect, useState } from './lib/preact.js';
import { configured, entered, get, left, over, reread, self, teams } from './lib/api.js';
import { go, root, route } from './lib/route.js';
import { administers, Dialog, isRoot, logOut, Messages, Problem } from './lib/ui.js';
import { drop } from './lib/key.js';
import { Login } from './pages/login.js';

const inTeam = () => administers() || teams.value.length > 0;

/** The pages: below which path, with which key, in which group, and for whom. */
const pages = /** @type {Entry[]} */ ([
	{ path: 'connect', name: 'Connect', key: 'c', group: 'Use' },
	{ path: 'playground', name: 'Playground', key: 'y', group: 'Use' },
	{ path: 'keys', name: 'Keys', key: 'k', group: 'Use' },
	{ path: 'models', name: 'Models', key: 'm', group: 'Use' },
	{ path: 'usage', name: 'Usage', key: 'u', group: 'See' },
	{ path: 'exchanges', name: 'Exchanges', key: 'e', group: 'See' },
	{ path: 'health', name: 'Health', key: 'h', group: 'Operate', may: administers },
	{ path: 'servers', name: 'MCP servers', key: 's', group: 'Operate', may: administers },
	{ path: 'configuration', name: 'Configuration', key: 'o', group: 'Operate', may: administers },
	{ path: 'users', name: 'Users', key: 'p', group: 'Operate', may: administers },
	{ path: 'teams', name: 'Teams', key: 't', group: 'Operate', may: inTeam },
	{ path: 'audit', name: 'Audit', key: 'd', group: 'Operate', may: isRoot },
	{ path: 'account', name: 'Account', key: 'a', group: '' },
	{ path: 'device', name: 'Sign in a program', key: 'i', group: '' },
]);

/** @typedef {{path: string, name: string, key: string, group: string, may?: () => boolean}} Entry */

const allowed = () => pages.filter((page) => !page.may || page.may());

/** theme switches between the system's colours, light and dark. */
function theme() {
	const order = ['', 'light', 'dark'];
	const next = order[(order.indexOf(localStorage.getItem('theme') ?? '') + 1) % order.length];
	localStorage.setItem('theme', next);
	dress();
}

const dress = () => {
	document.documentElement.style.colorScheme = localStorage.getItem('theme') || 'light dark';
};

/** Side is the list of pages. @param {{path: string, help: () => void}} props */
function Side({ path, help }) {
	const [colours, setColours] = useState(localStorage.getItem('theme') || 'system');
	const groups = [...new Set(allowed().flatMap((page) => page.group || []))];
	return html`
		<nav class="side" id="pages" aria-label="Pages">
			<a class="brand" href=${root}>
				<img src=${new URL('./icon.svg', import.meta.url).href} alt="" />
				AI gateway
			</a>
			${groups.map(
				(group) => html`
					<div key=${group}>
						<h2>${group}</h2>
						<ul>
							${allowed()
								.filter((page) => page.group === group)
								.map(
									(page) => html`
										<li>
											<a href=${root + page.path} aria-current=${page.path === path ? 'page' : undefined}>
												${page.name}
												<kbd aria-hidden="true">g ${page.key}</kbd>
											</a>
										</li>
									`,
								)}
						</ul>
					</div>
				`,
			)}
			<div class="foot small">
				<ul>
					<li>
						<a href=${`${root}account`} aria-current=${path === 'account' ? 'page' : undefined}>
							<bdi class="cut">${self.value?.display_name || self.value?.username}</bdi>
							<kbd aria-hidden="true">g a</kbd>
						</a>
					</li>
					<li><a href=${`${root}docs/`} target="_blank" rel="noopener">Documentation</a></li>
				</ul>
				<div class="row">
					<button class="small plain"
						onClick=${() => {
							theme();
							setColours(localStorage.getItem('theme') || 'system');
						}}
					>
						Colours: ${colours}
					</button>
					<button class="small plain" onClick=${help} aria-label="Keyboard">?</button>
				</div>
				<button class="small"
					onClick=${async () => {
						await drop();
						await logOut();
					}}
				>
					Log out
				</button>
			</div>
		</nav>
	`;
}

/** Help lists the keys. @param {{close: () => void}} props */
const Help = ({ close }) => html`
	<${Dialog} title="Keyboard" close=${close}>
		<dl class="list">
			<dt><kbd>/</kbd></dt><dd>Search on the page</dd>
			${allowed().map((page) => html`<dt><kbd>g</kbd> <kbd>${page.key}</kbd></dt><dd>${page.name}</dd>`)}
			<dt><kbd>?</kbd></dt><dd>This list</dd>
			<dt><kbd>Esc</kbd></dt><dd>Close what is above the page</dd>
		</dl>
	<//>
`;

/** useKeys listens to the keys of the frame, except where something is typed. @param {() => void} help */
function useKeys(help) {
	useEffect(() => {
		let jump = 0;
		const listen = (/** @type {KeyboardEvent} */ event) => {
			const at = event.target;
			if (event.metaKey || event.ctrlKey || event.altKey || document.querySelector('dialog[open]')) return;
			if (at instanceof HTMLInputElement || at instanceof HTMLTextAreaElement || at instanceof HTMLSelectElement)
				return;
			const page = Date.now() - jump < 1500 && allowed().find((each) => each.key === event.key);
			jump = event.key === 'g' ? Date.now() : 0;
			if (page) {
				event.preventDefault();
				go(page.path);
			} else if (event.key === '/') {
				event.preventDefault();
				/** @type {HTMLElement|null} */ (document.querySelector('[data-search]'))?.focus();
			} else if (event.key === '?') {
				help();
			}
		};
		addEventListener('keydown', listen);
		return () => removeEventListener('keydown', listen);
	}, []);
}

/** Current loads the code of a page when it is first shown. @param {{entry: Entry}} props */
function Current({ entry }) {
	const [shown, setShown] = useState(/** @type {{path: string, page: any}|null} */ (null));
	const [error, setError] = useState(/** @type {any} */ (null));
	useEffect(() => {
		let here = true;
		setError(null);
		import(`./pages/${entry.path}.js`).then(
			(module) => here && setShown({ path: entry.path, page: module.default }),
			() => here && setError({ message: 'The gateway was updated, or does not answer. Load the page again.' }),
		);
		return () => {
			here = false;
		};
	}, [entry.path]);
	if (error) return html`<${Problem} error=${error} again=${() => location.reload()} />`;
	return shown?.path === entry.path ? html`<${shown.page} key=${entry.path} />` : null;
}

/** replace sets a signal if the value is another one: what shows it is drawn anew.
 * @template T @param {{value: T}} signal @param {T} value */
const replace = (signal, value) => {
	if (JSON.stringify(signal.value) !== JSON.stringify(value)) signal.value = value;
};

/** useRights reads the user and the teams of the user, again with each page and whenever the window is seen again:
 * others may have changed them.
 * @param {string} page */
function useRights(page) {
	useEffect(() => {
		const control = new AbortController(),
			options = { signal: control.signal };
		const read = async () => {
			if (document.hidden) return;
			const { user } = await get('/api/v1/session', options);
			if (user?.id !== self.value?.id) return; // the next request asks for a login
			replace(self, user);
			if (!administers()) replace(teams, (await get('/api/v1/teams', options)).items);
		};
		const again = () => {
			read().catch(() => {});
		}; // until then, what is known counts
		again();
		document.addEventListener('visibilitychange', again);
		return () => {
			control.abort();
			document.removeEventListener('visibilitychange', again);
		};
	}, [page]);
}

/** Frame is the console of a user. */
function Frame() {
	const [help, setHelp] = useState(false);
	const [menu, setMenu] = useState(false);
	useKeys(() => setHelp(true));
	const { page } = route.value;
	useRights(page);
	const { shown, running } = configured.value;
	useEffect(() => setMenu(false), [page]);
	const entry = allowed().find((each) => each.path === page) ?? (page === '' ? pages[0] : undefined);
	return html`
		<a class="skip" href="#main">Skip to the page</a>
		<div class=${`frame${menu ? ' open' : ''}`}>
			<header class="top">
				<button onClick=${() => setMenu(!menu)} aria-expanded=${menu ? 'true' : 'false'} aria-controls="pages">
					☰ <span class="sr">Pages</span>
				</button>
				<a class="brand" href=${root}>
					<img src=${new URL('./icon.svg', import.meta.url).href} alt="" />
					AI gateway
				</a>
			</header>
			<${Side} path=${entry?.path ?? ''} help=${() => setHelp(true)} />
			<main id="main" tabindex="-1">
				${
					running !== shown &&
					html`
						<div class="note warn" role="status">
							<span class="grow">
								<b>The configuration was reloaded.</b> What is shown may be that of the one before.
							</span>
							<button onClick=${reread}>Show the new one</button>
						</div>
					`
				}
				${
					entry
						? html`<${Current} key=${shown} entry=${entry} />`
						: html`
							<h1>No such page</h1>
							<p>The address names no page of the console, or one that others may see.</p>
						`
				}
			</main>
		</div>
		${help && html`<${Help} close=${() => setHelp(false)} />`}
	`;
}

/** App shows the login or the console, and the login above the console when the session is over. */
function App() {
	const user = self.value;
	if (user === undefined) return html`<${Messages} />`;
	return html`
		${user === null ? html`<${Login} />` : html`<${Frame} key=${user.id} />`}
		${
			over.value &&
			html`
				<${Dialog} title="Your session is over" close=${() => {}} firm>
					<p>Log in again. The page stays as it is, with what you typed.</p>
					<${Login} bare />
				<//>
			`
		}
		<${Messages} />
	`;
}

dress();
render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById('app')));
self.value = undefined;
get('/api/v1/session').then(({ user }) => {
	const before = user && sessionStorage.getItem('before'); // the page from which the user went to sign in
	if (before && route.value.page === '') go(before);
	sessionStorage.removeItem('before');
	return user ? entered(user) : left();
}, left);
