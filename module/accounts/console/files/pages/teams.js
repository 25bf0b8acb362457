// Teams: for administrators all of them, for others those whose members they are; and one of them opened.
import { html, useState } from '../lib/preact.js';
import { get, patch, post, put, query, remove, useData } from '../lib/api.js';
import { ModelField, ruleBody, RuleFields, Rules, words } from '../lib/bounds.js';
import { plural } from '../lib/format.js';
import { Left, LimitTable } from '../lib/limits.js';
import { go, root, route, set } from '../lib/route.js';
import {
	administers,
	Check,
	Confirm,
	Dialog,
	Empty,
	Field,
	Form,
	lines,
	Name,
	Page,
	Part,
	Search,
	Table,
	Tags,
	tell,
	Time,
	Turner,
} from '../lib/ui.js';

/** @typedef {import('../lib/api.js').Schemas['Team']} Team */
/** @typedef {import('../lib/api.js').Schemas['Member']} Member */
/** @typedef {import('../lib/limits.js').LimitState} LimitState */

const size = 50;
const pathOf = (/** @type {string} */ name) => `/api/v1/teams/${encodeURIComponent(name)}`;

/** Limit is the rules of a team, or where they are. @param {{team: Team}} props */
const Limit = ({ team }) =>
	team.configured
		? administers()
			? html`
				<a class="nowrap" href=${query(`${root}configuration`, { part: 'limits', name: team.name })}>
					in the configuration
				</a>
			`
			: html`<span class="nowrap">in the configuration</span>`
		: html`<${Rules} of=${team} />`;

/** Fields are what can be said of a team. @param {{team?: Team}} props */
const Fields = ({ team }) => html`
	<${ModelField} of=${team?.models} hint="What keys of the team may use at most." />
	${
		team?.configured
			? html`
				<p class="muted small">
					The configuration defines a limit with the name of the team, whose rules are changed there.
				</p>
			`
			: html`<${RuleFields} of=${team} whose="all keys of the team" />`
	}
`;

/** body returns the members of a team. @param {Record<string, string>} data */
const body = (data) => ({ models: lines(data.models), ...ruleBody(data) });

/** made returns the members of a new team. A limit of the configuration may have its name, so that rules are sent
 * only if they are given.
 * @param {Record<string, string>} data */
const made = (data) => ({
	name: data.name.trim(),
	...Object.fromEntries(Object.entries(body(data)).filter(([, value]) => Boolean(value))),
});

/** New creates a team. @param {{close: () => void}} props */
const New = ({ close }) => html`
	<${Dialog} title="New team" close=${close}>
		<${Form} label="Create team" cancel=${close}
			send=${async (data) => {
				const team = await post('/api/v1/teams', made(data));
				close();
				go(`teams/${encodeURIComponent(team.name)}`);
			}}
		>
			<${Field} label="Name"
				hint="Letters, digits and . _ @ + -. Keys whose limit has this name are keys of the team."
			>
				<input name="name" required maxlength="64" autocomplete="off" autocapitalize="none"
					spellcheck=${false} autofocus
				/>
			<//>
			<${Fields} />
		<//>
	<//>
`;

/** Change changes a team. @param {{team: Team, close: () => void}} props */
const Change = ({ team, close }) => html`
	<${Dialog} title=${`Team ${team.name}`} close=${close}>
		<${Form} label="Save" cancel=${close}
			send=${async (data) => {
				await patch(pathOf(team.name), body(data));
				tell('Saved');
				close();
			}}
		>
			<${Fields} team=${team} />
		<//>
	<//>
`;

/** Delete deletes a team. @param {{team: Team, close: () => void, then: () => void}} props */
const Delete = ({ team, close, then }) => html`
	<${Confirm} title=${`Delete ${team.name}`} name=${team.name} label="Delete" close=${close}
		fields=${html`<${Check} name="keys" label="Delete the keys of the team, too" />`}
		act=${async (data) => {
			await remove(query(pathOf(team.name), { keys: data.keys && 'delete' }));
			tell(`${team.name} is deleted`);
			then();
		}}
	>
		A team that has keys is deleted only together with them; requests with them are refused at once. The ledger
		keeps the usage. This cannot be undone.
	<//>
`;

export default function Teams() {
	return route.value.rest ? html`<${One} key=${route.value.rest} name=${route.value.rest} />` : html`<${List} />`;
}

