// Users, for administrators: accounts, their roles and states, and the way to their keys and usage.
import { html, useState } from '../lib/preact.js';
import { get, patch, post, query, remove, self, useData } from '../lib/api.js';
import { linkOf, ruleBody, RuleFields, Rules, stateOf } from '../lib/bounds.js';
import { money, number, plural } from '../lib/format.js';
import { Left, LimitTable } from '../lib/limits.js';
import { go, root, route, set } from '../lib/route.js';
import {
	Chip,
	Confirm,
	Dialog,
	Empty,
	Field,
	Form,
	isRoot,
	Name,
	Page,
	Part,
	roleName,
	Search,
	SessionTable,
	Table,
	tell,
	Time,
	Turner,
} from '../lib/ui.js';

/** @typedef {import('../lib/api.js').User} User */

const roles = /** @type {User['role'][]} */ (['user', 'admin', 'root']);

/** assigns reports whether the user of the session may give a role, and change those who have it.
 * @param {User['role']} role */
const assigns = (role) => isRoot() || role === 'user';

/** Role is the choice of a role. @param {{value: User['role']}} props */
const Role = ({ value }) => html`
	<${Field} label="Role" hint="Administrators see and change the accounts and keys of users; root those of all.">
		<select name="role" defaultValue=${value}>
			${roles
				.filter(assigns)
				.map((role) => html`<option value=${role} selected=${role === value}>${roleName(role)}</option>`)}
		</select>
	<//>
`;

/** New creates a user. @param {{close: () => void}} props */
const New = ({ close }) => html`
	<${Dialog} title="New user" close=${close}>
		<${Form} label="Create user" cancel=${close}
			send=${async (data) => {
				const { username, display_name, password, role } = data;
				await post('/api/v1/users', { username, display_name, password, role });
				const rules = ruleBody(data);
				if (Object.values(rules).some(Boolean)) await patch(pathOf(username), rules);
				tell(`${username} can log in`);
				close();
			}}
		>
			<${Field} label="Name" hint="a to z, 0 to 9 and . _ @ + -. Usage is counted by it, and it cannot be changed.">
				<input name="username" required maxlength="64" autocomplete="off" autocapitalize="none"
					spellcheck=${false} autofocus
				/>
			<//>
			<${Field} label="Display name"><input name="display_name" maxlength="64" autocomplete="off" /><//>
			<${Field} label="Password" hint="At least 8 bytes.">
				<input name="password" type="password" required minlength="8" autocomplete="new-password" />
			<//>
			<${Role} value="user" />
			<${RuleFields} whose="all keys of the user" />
		<//>
	<//>
`;

/** Change changes a user. An empty password stays. @param {{user: User, close: () => void}} props */
const Change = ({ user, close }) => html`
	<${Dialog} title=${`User ${user.username}`} close=${close}>
		<${Form} label="Save" cancel=${close}
			send=${async (data) => {
				await patch(pathOf(user.username), { display_name: data.display_name, role: data.role, ...ruleBody(data) });
				if (data.password) await post(`${pathOf(user.username)}/password`, { password: data.password });
				tell('Saved');
				close();
			}}
		>
			<${Field} label="Display name">
				<input name="display_name" maxlength="64" autocomplete="off" defaultValue=${user.display_name} />
			<//>
			${user.id !== self.value?.id && html`<${Role} value=${user.role} />`}
			${assigns(user.role) && html`<${RuleFields} of=${user} whose="all keys of the user" />`}
			<${Field} label="New password" hint="Empty: the present one stays. A new one ends all sessions of the user.">
				<input name="password" type="password" minlength="8" autocomplete="new-password" />
			<//>
		<//>
	<//>
`;

/** Sessions shows where a user is logged in, and ends all of it. @param {{user: User, close: () => void}} props */
function Sessions({ user, close }) {
	const sessions = useData(`${pathOf(user.username)}/sessions`);
	return html`
		<${Dialog} wide title=${`Sessions of ${user.username}`} close=${close}>
			<${Part} of=${sessions} rows=${2}>
				${(/** @type {any} */ { items }) =>
					items.length === 0
						? html`<${Empty} title="The user is not logged in." />`
						: html`
							<${SessionTable} rows=${items} />
							<${Form} label="End all sessions" danger cancel=${close}
								send=${async () => {
									await remove(`${pathOf(user.username)}/sessions`);
									tell(`${user.username} must log in again`);
									close();
								}}
							/>
						`}
			<//>
		<//>
	`;
}

