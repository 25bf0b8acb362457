// Keys: those of the user, for administrators those of all users, and those of the configuration.
import { html, useState } from '../lib/preact.js';
import { get, patch, post, query, remove, self, teams, useData } from '../lib/api.js';
import {
	Bounds,
	LimitField,
	linkOf,
	ModelField,
	ruleBody,
	RuleFields,
	stateOf,
	TagField,
	tagBody,
} from '../lib/bounds.js';
import { plural, relative, sentence, stamp, when } from '../lib/format.js';
import { Left, LimitTable } from '../lib/limits.js';
import { forgetNames } from '../lib/names.js';
import { go, root, route, set } from '../lib/route.js';
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
 * string, off: string, created: number|string|null, expires: number|string|null, used: number|string|null, tags:
 * string[], sites?: string[], limits?: LimitState[], replaced_until?: string|null, requests: string, tokens: string,
 * concurrent: number, budget: string, priority: string}} Row */
/** @typedef {import('../lib/limits.js').LimitState} LimitState */

/** made returns the row of a key that a user has made. @param {any} key @returns {Row} */
const made = (key) => ({ ...key, owner: key.user, hint: key.key, off: stateOf(key) });

/** fixed returns the row of a key of the configuration. @param {any} key @returns {Row} */
const fixed = (key) => ({ ...made(key), name: key.id, hint: '', created: null, used: null });

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

/** sets reports whether the user sets the rules and tags of keys with a limit. @param {string} limit */
const sets = (limit) => administers() || (limit !== '' && leads(limit));

/** renews reports whether a program renews a key. @param {Row|undefined} row */
const renews = (row) => row?.hint.startsWith('agent_');

/** Fields are what can be said of a key: everyone sets the rules of a new one.
 * @param {{row?: Row, limit: any}} props  limit: the field of its limit; nothing if it stays */
const Fields = ({ row, limit }) => html`
	<${Field} label="Name">
		<input name="name" required maxlength="64" autocomplete="off" autofocus defaultValue=${row?.name ?? ''} />
	<//>
	${limit}
	${(!row || sets(row.limit)) && html`<${RuleFields} of=${row} whose="the key alone" />`}
	<${ModelField} of=${row?.models} hint="What the key may use." />
	<div class="fields">
		${
			!renews(row) &&
			html`<${Field} label="Expires" hint="The last day, in UTC. Empty: never.">
				<input name="expires" type="date"
					defaultValue=${row?.expires && when(row.expires).toISOString().slice(0, 10)} />
			<//>`
		}
		<${Field} label="Networks" hint="Who may use the key: 10.0.0.0/8. Empty: all.">
			<input name="from" autocomplete="off" spellcheck=${false} defaultValue=${row?.from.join(' ') ?? ''} />
		<//>
	</div>
	${sets(row?.limit ?? '') && html`<${TagField} of=${row?.tags} />`}
`;

/** body returns the members of a key. @param {Record<string, string>} data */
const body = (data) => ({
	user: data.user?.trim(),
	name: data.name,
	models: lines(data.models),
	from: lines(data.from),
	limit: data.limit?.trim(),
	expires: data.expires && `${data.expires}T23:59:59Z`, // the last second of the day
	...ruleBody(data),
	...tagBody(data),
});

/** Limited gives a new key its limit: the team of the page, or one that the user chooses.
 * @param {{team: string}} props */
function Limited({ team }) {
	if (team) return html`<${Field} label="Team"><input name="limit" readonly value=${team} /><//>`;
	return (administers() || teams.value.length > 0) && html`<${LimitField} />`;
}

/** Secret shows a secret once. @param {{title: string, secret: string, close: () => void, children?: any}} props */
const Secret = ({ title, secret, close, children }) => html`
	<${Dialog} title=${title} close=${close} firm>
		<p>
			This is the only time that the key is shown. The gateway keeps a digest of it, and nothing from which it could be
			shown again.
		</p>
		<div class="secret"><code data-secret>${secret}</code><${Copy} text=${secret} /></div>
		${children}
		<div class="row end">
			<button class="primary" autofocus onClick=${close}>I have saved it</button>
		</div>
	<//>
`;

/** New makes a key and shows it once.
 * @param {{others: boolean, team: string, close: () => void}} props */