/** List shows teams. */
function List() {
	const settings = route.value.query;
	const search = settings.get('q') ?? '',
		after = settings.get('after') ?? '';
	const found = useData(query('/api/v1/teams', { search, limit: size, after }));
	const limits = useData(administers() ? '/api/v1/limits?limit=400' : null, {
		read: async (path, options) => (await get(path, options).catch(() => ({ items: [] }))).items,
	}); // groups come first; without states, the rules are shown
	const [open, setOpen] = useState(/** @type {{what: string, team?: Team}|null} */ (null));
	const close = () => {
		setOpen(null);
		found.reload();
	};
	const left = (/** @type {Team} */ team) =>
		(limits.data ?? []).filter((/** @type {LimitState} */ state) => state.limit === team.name && state.per === 'group');
	return html`
		<${Page} title="Teams"
			about=${
				administers()
					? 'A team is a group of keys that share a limit. Its administrators manage its members and keys.'
					: 'The teams whose member you are.'
			}
			actions=${html`<${Search} label="Search teams" value=${search} set=${(text) => set({ q: text, after: '' })} />
				${administers() && html`<button class="primary" onClick=${() => setOpen({ what: 'new' })}>New team</button>`}`}
		>
			<section class="panel">
				<${Part} of=${found} rows=${6}>
					${(/** @type {any} */ data) =>
						data.items.length === 0
							? html`<${None} search=${search} />`
							: html`
								<${Table} label="Teams" rows=${data.items} id=${(team) => team.name}
									columns=${[
										{
											name: 'Name',
											cell: (/** @type {Team} */ t) => html`
												<a href=${`${root}teams/${encodeURIComponent(t.name)}`}>
													<${Name} of=${t.name} />
												</a>
											`,
										},
										{ name: 'Models', cell: (/** @type {Team} */ t) => html`<${Tags} of=${t.models} most=${2} />` },
										{ name: 'Limit', cell: (/** @type {Team} */ t) => html`<${Limit} team=${t} />` },
										administers()
											? {
													name: 'Left',
													cell: (/** @type {Team} */ t) =>
														left(t).length > 0
															? html`<${Left} rules=${left(t)} />`
															: html`<span class="muted">–</span>`,
												}
											: { name: 'You', cell: (/** @type {Team} */ t) => (t.admin ? 'administrator' : 'member') },
										{ name: 'Created', cell: (/** @type {Team} */ t) => html`<${Time} at=${t.created} />` },
										administers() && {
											name: '',
											cell: (/** @type {Team} */ t) => html`
												<span class="row end">
													<button class="small" aria-label=${`Change ${t.name}`}
														onClick=${() => setOpen({ what: 'change', team: t })}
													>
														Change
													</button>
													<button class="small danger" aria-label=${`Delete ${t.name}`}
														onClick=${() => setOpen({ what: 'delete', team: t })}
													>
														Delete
													</button>
												</span>
											`,
										},
									]}
								/>
								<footer>
									<span class="muted small">${plural(data.total, 'team')}</span>
									<${Turner} next=${data.next} />
								</footer>
							`}
				<//>
			</section>
			${open?.what === 'new' && html`<${New} close=${close} />`}
			${open?.what === 'change' && open.team && html`<${Change} team=${open.team} close=${close} />`}
			${open?.what === 'delete' && open.team && html`<${Delete} team=${open.team} close=${close} then=${() => {}} />`}
		<//>
	`;
}

/** None says what to do without teams. @param {{search: string}} props */
function None({ search }) {
	if (search)
		return html`
			<${Empty} title="No team has such a name.">
				<button onClick=${() => set({ q: '' })}>Show all teams</button>
			<//>
		`;
	return administers()
		? html`<${Empty} title="No team yet">A team has members, keys and a limit that they share.<//>`
		: html`<${Empty} title="You are in no team.">An administrator of a team adds you.<//>`;
}

/** One shows a team. @param {{name: string}} props */
function One({ name }) {
	const team = useData(pathOf(name));
	const [open, setOpen] = useState('');
	const close = () => {
		setOpen('');
		team.reload();
	};
	const admin = Boolean(team.data?.admin);
	const limits = useData(admin ? query('/api/v1/limits', { team: name, limit: 200 }) : null);
	return html`
		<${Page} title=${name}
			about=${team.data && !admin ? 'You are a member of this team: in Keys, you make keys of it.' : undefined}
			actions=${html`<a class="button" href=${`${root}teams`}>All teams</a>
				${
					admin &&
					html`
						<a class="button" href=${query(`${root}keys`, { of: 'all', team: name })}>Keys</a>
						<a class="button" href=${query(`${root}usage`, { team: name })}>Usage</a>
						<a class="button" href=${query(`${root}exchanges`, { team: name })}>Exchanges</a>
					`
				}
				${
					team.data &&
					administers() &&
					html`
						<button onClick=${() => setOpen('change')}>Change</button>
						<button class="danger" onClick=${() => setOpen('delete')}>Delete</button>
					`
				}`}
		>
			<${Part} of=${team} rows=${2}>
				${(/** @type {Team} */ t) => html`
					<section class="panel">
						<div class="body">
							<dl class="list">
								<dt>Models</dt><dd><${Tags} of=${t.models} most=${24} /></dd>
								<dt>Limit</dt><dd><${Limit} team=${t} /></dd>
								<dt>Created</dt><dd><${Time} at=${t.created} /></dd>
							</dl>
						</div>
					</section>
					${open === 'change' && html`<${Change} team=${t} close=${close} />`}
					${open === 'delete' && html`<${Delete} team=${t} close=${() => setOpen('')} then=${() => go('teams')} />`}
				`}
			<//>
			${
				admin &&
				html`
					<section class="panel">
						<header><h2>What is left</h2></header>
						<${Part} of=${limits} rows=${1}>
							${(/** @type {{items: LimitState[]}} */ data) =>
								data.items.length === 0
									? html`
										<div class="body muted">
											${
												team.data && (team.data.configured || words(team.data).length > 0)
													? 'All of it: the team has no key yet.'
													: 'The team has no limit.'
											}
										</div>
									`
									: html`<${LimitTable} rows=${data.items} />`}
						<//>
					</section>
					<${Members} team=${name} />
				`
			}
		<//>
	`;
}