/** Delete deletes a user. @param {{user: User, close: () => void, then?: () => void}} props */
const Delete = ({ user, close, then }) => html`
	<${Confirm} title=${`Delete ${user.username}`} name=${user.username} label="Delete" close=${close}
		act=${async () => {
			await remove(pathOf(user.username));
			then?.();
		}}
	>
		All sessions and keys of the user end. The ledger keeps the usage. This cannot be undone.
	<//>
`;

/** toggle disables or enables a user. @param {User} user */
const toggle = (user) =>
	patch(pathOf(user.username), { disabled: !user.disabled }).catch((error) => tell(error.message));

/** pathOf returns the path of a user. @param {string} name */
export const pathOf = (name) => `/api/v1/users/${encodeURIComponent(name)}`;

const days = 30;

/** cost returns sums of usage in words, an amount for each currency. @param {any[]} sums */
function cost(sums) {
	/** @type {Map<string, number>} */
	const of = new Map();
	for (const sum of sums) of.set(sum.currency, (of.get(sum.currency) ?? 0) + sum.cost_micro / 1e6);
	return [...of].map(([currency, amount]) => money(amount, currency)).join(' + ') || money(0, '');
}

/** allOf returns the address of the list of keys of a user. @param {string} name */
const allOf = (name) => query(`${root}keys`, name === self.value?.username ? {} : { of: 'all', user: name });

/** Person shows a user. @param {{user: User}} props */
export function Person({ user }) {
	const name = user.username;
	const keys = useData(query('/api/v1/keys', { user: name, limit: 50, limits: true }));
	const used = useData(query('/api/v1/usage', { user: name, by: 'key' }), {
		read: async (path, options) => (await get(path, options).catch(() => ({ items: [] }))).items,
	}); // without a ledger, nothing is known
	const limits = useData(query('/api/v1/limits', { user: name, limit: 100 }));
	const teams = useData(`${pathOf(name)}/teams`);
	const ofKey = (/** @type {number} */ id) =>
		(used.data ?? []).filter((/** @type {any} */ sum) => sum.key === `key_${id}`);
	const sum = (/** @type {string} */ field) =>
		number((used.data ?? []).reduce((/** @type {number} */ all, /** @type {any} */ each) => all + each[field], 0));
	return html`
		<dl class="facts">
			<div>
				<dt>Cost in ${days} days</dt>
				<dd><a class="bare" href=${query(`${root}usage`, { user: name })}>${cost(used.data ?? [])}</a></dd>
			</div>
			<div>
				<dt>Requests in ${days} days</dt>
				<dd><a class="bare" href=${query(`${root}exchanges`, { user: name })}>${sum('requests')}</a></dd>
			</div>
			<div><dt>Own rules</dt><dd><small><${Rules} of=${user} /></small></dd></div>
		</dl>
		<section class="panel">
			<header><h2>Keys</h2></header>
			<${Part} of=${keys} rows=${3}>
				${(/** @type {any} */ data) =>
					data.items.length === 0
						? html`<${Empty} title="No key yet" />`
						: html`
							<${Table} label="Keys" rows=${data.items} id=${(key) => key.id}
								columns=${[
									{
										name: 'Name',
										cell: (/** @type {any} */ k) => html`
											<a href=${linkOf(k.id)}><${Name} of=${k.name} /></a>
										`,
									},
									{
										name: 'State',
										cell: (/** @type {any} */ k) =>
											html`<${Chip} is=${stateOf(k) ? 'off' : 'ok'}>${stateOf(k) || 'enabled'}<//>`,
									},
									{ name: 'Left', cell: (/** @type {any} */ k) => html`<${Left} rules=${k.limits ?? []} />` },
									{ name: 'Cost', num: true, cell: (/** @type {any} */ k) => cost(ofKey(k.id)) },
									{ name: 'Last use', cell: (/** @type {any} */ k) => html`<${Time} at=${k.used} />` },
								]}
							/>
							${data.next && html`<footer><a href=${allOf(name)}>All ${data.total} keys</a></footer>`}
						`}
			<//>
		</section>
		<section class="panel">
			<header><h2>Limits</h2></header>
			<${Part} of=${limits} rows=${2}>
				${(/** @type {any} */ { items }) =>
					items.length === 0
						? html`<div class="body muted">No limit counts this user and its keys.</div>`
						: html`<${LimitTable} rows=${items} />`}
			<//>
		</section>
		<section class="panel">
			<header><h2>Teams</h2></header>
			<${Part} of=${teams} rows=${1}>
				${(/** @type {any} */ { items }) =>
					items.length === 0
						? html`<div class="body muted">In no team.</div>`
						: html`
							<div class="body row">
								${items.map(
									(/** @type {any} */ { team, admin }) => html`
										<a href=${`${root}teams/${encodeURIComponent(team)}`}>${team}${admin && ' (administrator)'}</a>
									`,
								)}
							</div>
						`}
			<//>
		</section>
	`;
}