function New({ others, team, close }) {
	const [secret, setSecret] = useState('');
	if (secret) {
		return html`
			<${Secret} title="The new key" secret=${secret} close=${close}>
				<p class="small muted">What to do with it is in <a href=${`${root}connect`}>Connect</a>.</p>
			<//>
		`;
	}
	return html`
		<${Dialog} title=${others ? 'New key for a user' : 'New key'} close=${close} wide>
			<${Form} label="Create key" cancel=${close}
				send=${async (data) => setSecret((await post('/api/v1/keys', body(data))).key)}
			>
				${
					others &&
					html`
						<${Field} label="Owner" hint="Name of the user.">
							<input name="user" required autocomplete="off" spellcheck=${false} defaultValue=${self.value?.username} />
						<//>
					`
				}
				<${Fields} limit=${html`<${Limited} team=${team} />`} />
			<//>
		<//>
	`;
}

/** Rotate gives a key another secret and shows it once. @param {{row: Row, close: () => void}} props */
function Rotate({ row, close }) {
	const [made, setMade] = useState(/** @type {any} */ (null));
	if (made) {
		return html`
			<${Secret} title=${`The new secret of ${row.name}`} secret=${made.key} close=${close}>
				<p>
					${
						made.replaced_until
							? html`The old one works until <b>${stamp(made.replaced_until)}</b>.`
							: 'The old one does not work any more.'
					}
				</p>
			<//>
		`;
	}
	return html`
		<${Dialog} title=${`Rotate ${row.name}`} close=${close}>
			<${Form} label="Make a new secret" cancel=${close}
				send=${async (data) => setMade(await post(`/api/v1/keys/${row.id}/rotation`, { overlap: data.overlap }))}
			>
				<p>
					The key gets another secret. Limits, usage and its name in logs go on: both secrets are the same key.
				</p>
				<${Field} label="The old secret works for">
					<select name="overlap" autofocus>
						<option value="1h">1 hour</option>
						<option value="24h" selected>24 hours</option>
						<option value="7d">7 days</option>
						<option value="30d">30 days</option>
						<option value="">no time: it ends at once</option>
					</select>
				<//>
			<//>
		<//>
	`;
}

/** Change changes a key. @param {{row: Row, close: () => void}} props */
const Change = ({ row, close }) => html`
	<${Dialog} title=${`Key ${row.name}`} close=${close} wide>
		<${Form} label="Save" cancel=${close}
			send=${async (data) => {
				await patch(`/api/v1/keys/${row.id}`, body(data));
				forgetNames();
				tell('Saved');
				close();
			}}
		>
			<${Fields} row=${row} limit=${administers() && html`<${LimitField} of=${row.limit} />`} />
		<//>
	<//>
`;

/** Revoke deletes a key. @param {{row: Row, close: () => void}} props */
const Revoke = ({ row, close }) => html`
	<${Confirm} title=${`Revoke ${row.name}`} name=${row.name} label="Revoke" close=${close}
		act=${() => remove(`/api/v1/keys/${row.id}`)}
	>
		Requests with this key are refused from now on. This cannot be undone.${' '}
		${row.used ? `The key was last used ${relative(when(row.used))}.` : 'The key was never used.'}
	<//>
`;

/** Acts are the dialogs of what is done to a key.
 * @param {{open: {what: string, row?: Row}|null, close: () => void}} props */
const Acts = ({ open, close }) =>
	open?.row &&
	html`
		${open.what === 'change' && html`<${Change} row=${open.row} close=${close} />`}
		${open.what === 'rotate' && html`<${Rotate} row=${open.row} close=${close} />`}
		${open.what === 'revoke' && html`<${Revoke} row=${open.row} close=${close} />`}
	`;

/** Owner is the name of the owner of a key, which leads administrators to the page of the user.
 * @param {{row: Row}} props */
const Owner = ({ row }) =>
	!row.owner
		? html`<span class="muted">none</span>`
		: administers()
			? html`<a href=${`${root}users/${encodeURIComponent(row.owner)}`}><${Name} of=${row.owner} /></a>`
			: html`<${Name} of=${row.owner} />`;

