// Users, for administrators: accounts, their roles and states, and the way to their keys and usage.
import { html, useState } from '../lib/preact.js';
import { post, put, query, remove, self, useData } from '../lib/api.js';
import { plural } from '../lib/format.js';
import { root, route, set } from '../lib/route.js';
import {
	Chip,
	Confirm,
	Dialog,
	Empty,
	Field,
	Form,
	Name,
	Page,
	Pager,
	Part,
	Search,
	SessionTable,
	Table,
	tell,
	Time,
} from '../lib/ui.js';

/** @typedef {import('../lib/api.js').User} User */

const roles = /** @type {[number, string][]} */ ([
	[1, 'user'],
	[10, 'administrator'],
	[100, 'root'],
]);

/** manages reports whether the user of the session may change another one. @param {User} user */
const manages = (user) => self.value?.role === 100 || user.role < (self.value?.role ?? 0);

/** Role is the choice of a role. @param {{value: number}} props */
const Role = ({ value }) => html`
	<${Field} label="Role" hint="Administrators see and change the accounts and keys of users; root those of all.">
		<select name="role" defaultValue=${String(value)}>
			${roles
				.filter(([role]) => self.value?.role === 100 || role < (self.value?.role ?? 0))
				.map(([role, name]) => html`<option value=${role} selected=${role === value}>${name}</option>`)}
		</select>
	<//>
`;

/** New creates a user. @param {{close: () => void}} props */
const New = ({ close }) => html`
	<${Dialog} title="New user" close=${close}>
		<${Form} label="Create user" cancel=${close}
			send=${async (data) => {
				await post('/api/user/', { ...data, role: Number(data.role) });
				tell(`${data.username} can log in`);
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
			<${Role} value=${1} />
		<//>
	<//>
`;

/** Change changes a user. An empty password stays. @param {{user: User, close: () => void}} props */
const Change = ({ user, close }) => html`
	<${Dialog} title=${`User ${user.username}`} close=${close}>
		<${Form} label="Save" cancel=${close}
			send=${async (data) => {
				await put('/api/user/', {
					id: user.id,
					display_name: data.display_name,
					password: data.password,
					...(data.role ? { role: Number(data.role) } : {}),
				});
				tell('Saved');
				close();
			}}
		>
			<${Field} label="Display name">
				<input name="display_name" maxlength="64" autocomplete="off" defaultValue=${user.display_name} />
			<//>
			${user.id !== self.value?.id && html`<${Role} value=${user.role} />`}
			<${Field} label="New password" hint="Empty: the present one stays. A new one ends all sessions of the user.">
				<input name="password" type="password" minlength="8" autocomplete="new-password" />
			<//>
		<//>
	<//>
`;

/** Sessions shows where a user is logged in, and ends all of it. @param {{user: User, close: () => void}} props */
function Sessions({ user, close }) {
	const sessions = useData(`/api/user/${user.id}/sessions`);
	return html`
		<${Dialog} wide title=${`Sessions of ${user.username}`} close=${close}>
			<${Part} of=${sessions} rows=${2}>
				${(/** @type {any[]} */ rows) =>
					rows.length === 0
						? html`<${Empty} title="The user is not logged in." />`
						: html`
							<${SessionTable} rows=${rows} />
							<${Form} label="End all sessions" danger cancel=${close}
								send=${async () => {
									await remove(`/api/user/${user.id}/sessions`);
									tell(`${user.username} must log in again`);
									close();
								}}
							/>
						`}
			<//>
		<//>
	`;
}

