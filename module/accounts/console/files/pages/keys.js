// Keys: those of the user, for administrators those of all users, and those of the configuration.
import { html, useState } from '../lib/preact.js';
import { get, patch, post, query, remove, self, teams, useData } from '../lib/api.js';
import { plural, relative, when } from '../lib/format.js';
import { Left } from '../lib/limits.js';
import { root, route, set } from '../lib/route.js';
import {
	administers,
	Chip,
	Confirm,
	Copy,
	Dialog,
	Empty,
	Field,
	Form,
	leads,
	lines,
	Name,
	Page,
	Part,
	Search,
	Switch,
	Table,
	Tags,
	tell,
	Time,
	Turner,
} from '../lib/ui.js';

/** @typedef {{id: number|string, owner: string, name: string, hint: string, models: string[], from: string[], limit:
 * string, off: string, created: number|string|null, expires: number|string|null, used: number|string|null, tags?:
 * string[], sites?: string[], limits?: LimitState[]}} Row */
/** @typedef {import('../lib/limits.js').LimitState} LimitState */

/** made returns the row of a key that a user has made. @param {any} key @returns {Row} */
const made = (key) => ({
	...key,
	owner: key.user,
	hint: key.key,
	off: key.disabled
		? 'disabled'
		: key.user_disabled
			? 'owner disabled'
			: key.expires && when(key.expires) < new Date()
				? 'expired'
				: '',
});

/** fixed returns the row of a key of the configuration. @param {any} key @returns {Row} */
const fixed = (key) => ({
	...key,
	owner: key.user,
	name: key.id,
	hint: '',
	created: null,
	used: null,
	off: key.disabled ? 'disabled' : key.expires && when(key.expires) < new Date() ? 'expired' : '',
});

const kinds = ['own', 'all', 'configured'];

/** counts reports whether a rule counts what a key of the configuration uses.
 * @param {LimitState} rule @param {Row} row */
const counts = (rule, row) =>
	rule.limit === row.limit &&
	(rule.per === 'key' ? rule.subject === row.id : rule.per !== 'user' || rule.subject === row.owner);

/** Limit is the limit of a key, with what is left of its rules. @param {{row: Row, states: LimitState[]}} props */
function Limit({ row, states }) {
	const rules = row.limits ?? states.filter((rule) => counts(rule, row));
	if (rules.length > 0) return html`<${Left} rules=${rules} />`;
	return row.limit ? html`<${Name} of=${row.limit} />` : html`<span class="muted">none</span>`;
}

/** Fields are what can be said of a key. @param {{row?: Row, models: string[], named: boolean}} props */
function Fields({ row, models, named }) {
	const expires = row?.expires ? when(row.expires).toISOString().slice(0, 10) : '';
	return html`
		<${Field} label="Name">
			<input name="name" required maxlength="64" autocomplete="off" autofocus defaultValue=${row?.name ?? ''} />
		<//>
		<${Field} label="Models"
			hint="Names or patterns, separated by spaces: claude-* is every model whose name begins so. Empty: all models."
		>
			<input name="models" autocomplete="off" spellcheck=${false} list="known-models"
				defaultValue=${row?.models.join(' ') ?? ''}
			/>
		<//>
		<datalist id="known-models">
			${models.map((model) => html`<option value=${model}></option>`)}
		</datalist>
		<${Field} label="Expires" hint="The last day, in UTC. Empty: never.">
			<input name="expires" type="date" defaultValue=${expires} />
		<//>
		<${Field} label="Networks" hint="Addresses or networks that may use the key, such as 10.0.0.0/8. Empty: all.">
			<input name="from" autocomplete="off" spellcheck=${false} defaultValue=${row?.from.join(' ') ?? ''} />
		<//>
		${
			named &&
			html`
				<${Field} label="Limit" hint="Name of a limit of the configuration. Empty: none.">
					<input name="limit" autocomplete="off" spellcheck=${false} defaultValue=${row?.limit ?? ''} />
				<//>
			`
		}
	`;
}