/** Overlap is until when the old secret of a key works. @param {{row: Row}} props */
const Overlap = ({ row }) =>
	row.replaced_until &&
	html`<span class="muted small nowrap under"> the old secret ends <${Time} at=${row.replaced_until} /></span>`;

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
					html`
						${kind === 'configured' && html`<${Name} of=${r.name} />`}
						${kind !== 'configured' && html`<a href=${linkOf(r.id)}><${Name} of=${r.name} /></a>`}
						${r.hint && html`<code class="muted nowrap under">${r.hint}</code>`}
						<${Overlap} row=${r} />
					`,
				sort: kind === 'configured' ? '' : 'name',
			},
			kind !== 'own' && {
				name: 'Owner',
				cell: (/** @type {Row} */ r) => html`<${Owner} row=${r} />`,
				sort: kind === 'configured' ? '' : 'user',
			},
			{
				name: 'State',
				cell: (/** @type {Row} */ r) => html`<${Chip} is=${r.off ? 'off' : 'ok'}>${r.off || 'enabled'}<//>`,
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
				sort: 'used',
			},
			{
				name: 'Expires',
				cell: (/** @type {Row} */ r) => html`<${Time} at=${r.expires} />`,
				sort: kind === 'configured' ? '' : 'expires',
			},
			kind !== 'configured' && {
				name: 'Created',
				cell: (/** @type {Row} */ r) => html`<${Time} at=${r.created} />`,
				sort: 'created',
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

/** One is the page of a key. @param {{id: string}} props */
function One({ id }) {
	const path = `/api/v1/keys/${encodeURIComponent(id)}`;
	const key = useData(query(path, { limits: true }));
	const refusal = useData(`${path}/refusal`);
	const [open, setOpen] = useState(/** @type {{what: string, row: Row}|null} */ (null));
	const again = () => {
		key.reload();
		refusal.reload();
	};
	const row = key.data && made(key.data);
	const close = () => {
		if (open?.what === 'revoke')
			get(path).then(again, () => go('keys')); // it is no more
		else again();
		setOpen(null);
	};
	const act = (/** @type {string} */ what) => () => setOpen({ what, row });
	const why = refusal.data?.reason;
	return html`
		<${Page} title=${row ? `Key ${row.name}` : 'Key'}
			actions=${html`<a class="button" href=${`${root}keys`}>All keys</a>
				<a class="button" href=${query(`${root}usage`, { key: `key_${id}` })}>Usage</a>
				<a class="button" href=${query(`${root}exchanges`, { key: `key_${id}` })}>Exchanges</a>
				${
					row &&
					html`
						<button onClick=${act('change')}>Change</button>
						${!renews(row) && html`<button onClick=${act('rotate')}>Rotate</button>`}
						<button onClick=${() => toggle(row).then(again, (error) => tell(error.message))}>
							${row.off === 'disabled' ? 'Enable' : 'Disable'}
						</button>
						<button class="danger" onClick=${act('revoke')}>Revoke</button>
					`
				}`}
		>
			${
				why &&
				html`
					<div class="note warn" role="status">
						<span class="grow">
							<b>Requests with this key are refused.</b> ${sentence(why)}
							${refusal.data.until && html` There is room again <${Time} at=${refusal.data.until} />.`}
						</span>
					</div>
				`
			}
			<${Part} of=${key} rows=${6}>
				${() => html`
					<section class="panel">
						<div class="body">
							<dl class="list">
								<dt>Owner</dt><dd><${Owner} row=${row} /></dd>
								<dt>Key</dt><dd><code>${row.hint}</code><${Overlap} row=${row} /></dd>
								<dt>State</dt>
								<dd>
									<${Chip} is=${row.off ? 'off' : why ? 'warn' : 'ok'}>${row.off || (why ? 'refused' : 'enabled')}<//>
								</dd>
								<${Bounds} of=${row} />
								<dt>Expires</dt><dd><${Time} at=${row.expires} /></dd>
								<dt>Last use</dt><dd><${Time} at=${row.used} /></dd>
							</dl>
						</div>
					</section>
					<section class="panel">
						<header><h2>What is left</h2></header>
						${
							row.limits?.length > 0
								? html`<${LimitTable} rows=${row.limits} />`
								: html`<div class="body muted">No limit counts requests with this key.</div>`
						}
						<footer class="muted small">
							The exchange of a refused request has the reason. Requests for other models or from other networks have no
							exchange: they are in the log.
						</footer>
					</section>
				`}
			<//>
			<${Acts} open=${open} close=${close} />
		<//>
	`;
}

export default function Keys() {
	const id = route.value.rest;
	return id ? html`<${One} key=${id} id=${id} />` : html`<${Lists} />`;
}

/** Lists chooses whose keys are listed. */
function Lists() {
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
			: query('/api/v1/keys', { ...whose, search, sort: settings.get('sort') ?? '', limit: 50, after, limits: true }),
	);
	const limits = useData(configured ? '/api/v1/limits?limit=400' : null, {
		read: async (at, options) => (await get(at, options).catch(() => ({ items: [] }))).items,
	}); // without states, the names of limits are shown
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
			${open?.what === 'new' && html`<${New} others=${others} team=${others ? team : ''} close=${close} />`}
			<${Acts} open=${open} close=${close} />
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
