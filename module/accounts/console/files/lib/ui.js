// What all pages are made of.
import { html, signal, useEffect, useLayoutEffect, useRef, useState } from './preact.js';
import { away, query, remove, self, teams, useData } from './api.js';
import { precise, relative, sentence, when } from './format.js';
import { keyName } from './names.js';
import { root, route, set } from './route.js';

export const administers = () => self.value?.role === 'admin' || isRoot();
export const isRoot = () => self.value?.role === 'root';

/** roleName returns a role in words. @param {import('./api.js').User['role']} role */
export const roleName = (role) => (role === 'admin' ? 'administrator' : role);

/** leads reports whether the user administrates a team, or all of them. @param {string} [team] default: any */
export const leads = (team) => administers() || teams.value.some((each) => each.admin && (!team || each.name === team));

/** lines returns the names in a text that separates them by spaces or commas. @param {string} text */
export const lines = (text) => text.split(/[\s,]+/).filter(Boolean);

/** Page is the frame of a page: its heading, what it is for, and its actions.
 * @param {{title: string, about?: any, actions?: any, children?: any}} props */
export function Page({ title, about, actions, children }) {
	const heading = useRef(/** @type {HTMLElement|null} */ (null));
	useEffect(() => {
		document.title = `${title} · AI gateway`;
		heading.current?.focus({ preventScroll: true }); // a screen reader reads the new page
	}, [title]);
	return html`
		<div class="head">
			<h1 ref=${heading} tabindex="-1">${title}</h1>
			${actions && html`<div class="row">${actions}</div>`}
			${about && html`<p>${about}</p>`}
		</div>
		${children}
	`;
}

/** Part shows data in every state: nothing for a moment, then a skeleton of the size of the content; the content; the
 * content as of a while ago; or why there is none.
 * @param {{of: import('./api.js').Data<any>, rows?: number, children: (data: any) => any}} props */
export function Part({ of, rows = 5, children }) {
	if (of.error) {
		return html`
			<div class="stack">
				${html`<${Problem} error=${of.error} again=${of.reload} at=${of.data === undefined ? null : of.at} />`}
				${of.data !== undefined && html`<div class="stale stack wide">${children(of.data)}</div>`}
			</div>
		`;
	}
	if (of.data === undefined) {
		return html`
			<div class="skeleton" role="status" aria-label="Loading"
				style=${{ minHeight: `${rows * 36 + 24}px`, visibility: of.slow ? 'visible' : 'hidden' }}
			>
				${Array.from({ length: rows }, () => html`<i></i>`)}
			</div>
		`;
	}
	return children(of.data);
}

/** Problem says what failed, and offers to try again.
 * @param {{error: import('./api.js').Failure, again?: () => void, at?: Date|null}} props */
export function Problem({ error, again, at }) {
	return html`
		<div class="note ill" role="alert">
			<div class="grow">
				${
					error.status === 403
						? html`<b>Not allowed.</b> ${sentence(error.message)} An administrator of the gateway has the right.`
						: html`<b>That did not work.</b> ${sentence(error.message)}`
				}
				${error.request && html` <span class="small muted">Request <code>${error.request}</code></span>`}
				${at && html` <span class="small muted">What is shown is as of ${relative(at)}.</span>`}
				${error.status === 503 && html` <span class="small muted">The page tries again by itself.</span>`}
			</div>
			${again && html`<button onClick=${again}>Try again</button>`}
		</div>
	`;
}

/** Empty says what to do where nothing is. @param {{title: string, children?: any}} props */
export const Empty = ({ title, children }) => html`<div class="empty"><b>${title}</b>${children}</div>`;

/** Time is a time beside now; the exact one appears on hover.
 * @param {{at: number|string|null|undefined, none?: string}} props */