/** endOf returns the last second of a day. @param {string} day */
const endOf = (day) => `${day}T23:59:59Z`;

/** body returns the members of a key. @param {Record<string, string>} data */
const body = (data) => ({
	user: data.user?.trim(),
	name: data.name,
	models: lines(data.models),
	from: lines(data.from),
	limit: data.limit?.trim(),
	expires: data.expires && endOf(data.expires),
});

/** OfTeam gives a new key the limit of a team: that of the page, or one that its owner chooses.
 * @param {{team: string}} props */
function OfTeam({ team }) {
	if (team) return html`<${Field} label="Team"><input name="limit" readonly value=${team} /><//>`;
	return (
		teams.value.length > 0 &&
		html`
			<${Field} label="Team" hint="Keys of a team share its limit.">
				<select name="limit">
					<option value="">none</option>
					${teams.value.map(({ name }) => html`<option value=${name}>${name}</option>`)}
				</select>
			<//>
		`
	);
}

/** New makes a key and shows it once.
 * @param {{others: boolean, team: string, close: () => void, models: string[]}} props */
function New({ others, team, close, models }) {
	const [made, setMade] = useState(/** @type {{name: string, key: string}|null} */ (null));
	if (made) {
		return html`
			<${Dialog} title="The new key" close=${close} firm>
				<p>
					This is the only time that the key is shown. The gateway keeps a digest of it, and nothing from which it
					could be shown again.
				</p>
				<div class="secret"><code data-secret>${made.key}</code><${Copy} text=${made.key} /></div>
				<p class="small muted">What to do with it is in <a href=${`${root}connect`}>Connect</a>.</p>
				<div class="row end">
					<button class="primary" autofocus onClick=${close}>I have saved it</button>
				</div>
			<//>
		`;
	}
	const send = async (/** @type {Record<string, string>} */ data) => setMade(await post('/api/v1/keys', body(data)));
	return html`
		<${Dialog} title=${others ? 'New key for a user' : 'New key'} close=${close}>
			<${Form} label="Create key" cancel=${close} send=${send}>
				${
					others &&
					html`
						<${Field} label="Owner" hint="Name of the user.">
							<input name="user" required autocomplete="off" spellcheck=${false} defaultValue=${self.value?.username} />
						<//>
					`
				}
				<${Fields} models=${models} named=${administers() && !team} />
				${(team || !administers()) && html`<${OfTeam} team=${team} />`}
			<//>
		<//>
	`;
}

/** Change changes a key. @param {{row: Row, close: () => void, models: string[]}} props */
const Change = ({ row, close, models }) => html`
	<${Dialog} title=${`Key ${row.name}`} close=${close}>
		<${Form} label="Save" cancel=${close}
			send=${async (data) => {
				await patch(`/api/v1/keys/${row.id}`, body(data));
				tell('Saved');
				close();
			}}
		>
			<${Fields} row=${row} models=${models} named=${administers()} />
		<//>
	<//>
`;

/** toggle disables or enables a key. @param {Row} row */
async function toggle(row) {
	const disabled = row.off !== 'disabled';
	await patch(`/api/v1/keys/${row.id}`, { disabled });
	tell(disabled ? `${row.name} is disabled` : `${row.name} is enabled`);
}

/** KeyTable shows keys of a kind.
 * @param {{kind: string, rows: Row[], states: LimitState[], act: (row: Row, what: string) => void}} props */