export default function Users() {
	const settings = route.value.query;
	const page = Number(settings.get('p')) || 1,
		keyword = settings.get('q') ?? '';
	const users = useData(query('/api/user/', { p: page, page_size: 50, keyword }));
	const [open, setOpen] = useState(/** @type {{what: string, user?: User}|null} */ (null));
	const close = () => {
		setOpen(null);
		users.reload();
	};
	const manage = async (/** @type {User} */ user, /** @type {string} */ action) => {
		await post('/api/user/manage', { id: user.id, action }).catch((error) => tell(error.message));
		users.reload();
	};
	return html`
		<${Page} title="Users"
			actions=${html`<${Search} label="Search users" value=${keyword} set=${(text) => set({ q: text, p: '' })} />
				<button class="primary" onClick=${() => setOpen({ what: 'new' })}>New user</button>`}
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
											cell: (/** @type {User} */ u) => html`<${Name} of=${u.username} />`,
											sort: (/** @type {User} */ u) => u.username,
										},
										{
											name: 'Display name',
											cell: (/** @type {User} */ u) => html`<${Name} of=${u.display_name} />`,
											sort: (/** @type {User} */ u) => u.display_name,
										},
										{
											name: 'Role',
											cell: (/** @type {User} */ u) => roles.find(([role]) => role === u.role)?.[1],
											sort: (/** @type {User} */ u) => u.role,
										},
										{
											name: 'State',
											cell: (/** @type {User} */ u) =>
												html`
													<${Chip} is=${u.status === 1 ? 'ok' : 'off'}>${u.status === 1 ? 'enabled' : 'disabled'}<//>
												`,
											sort: (/** @type {User} */ u) => u.status,
										},
										{
											name: 'Last login',
											cell: (/** @type {User} */ u) => html`<${Time} at=${u.last_login_at} />`,
											sort: (/** @type {User} */ u) => u.last_login_at,
										},
										{
											name: 'Created',
											cell: (/** @type {User} */ u) => html`<${Time} at=${u.created_at} />`,
											sort: (/** @type {User} */ u) => u.created_at,
										},
										{
											name: '',
											cell: (/** @type {User} */ u) => html`
												<span class="row">
													<a href=${query(`${root}keys`, { of: 'all', user: u.username })}
														aria-label=${`Keys of ${u.username}`}
													>
														Keys
													</a>
													<a href=${query(`${root}usage`, { user: u.username })}
														aria-label=${`Usage of ${u.username}`}
													>
														Usage
													</a>
													${
														manages(u) &&
														html`
															<button class="link" aria-label=${`Sessions of ${u.username}`}
																onClick=${() => setOpen({ what: 'sessions', user: u })}
															>
																Sessions
															</button>
														`
													}
												</span>
											`,
										},
										{
											name: '',
											cell: (/** @type {User} */ u) =>
												manages(u) &&
												html`
													<span class="row end">
														<button class="small" aria-label=${`Change ${u.username}`}
															onClick=${() => setOpen({ what: 'change', user: u })}
														>
															Change
														</button>
														${
															u.id !== self.value?.id &&
															html`
																<button class="small"
																	aria-label=${`${u.status === 1 ? 'Disable' : 'Enable'} ${u.username}`}
																	onClick=${() => manage(u, u.status === 1 ? 'disable' : 'enable')}
																>
																	${u.status === 1 ? 'Disable' : 'Enable'}
																</button>
																<button class="small danger" aria-label=${`Delete ${u.username}`}
																	onClick=${() => setOpen({ what: 'delete', user: u })}
																>
																	Delete
																</button>
															`
														}
													</span>
												`,
										},
									]}
								/>
								<footer>
									<span class="muted small">${plural(data.total, 'user')}</span>
									<${Pager} page=${data.page} size=${data.page_size} total=${data.total}
										set=${(n) => set({ p: n === 1 ? '' : String(n) })}
									/>
								</footer>
							`}
				<//>
			</section>
			${open?.what === 'new' && html`<${New} close=${close} />`}
			${open?.what === 'sessions' && open.user && html`<${Sessions} user=${open.user} close=${close} />`}
			${open?.what === 'change' && html`<${Change} user=${open.user} close=${close} />`}
			${
				open?.what === 'delete' &&
				open.user &&
				html`
					<${Confirm} title=${`Delete ${open.user.username}`} name=${open.user.username} label="Delete"
						close=${close} act=${() => post('/api/user/manage', { id: open.user?.id, action: 'delete' })}
					>
						All sessions and keys of the user end. The ledger keeps the usage. This cannot be undone.
					<//>
				`
			}
		<//>
	`;
}