export function Time({ at, none = 'never' }) {
	if (at === null || at === undefined || at === 0 || at === -1 || at === '')
		return html`<span class="muted">${none}</span>`;
	const date = when(at);
	return html`<time class="nowrap" datetime=${date.toISOString()} title=${precise(date)}>${relative(date)}</time>`;
}

/** Name is a name in one line, which is whole on hover. @param {{of: string, wide?: boolean, mono?: boolean}} props */
export const Name = ({ of, wide, mono }) =>
	html`<bdi class=${`cut${wide ? ' wide' : ''}${mono ? ' mono' : ''}`} title=${of}>${of}</bdi>`;

/** Chip is a state: a colour, a sign and a word.
 * @param {{is: 'ok'|'warn'|'ill'|'off', title?: string, children?: any}} props */
export const Chip = ({ is, title, children }) => html`<span class=${`chip ${is}`} title=${title}>${children}</span>`;

/** Tags is a list of short texts. @param {{of: string[], none?: string, most?: number}} props */
export function Tags({ of, none = 'all', most = 3 }) {
	if (of.length === 0) return html`<span class="muted">${none}</span>`;
	return html`
		<span class="tags" title=${of.join('\n')}>
			${of.slice(0, most).map((text) => html`<bdi class="tag">${text}</bdi>`)}
			${of.length > most && html`<span class="muted small">+${of.length - most}</span>`}
		</span>
	`;
}

/** Meter is a share with a word for it. @param {{share: number, label: string}} props */
export function Meter({ share, label }) {
	const level = share >= 1 ? ' ill' : share >= 0.8 ? ' warn' : '';
	return html`
		<span class=${`meter${level}`} role="img" aria-label=${label} title=${label}>
			<i style=${{ width: `${Math.min(1, share) * 100}%` }}></i>
		</span>
	`;
}

const said = signal('');
/** @type {number|undefined} */
let silence;

/** tell shows a short message, which screen readers read. @param {string} text */
export function tell(text) {
	said.value = text;
	clearTimeout(silence);
	silence = setTimeout(() => {
		said.value = '';
	}, 4000);
}

/** Messages shows what tell was called with, and that the gateway is away. */
export function Messages() {
	const absent = away.value;
	return html`
		<div aria-live="polite">
			${said.value && html`<div class="toast">${said.value}</div>`}
			${
				absent &&
				html`
					<div class="toast">
						<b>The gateway has not answered since ${absent.since.toLocaleTimeString()}.</b> The page keeps trying, now
						every ${absent.pause} s.
					</div>
				`
			}
		</div>
	`;
}

/** copy puts a text on the clipboard. Pages without TLS have no clipboard: there the text is selected.
 * @param {string} text */
async function copy(text) {
	try {
		await navigator.clipboard.writeText(text);
		tell('Copied');
	} catch {
		const area = document.createElement('textarea');
		area.value = text;
		(document.querySelector('dialog[open]') ?? document.body).append(area);
		area.select();
		tell(document.execCommand('copy') ? 'Copied' : 'Select the text and copy it.');
		area.remove();
	}
}

/** Copy is a button that copies a text. @param {{text: string, label?: string}} props */
export const Copy = ({ text, label = 'Copy' }) =>
	html`<button type="button" class="small" onClick=${() => copy(text)}>${label}</button>`;

/** Code is a text of a program, with a button that copies it.
 * @param {{text: string, wrap?: boolean, label?: string}} props */
export const Code = ({ text, wrap, label = 'Code' }) => html`
	<div class=${`code${wrap ? ' wrap' : ''}`}>
		<pre tabindex="0" role="region" aria-label=${label}>${text}</pre>
		<${Copy} text=${text} />
	</div>
`;

/** Dialog is shown above the page until it is closed.
 * @param {{title: string, close: () => void, wide?: boolean, firm?: boolean, children?: any}} props */