const KeyTable = ({ kind, rows, states, act }) => html`
	<${Table} label="Keys" rows=${rows} id=${(row) => `${row.id} ${row.sites ?? ''}`}
		columns=${[
			{
				name: 'Name',
				cell: (/** @type {Row} */ r) =>
					html`<${Name} of=${r.name} />${r.hint && html`<code class="muted nowrap under">${r.hint}</code>`}`,
				sort: (/** @type {Row} */ r) => r.name.toLowerCase(),
			},
			kind !== 'own' && {
				name: 'Owner',
				cell: (/** @type {Row} */ r) =>
					r.owner ? html`<${Name} of=${r.owner} />` : html`<span class="muted">none</span>`,
				sort: (/** @type {Row} */ r) => r.owner,
			},
			{
				name: 'State',
				cell: (/** @type {Row} */ r) => html`<${Chip} is=${r.off ? 'off' : 'ok'}>${r.off || 'enabled'}<//>`,
				sort: (/** @type {Row} */ r) => r.off,
			},
			{ name: 'Models', cell: (/** @type {Row} */ r) => html`<${Tags} of=${r.models} most=${1} />` },
			{ name: 'Limit', cell: (/** @type {Row} */ r) => html`<${Limit} row=${r} states=${states} />` },
			rows.some((row) => row.tags?.length) && {
				name: 'Tags',
				cell: (/** @type {Row} */ r) => html`<${Tags} of=${r.tags ?? []} none="none" most=${2} />`,
			},
			kind === 'configured' && {
				name: 'Sites',
				cell: (/** @type {Row} */ r) => html`<${Tags} of=${r.sites ?? []} most=${1} />`,
			},
			kind !== 'configured' && {
				name: 'Last use',
				cell: (/** @type {Row} */ r) => html`<${Time} at=${r.used} />`,
				sort: (/** @type {Row} */ r) => String(r.used ?? ''),
			},
			{
				name: 'Expires',
				cell: (/** @type {Row} */ r) => html`<${Time} at=${r.expires} />`,
				sort: (/** @type {Row} */ r) => String(r.expires ?? ''),
			},
			kind !== 'configured' && {
				name: 'Created',
				cell: (/** @type {Row} */ r) => html`<${Time} at=${r.created} />`,
				sort: (/** @type {Row} */ r) => String(r.created),
			},
			kind === 'configured'
				? {
						name: '',
						cell: (/** @type {Row} */ r) => html`
							<span class="row end">
								<a href=${query(`${root}exchanges`, { key: String(r.id) })} aria-label=${`Exchanges of ${r.name}`}>
									Exchanges
								</a>
							</span>
						`,
					}
				: {
						name: '',
						cell: (/** @type {Row} */ r) => html`
							<span class="row end">
								<button class="small" aria-label=${`Change ${r.name}`} onClick=${() => act(r, 'change')}>
									Change
								</button>
								<button class="small"
									aria-label=${`${r.off === 'disabled' ? 'Enable' : 'Disable'} ${r.name}`}
									onClick=${() => act(r, 'toggle')}
								>
									${r.off === 'disabled' ? 'Enable' : 'Disable'}
								</button>
								<button class="small danger" aria-label=${`Revoke ${r.name}`} onClick=${() => act(r, 'revoke')}>
									Revoke
								</button>
							</span>
						`,
					},
		]}
	/>
