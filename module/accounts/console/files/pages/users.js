// Users, for administrators: accounts, their roles and states, and the way to their keys and usage.
import { html, useState } from '../lib/preact.js';
import { patch, post, query, remove, self, useData } from '../lib/api.js';
import { plural } from '../lib/format.js';
import { root, route, set } from '../lib/route.js';
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

/** pathOf returns the path of a user. @param {User} user */
const pathOf = (user) => `/api/v1/users/${encodeURIComponent(user.username)}`;

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
				await post('/api/v1/users', data);
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
			<${Role} value="user" />
		<//>
	<//>
`;

/** Change changes a user. An empty password stays. @param {{user: User, close: () => void}} props */
const Change = ({ user, close }) => html`
	<${Dialog} title=${`User ${user.username}`} close=${close}>
		<${Form} label="Save" cancel=${close}
			send=${async (data) => {
				await patch(pathOf(user), { display_name: data.display_name, role: data.role });
				if (data.password) await post(`${pathOf(user)}/password`, { password: data.password });
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
	const sessions = useData(`${pathOf(user)}/sessions`);
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
									await remove(`${pathOf(user)}/sessions`);
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
	const search = settings.get('q') ?? '',
		after = settings.get('after') ?? '';
	const users = useData(query('/api/v1/users', { search, limit: 50, after }));
	const [open, setOpen] = useState(/** @type {{what: string, user?: User}|null} */ (null));
	const close = () => {
		setOpen(null);
		users.reload();
	};
	const toggle = async (/** @type {User} */ user) => {
		await patch(pathOf(user), { disabled: !user.disabled }).catch((error) => tell(error.message));
		users.reload();
	};
	return html`
		<${Page} title="Users"
			actions=${html`<${Search} label="Search users" value=${search} set=${(text) => set({ q: text, after: '' })} />
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
											cell: (/** @type {User} */ u) => roleName(u.role),
											sort: (/** @type {User} */ u) => roles.indexOf(u.role),
										},
										{
											name: 'State',
											cell: (/** @type {User} */ u) =>
												html`
													<${Chip} is=${u.disabled ? 'off' : 'ok'}>${u.disabled ? 'disabled' : 'enabled'}<//>
												`,
											sort: (/** @type {User} */ u) => Number(u.disabled),
										},
										{
											name: 'Last login',
											cell: (/** @type {User} */ u) => html`<${Time} at=${u.last_login} />`,
											sort: (/** @type {User} */ u) => u.last_login ?? '',
										},
										{
											name: 'Created',
											cell: (/** @type {User} */ u) => html`<${Time} at=${u.created} />`,
											sort: (/** @type {User} */ u) => u.created,
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
														assigns(u.role) &&
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
												assigns(u.role) &&
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
																	aria-label=${`${u.disabled ? 'Enable' : 'Disable'} ${u.username}`}
																	onClick=${() => toggle(u)}
																>
																	${u.disabled ? 'Enable' : 'Disable'}
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
									<${Turner} next=${data.next} />
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
						close=${close} act=${() => remove(pathOf(/** @type {User} */ (open.user)))}
					>
						All sessions and keys of the user end. The ledger keeps the usage. This cannot be undone.
					<//>
				`
			}
		<//>
	`;
}