export function Dialog({ title, close, wide, firm, children }) {
	const element = useRef(/** @type {HTMLDialogElement|null} */ (null));
	useLayoutEffect(() => {
		const dialog = element.current;
		const before = document.activeElement;
		dialog?.showModal();
		return () => {
			dialog?.close();
			if (before instanceof HTMLElement) before.focus();
		};
	}, []);
	return html`
		<dialog ref=${element} class=${wide ? 'wide' : ''} aria-label=${title}
			onCancel=${(/** @type {Event} */ event) => {
				event.preventDefault();
				if (!firm) close();
			}}
		>
			<header>
				<h2>${title}</h2>
				${!firm && html`<button class="plain" onClick=${close} aria-label="Close">✕</button>`}
			</header>
			<div class="body">${children}</div>
		</dialog>
	`;
}

/** Field is a control with its name and what is expected. @param {{label: string, hint?: any, children: any}} props */
export const Field = ({ label, hint, children }) => html`
	<label class="field">
		<span>${label}</span>
		${children}
		${hint && html`<span class="hint">${hint}</span>`}
	</label>
`;

/** mark shows a failure beside the field that it names, and reports whether there is one: the message of the API begins
 * with the name. @param {HTMLFormElement} form @param {any} failure */
function mark(form, failure) {
	const name = /^([a-z_]+)\b/.exec(failure.message)?.[1] ?? '';
	const control = failure.status === 400 && form.elements.namedItem(name);
	if (!(control instanceof HTMLElement) || control.hidden) return false;
	const note = Object.assign(document.createElement('span'), { className: 'wrong', id: `wrong-${name}` });
	note.setAttribute('role', 'alert');
	note.textContent = sentence(failure.message);
	control.after(note);
	control.setAttribute('aria-invalid', 'true');
	control.setAttribute('aria-describedby', note.id);
	control.focus();
	return true;
}

/** unmark removes what mark has shown. @param {HTMLFormElement} form */
function unmark(form) {
	for (const note of form.querySelectorAll('.wrong')) note.remove();
	for (const control of form.querySelectorAll('[aria-invalid]')) control.removeAttribute('aria-invalid');
}

/** Form sends once, shows what failed, and keeps what was typed.
 * @param {{send: (data: Record<string, string>, form: HTMLFormElement) => Promise<unknown>, label: string,
 *   danger?: boolean, disabled?: boolean, cancel?: () => void, children?: any}} props */
export function Form({ send, label, danger, disabled, cancel, children }) {
	const [busy, setBusy] = useState(false);
	const [error, setError] = useState(/** @type {any} */ (null));
	const submit = async (/** @type {SubmitEvent} */ event) => {
		event.preventDefault();
		const form = /** @type {HTMLFormElement} */ (event.currentTarget);
		setBusy(true);
		setError(null);
		unmark(form);
		try {
			await send(/** @type {Record<string, string>} */ (Object.fromEntries(new FormData(form))), form);
		} catch (failure) {
			if (!mark(form, failure)) setError(failure);
		} finally {
			setBusy(false);
		}
	};
	return html`
		<form class="stack" onSubmit=${submit}>
			${children}
			${error && html`<${Problem} error=${error} />`}
			<div class="row end">
				${cancel && html`<button type="button" onClick=${cancel}>Cancel</button>`}
				<button class=${danger ? 'danger' : 'primary'} disabled=${busy || disabled}>${label}</button>
			</div>
		</form>
	`;
}

/** Confirm asks for a name before something ends for good; fields are further ones of its form.
 * @param {{title: string, name: string, label: string, act: (data: Record<string, string>) => Promise<unknown>,
 *   close: () => void, fields?: any, children?: any}} props */
export function Confirm({ title, name, label, act, close, fields, children }) {
	const [typed, setTyped] = useState('');
	return html`
		<${Dialog} title=${title} close=${close}>
			<div>${children}</div>
			<${Form} label=${label} danger disabled=${typed !== name} cancel=${close}
				send=${async (data) => {
					await act(data);
					close();
				}}
			>
				${fields}
				<${Field}
					label=${html`Type <bdi class="mono">${name}</bdi> to confirm`}
				>
					<input value=${typed} autofocus autocomplete="off"
						onInput=${(/** @type {any} */ e) => setTyped(e.target.value)}
					/>
				<//>
			<//>
		<//>
	`;
}