/** Members shows the members of a team. @param {{team: string}} props */
function Members({ team }) {
	const settings = route.value.query;
	const search = settings.get('q') ?? '',
		after = settings.get('after') ?? '';
	const path = `${pathOf(team)}/members`;
	const memberPath = (/** @type {string} */ user) => `${path}/${encodeURIComponent(user)}`;
	const members = useData(query(path, { search, limit: size, after }));
	const [open, setOpen] = useState(/** @type {{what: string, user: string}|null} */ (null));
	const close = () => {
		setOpen(null);
		members.reload();
	};
	const turn = async (/** @type {Member} */ member) => {
		await put(memberPath(member.user), { admin: !member.admin }).catch((error) => tell(error.message));
		members.reload();
	};
	return html`
		<section class="panel">
			<header>
				<h2>Members</h2>
				<div class="row">
					<${Search} label="Search members" value=${search} set=${(text) => set({ q: text, after: '' })} />
					<button onClick=${() => setOpen({ what: 'add', user: '' })}>Add member</button>
				</div>
			</header>
			<${Part} of=${members} rows=${3}>
				${(/** @type {any} */ data) =>
					data.items.length === 0
						? html`
							<${Empty} title=${search ? 'No member has such a name.' : 'No member yet'}>
								${!search && 'A member makes keys of the team.'}
							<//>
						`
						: html`
							<${Table} label="Members" rows=${data.items} id=${(member) => member.user}
								columns=${[
									{
										name: 'Name',
										cell: (/** @type {Member} */ m) =>
											administers()
												? html`<a href=${`${root}users/${encodeURIComponent(m.user)}`}><${Name} of=${m.user} /></a>`
												: html`<${Name} of=${m.user} />`,
									},
									{ name: 'In the team', cell: (/** @type {Member} */ m) => (m.admin ? 'administrator' : 'member') },
									{
										name: '',
										cell: (/** @type {Member} */ m) => html`
											<span class="row end">
												<a href=${query(`${root}usage`, { team, user: m.user })} aria-label=${`Usage of ${m.user}`}>
													Usage
												</a>
												<button class="small"
													aria-label=${`Make ${m.admin ? 'member' : 'administrator'}: ${m.user}`}
													onClick=${() => turn(m)}
												>
													${m.admin ? 'Make member' : 'Make administrator'}
												</button>
												<button class="small danger" aria-label=${`Remove ${m.user}`}
													onClick=${() => setOpen({ what: 'remove', user: m.user })}
												>
													Remove
												</button>
											</span>
										`,
									},
								]}
							/>
							<footer>
								<span class="muted small">${plural(data.total, 'member')}</span>
								<${Turner} next=${data.next} />
							</footer>
						`}
			<//>
		</section>
		${
			open?.what === 'add' &&
			html`
				<${Dialog} title=${`New member of ${team}`} close=${close}>
					<${Form} label="Add member" cancel=${close}
						send=${async (data) => {
							await put(memberPath(data.user.trim()), { admin: Boolean(data.admin) });
							close();
						}}
					>
						<${Field} label="Name" hint="Of a user of the gateway.">
							<input name="user" required autocomplete="off" autocapitalize="none" spellcheck=${false} autofocus />
						<//>
						<${Check} name="admin" label="Administrates the team: its members and keys" />
					<//>
				<//>
			`
		}
		${
			open?.what === 'remove' &&
			html`
				<${Confirm} title=${`Remove ${open.user}`} name=${open.user} label="Remove" close=${close}
					fields=${html`<${Check} name="keys" label="Delete the member’s keys of the team, too" />`}
					act=${(data) => remove(query(memberPath(open.user), { keys: data.keys && 'delete' }))}
				>
					A member who has keys of the team is removed only together with them; requests with them are refused at
					once.
				<//>
			`
		}
	`;
}