`;

export default function Keys() {
	const of = route.value.query.get('of') ?? '';
	const team = route.value.query.get('team') ?? '';
	const kind = kinds.includes(of) && (of !== 'all' || administers() || (leads(team) && team)) ? of : 'own';
	return html`<${List} key=${kind} kind=${kind} team=${team} />`;
}

/** List shows keys of a kind. @param {{kind: string, team: string}} props  team: only of this one; empty for all */
function List({ kind, team }) {
	const settings = route.value.query;
	const search = settings.get('q') ?? '',
		after = settings.get('after') ?? '',
		user = settings.get('user') ?? '';
	const others = kind === 'all';
	const configured = kind === 'configured';
	const whose = others ? { team, user } : { user: self.value?.username };
	const keys = useData(
		configured
			? query('/api/v1/keys/configured', { limit: 50, after })
			: query('/api/v1/keys', { ...whose, search, limit: 50, after, limits: true }),
	);
	const limits = useData(configured ? '/api/v1/limits?limit=400' : null, {
		read: async (at, options) => (await get(at, options).catch(() => ({ items: [] }))).items,
	}); // without states, the names of limits are shown
	const models = useData('/api/v1/usage?by=model', {
		read: async (at, options) =>
			(await get(at, options).catch(() => ({ items: [] }))).items
				.map((/** @type {any} */ sum) => sum.model)
				.filter(Boolean),
	});
	const [open, setOpen] = useState(/** @type {{what: string, row?: Row}|null} */ (null));
	const close = () => {
		setOpen(null);
		keys.reload();
	};
	const act = async (/** @type {Row} */ row, /** @type {string} */ what) => {
		if (what !== 'toggle') return setOpen({ what, row });
		await toggle(row).catch((error) => tell(error.message));
		keys.reload();
	};
	const tabs = /** @type {[string, string][]} */ ([
		['own', 'Yours'],
		...(administers() ? [['all', 'All users']] : team ? [['all', `Team ${team}`]] : []),
		['configured', 'In the configuration'],
	]);
	return html`
		<${Page} title="Keys"
			actions=${html`<button class="primary" onClick=${() => setOpen({ what: 'new' })}>New key</button>`}
		>
			<div class="row between">
				<${Switch} label="Whose keys" options=${tabs} value=${kind}
					set=${(value) => set({ of: value === 'own' ? '' : value, q: '', user: '', after: '' })}
				/>
				${
					!configured &&
					html`
						<div class="row">
							${
								others &&
								team &&
								administers() &&
								html`
									<button class="small" onClick=${() => set({ team: '', after: '' })}>
										Team <bdi>${team}</bdi> ✕
									</button>
								`
							}
							${
								others &&
								user &&
								html`
									<button class="small" onClick=${() => set({ user: '', after: '' })}>
										Owner <bdi>${user}</bdi> ✕
									</button>
								`
							}
							<${Search}
								key=${kind}
								label="Search names"
								value=${search}
								set=${(text) => set({ q: text, after: '' })}
							/>
						</div>
					`
				}
			</div>
			${
				configured &&
				html`
					<p class="muted">
						Keys of the Caddyfile and of its keys files. They are changed there, and nothing of their values is shown.
					</p>
				`
			}
			<section class="panel">
				<${Part} of=${keys} rows=${6}>
					${(/** @type {any} */ data) =>
						data.items.length === 0
							? configured
								? html`<${Empty} title=${`The configuration has no key${administers() ? '' : ' of yours'}.`} />`
								: html`<${None} search=${search} make=${() => setOpen({ what: 'new' })} />`
							: html`
								<${KeyTable} kind=${kind} rows=${data.items.map(configured ? fixed : made)}
									states=${limits.data ?? []} act=${act}
								/>
								<footer>
									<span class="muted small">${plural(data.total ?? data.items.length, 'key')}</span>
									<${Turner} next=${data.next} />
								</footer>
							`}
				<//>
			</section>
			${
				open?.what === 'new' &&
				html`<${New} others=${others} team=${others ? team : ''} models=${models.data ?? []} close=${close} />`
			}
			${open?.what === 'change' && html`<${Change} row=${open.row} models=${models.data ?? []} close=${close} />`}
			${
				open?.what === 'revoke' &&
				open.row &&
				html`
					<${Confirm} title=${`Revoke ${open.row.name}`} name=${open.row.name} label="Revoke"
						close=${close} act=${() => remove(`/api/v1/keys/${open.row?.id}`)}
					>
						Requests with this key are refused from now on. This cannot be undone.${' '}
						${open.row.used ? `The key was last used ${relative(when(open.row.used))}.` : 'The key was never used.'}
					<//>
				`
			}
		<//>
	`;
}

/** None says what to do without keys. @param {{search: string, make: () => void}} props */
function None({ search, make }) {
	if (search)
		return html`
			<${Empty} title="No key has such a name.">
				<button onClick=${() => set({ q: '' })}>Show all keys</button>
			<//>
		`;
	return html`
		<${Empty} title="No key yet">
			A key is what a client sends to use models.
			<button class="primary" onClick=${make}>New key</button>
		<//>
	`;
}