/** Switch is a choice of few.
 * @param {{label: string, options: [string, string][], value: string, set: (value: string) => void}} props */
export function Switch({ label, options, value, set }) {
	const group = useRef(/** @type {HTMLElement|null} */ (null));
	useEffect(() => {
		group.current?.querySelector('[aria-pressed=true]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
	}, [value]); // in a narrow window, the choice may be out of view
	return html`
		<div class="seg" role="group" aria-label=${label} ref=${group}>
			${options.map(
				([key, text]) => html`
					<button type="button" aria-pressed=${key === value ? 'true' : 'false'} onClick=${() => set(key)}>
						${text}
					</button>
				`,
			)}
		</div>
	`;
}

/** Choice is a setting of the address, after which the page begins anew.
 * @param {{label: string, name: string, options: string[][], value: string}} props */
export const Choice = ({ label, name, options, value }) => html`
	<select aria-label=${label} value=${value}
		onChange=${(/** @type {any} */ e) => set({ [name]: e.target.value, after: '' })}
	>
		${options.map(([key, text]) => html`<option value=${key} selected=${key === value}>${text}</option>`)}
	</select>
`;

/** Search is the field that / focuses. @param {{value: string, set: (text: string) => void, label: string}} props */
export function Search({ value, set, label }) {
	const timer = useRef(/** @type {number|undefined} */ (undefined));
	return html`
		<input type="search" data-search placeholder=${`${label}  /`} aria-label=${label}
			value=${value}
			onInput=${(/** @type {any} */ event) => {
				const text = event.target.value;
				clearTimeout(timer.current);
				timer.current = setTimeout(() => set(text), 200);
			}}
		/>
	`;
}

/** Check is a choice of yes or no in a form. @param {{name: string, label: any, checked?: boolean}} props */
export const Check = ({ name, label, checked = false }) => html`
	<label class="check">
		<input type="checkbox" name=${name} defaultChecked=${checked} />
		<span>${label}</span>
	</label>
`;

/** A filter of a list: the parameter of the address, its name, and the choices or the type of its field.
 * @typedef {[string, string, (string[]|string)?]} Filter */

/** usable returns the filters that the user may use. @param {Filter[]} filters */
export const usable = (filters) => filters.filter(([name]) => (name !== 'user' && name !== 'team') || leads());

/** filtered returns the values of filters in an address. @param {Filter[]} filters @param {URLSearchParams} settings */
export const filtered = (filters, settings) =>
	Object.fromEntries(filters.map(([name]) => [name, settings.get(name) ?? '']));

/** KeyField is a field for the id of a key, which offers the keys with a name. @param {{of: string}} props */
function KeyField({ of }) {
	const [typed, setTyped] = useState(of);
	const found = useData(query('/api/v1/keys', { search: typed, team: route.value.query.get('team') ?? '', limit: 20 }));
	return html`
		<input name="key" list="keys" autocomplete="off" spellcheck=${false} value=${typed}
			onInput=${(/** @type {any} */ e) => setTyped(e.target.value)}
		/>
		<datalist id="keys">
			${(found.data?.items ?? []).map(
				(/** @type {any} */ key) => html`<option value=${`key_${key.id}`}>${key.name}, ${key.user}</option>`,
			)}
		</datalist>
	`;
}

/** Filters is the form of filters, if it is open, and a button for each that is in effect, which removes it. The page
 * begins anew then. What is typed stays while the page reads new data.
 * @param {{filters: Filter[], wanted: Record<string, string>, open: boolean}} props */
export function Filters({ filters, wanted, open }) {
	const given = filters.filter(([name]) => wanted[name]);
	return html`
		${
			open &&
			html`
				<form class="panel" key=${JSON.stringify(wanted)}
					onSubmit=${(/** @type {any} */ e) => {
						e.preventDefault();
						set({ ...Object.fromEntries(new FormData(e.target)), after: '' });
					}}
				>
					<div class="body stack">
						<div class="facts filters">
							${filters.map(
								([name, label, values], i) => html`
									<div>
										<${Field} label=${label}>
											${
												Array.isArray(values)
													? html`
														<select name=${name}>
															<option value="">any</option>
															${values.map((v) => html`<option selected=${v === wanted[name]}>${v}</option>`)}
														</select>
													`
													: name === 'key'
														? html`<${KeyField} of=${wanted[name]} />`
														: html`
															<input name=${name} type=${values ?? 'text'} step="any" data-search=${i === 0}
																autocomplete="off" spellcheck=${false} defaultValue=${wanted[name]}
															/>
														`
											}
										<//>
									</div>
								`,
							)}
						</div>
						<div class="row end"><button class="primary">Apply</button></div>
					</div>
				</form>
			`
		}
		${
			given.length > 0 &&
			html`
				<div class="row small">
					<span class="muted">Only</span>
					${given.map(
						([name, label]) => html`
							<button class="small" onClick=${() => set({ [name]: '', after: '' })}
								aria-label=${`Remove the filter ${label} ${keyName(wanted[name])}`}
							>
								${label}: <${Name} of=${keyName(wanted[name])} /> ✕
							</button>
						`,
					)}
				</div>
			`
		}
	`;
}

/** unfiltered shows the whole list. @param {Filter[]} filters */
export const unfiltered = (filters) => set(Object.fromEntries([...filters.map(([name]) => [name, '']), ['after', '']]));

/** Column of a table. It can be sorted by if sort is a function of a row, or the field of the API that orders the list.
 * @template T @typedef {{name: string, cell: (row: T) => any, num?: boolean, sort?: string|((row: T) => number|string),
 * foot?: any, head?: boolean}} Column */

/** Table shows a page of rows, as its header sorts them all. In a narrow window, rows are cards.
 * @param {{label: string, columns: (Column<any>|false|null|undefined)[], rows: any[], page?: number, size?: number,
 *   id: (row: any) => string|number, fresh?: (row: any) => boolean, first?: number, down?: boolean}} props */
export function Table({ label, columns, rows, page = 1, size = rows.length, id, fresh, first, down = true }) {
	const shown = /** @type {Column<any>[]} */ (columns.filter(Boolean));
	const [own, setOwn] = useState({ by: first ?? -1, down });
	const asked = route.value.query.get('sort') ?? '';
	const listed = asked ? shown.findIndex(({ sort }) => sort === asked.replace('-', '')) : -1;
	const order = listed < 0 ? own : { by: listed, down: asked.startsWith('-') };
	const by = shown[order.by]?.sort;
	const all = typeof by === 'function' ? rows.toSorted((a, b) => compare(by(a), by(b)) * (order.down ? -1 : 1)) : rows;
	const choose = (/** @type {number} */ i, { sort, num } = shown[i]) => {
		const down = order.by === i ? !order.down : Boolean(num);
		if (typeof sort === 'string') set({ sort: `${down ? '-' : ''}${sort}`, after: '' });
		else setOwn({ by: i, down });
	};
	return html`
		<div class="scroll" tabindex="0" role="region" aria-label=${label}>
			<table>
				<thead>
					<tr>
						${shown.map(
							(column, i) => html`
								<th scope="col" class=${column.num ? 'num' : ''}
									aria-sort=${order.by === i ? (order.down ? 'descending' : 'ascending') : undefined}
								>
									${
										column.sort
											? html`
												<button onClick=${() => choose(i)}>
													${column.name}
													${order.by === i ? (order.down ? ' ↓' : ' ↑') : ''}
												</button>
											`
											: column.name || html`<span class="sr">More</span>`
									}
								</th>
							`,
						)}
					</tr>
				</thead>
				<tbody>
					${all.slice((page - 1) * size, page * size).map(
						(row) => html`
							<tr key=${id(row)} class=${fresh?.(row) ? 'new' : ''}>
								${shown.map((column, i) =>
									(column.head ?? i === 0)
										? html`<th scope="row" class=${column.num ? 'num' : ''}>${column.cell(row)}</th>`
										: html`<td class=${column.num ? 'num' : ''} data-name=${column.name}>${column.cell(row)}</td>`,
								)}
							</tr>
						`,
					)}
				</tbody>
				${
					shown.some((column) => column.foot !== undefined) &&
					rows.length > 0 &&
					html`
						<tfoot>
							<tr>
								${shown.map((column, i) =>
									i === 0
										? html`<th scope="row">${column.foot}</th>`
										: html`<td class=${column.num ? 'num' : ''} data-name=${column.name}>${column.foot}</td>`,
								)}
							</tr>
						</tfoot>
					`
				}
			</table>
		</div>
	`;
}

/** compare orders two values of a column. @param {number|string} a @param {number|string} b */
const compare = (a, b) => (typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b)));