/** One is the page of a user. @param {{name: string}} props */
function One({ name }) {
	const user = useData(pathOf(name));
	const [open, setOpen] = useState('');
	const close = () => {
		setOpen('');
		user.reload();
	};
	const data = /** @type {User|undefined} */ (user.data);
	return html`
		<${Page} title=${name}
			actions=${html`<a class="button" href=${`${root}users`}>All users</a>
				${
					data &&
					assigns(data.role) &&
					html`
						<button onClick=${() => setOpen('change')}>Change</button>
						<button onClick=${() => setOpen('sessions')}>Sessions</button>
						${
							data.id !== self.value?.id &&
							html`
								<button onClick=${() => toggle(data).then(user.reload)}>${data.disabled ? 'Enable' : 'Disable'}</button>
								<button class="danger" onClick=${() => setOpen('delete')}>Delete</button>
							`
						}
					`
				}`}
		>
			<${Part} of=${user} rows=${2}>
				${(/** @type {User} */ u) => html`
					<section class="panel">
						<div class="body">
							<dl class="list">
								<dt>Role</dt><dd>${roleName(u.role)}</dd>
								<dt>State</dt>
								<dd><${Chip} is=${u.disabled ? 'off' : 'ok'}>${u.disabled ? 'disabled' : 'enabled'}<//></dd>
								<dt>Last login</dt><dd><${Time} at=${u.last_login} /></dd>
							</dl>
						</div>
					</section>
					<${Person} key=${`${u.budget} ${u.requests} ${u.tokens} ${u.concurrent}`} user=${u} />
					${open === 'change' && html`<${Change} user=${u} close=${close} />`}
					${open === 'sessions' && html`<${Sessions} user=${u} close=${close} />`}
					${open === 'delete' && html`<${Delete} user=${u} close=${() => setOpen('')} then=${() => go('users')} />`}
				`}
			<//>
		<//>
	`;
}

export default function Users() {
	return route.value.rest ? html`<${One} key=${route.value.rest} name=${route.value.rest} />` : html`<${List} />`;
}

/** List shows users. */
function List() {
	const settings = route.value.query;
	const search = settings.get('q') ?? '',
		after = settings.get('after') ?? '';
	const users = useData(query('/api/v1/users', { search, sort: settings.get('sort') ?? '', limit: 50, after }));
	const [open, setOpen] = useState(false);
	const close = () => {
		setOpen(false);
		users.reload();
	};
	return html`
		<${Page} title="Users"
			actions=${html`<${Search} label="Search users" value=${search} set=${(text) => set({ q: text, after: '' })} />
				<button class="primary" onClick=${() => setOpen(true)}>New user</button>`}
		>
			<section class="panel">
				<${Part} of=${users} rows=${8}>
					${(/** @type {any} */ data) =>
						data.items.length === 0
							? html`
								<${Empty} title="No user has such a name.">
									<button onClick=${() => set({ q: '' })}>Show all users</button>
								<//>
							`
							: html`
								<${Table} label="Users" rows=${data.items} id=${(user) => user.id}
									columns=${[
										{
											name: 'Name',
											cell: (/** @type {User} */ u) => html`
												<a href=${`${root}users/${encodeURIComponent(u.username)}`}><${Name} of=${u.username} /></a>
											`,
											sort: 'name',
										},
										{
											name: 'Display name',
											cell: (/** @type {User} */ u) => html`<${Name} of=${u.display_name} />`,
											sort: 'display_name',
										},
										{ name: 'Role', cell: (/** @type {User} */ u) => roleName(u.role), sort: 'role' },
										{
											name: 'State',
											cell: (/** @type {User} */ u) =>
												html`
													<${Chip} is=${u.disabled ? 'off' : 'ok'}>${u.disabled ? 'disabled' : 'enabled'}<//>
												`,
											sort: 'disabled',
										},
										{ name: 'Own rules', cell: (/** @type {User} */ u) => html`<${Rules} of=${u} />` },
										{
											name: 'Last login',
											cell: (/** @type {User} */ u) => html`<${Time} at=${u.last_login} />`,
											sort: 'last_login',
										},
										{
											name: 'Created',
											cell: (/** @type {User} */ u) => html`<${Time} at=${u.created} />`,
											sort: 'created',
										},
									]}
								/>
								<footer>
									<span class="muted small">${plural(data.total, 'user')}</span>
									<${Turner} next=${data.next} />
								</footer>
							`}
				<//>
			</section>
			${open && html`<${New} close=${close} />`}
		<//>
	`;
}