/** Turner goes through the pages of a list, whose cursor is in the address. @param {{next: string}} props */
export const Turner = ({ next }) => {
	const cursor = route.value.query.get('after');
	const first = () => set({ after: '' });
	return html`
		<div class="row small">
			${cursor && html`<button class="small" onClick=${first}>First page</button>`}
			${next && html`<button class="small" onClick=${() => set({ after: next })}>Next page</button>`}
		</div>
	`;
};

/** Pager goes through numbered pages.
 * @param {{page: number, size: number, total: number, set: (page: number) => void}} props */
export function Pager({ page, size, total, set }) {
	const last = Math.max(1, Math.ceil(total / size));
	if (last === 1) return null;
	return html`
		<div class="row small">
			<button class="small" disabled=${page <= 1} onClick=${() => set(page - 1)}>Previous</button>
			<span class="tab muted">${page} of ${last}</span>
			<button class="small" disabled=${page >= last} onClick=${() => set(page + 1)}>Next</button>
		</div>
	`;
}

/** program returns the short name of a User-Agent. @param {string} agent */
function program(agent) {
	const browser = /(Edg|OPR|Firefox|Chrome|Safari)\/(\d+)/.exec(agent);
	const system = /(Windows|Mac OS X|Android|iPhone|iPad|Linux)/.exec(agent);
	return browser
		? `${browser[1].replace('Edg', 'Edge').replace('OPR', 'Opera')} ${browser[2]}${system ? `, ${system[1]}` : ''}`
		: agent;
}

/** SessionTable shows sessions, and ends one. @param {{rows: any[], end?: (id: number) => void}} props */
export const SessionTable = ({ rows, end }) => html`
	<${Table} label="Sessions" rows=${rows} id=${(/** @type {any} */ s) => s.id}
		columns=${[
			{
				name: 'Program',
				cell: (/** @type {any} */ s) => html`<span class="cut wide" title=${s.agent}>${program(s.agent)}</span>`,
			},
			{ name: 'Address', cell: (/** @type {any} */ s) => html`<code>${s.address}</code>` },
			{ name: 'Since', cell: (/** @type {any} */ s) => html`<${Time} at=${s.created} />` },
			{ name: 'Until', cell: (/** @type {any} */ s) => html`<${Time} at=${s.expires} />` },
			{
				name: '',
				num: true,
				cell: (/** @type {any} */ s) =>
					s.current
						? html`<span class="muted">this one</span>`
						: end && html`<button class="small" onClick=${() => end(s.id)}>End</button>`,
			},
		]}
	/>
`;

/** logOut ends the session. */
export async function logOut() {
	await remove('/api/v1/session');
	location.assign(root);
}
