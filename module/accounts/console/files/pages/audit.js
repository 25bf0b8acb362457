// Audit, for root: who has changed what, the newest first.
import { html, useState } from '../lib/preact.js';
import { query, useData } from '../lib/api.js';
import { plural, stamp } from '../lib/format.js';
import { keyName } from '../lib/names.js';
import { addressOf, root, route, set } from '../lib/route.js';
import {
	Chip,
	Copy,
	Dialog,
	Empty,
	filtered,
	Filters,
	Name,
	Page,
	Part,
	Table,
	Tags,
	Time,
	unfiltered,
} from '../lib/ui.js';

/** @typedef {import('../lib/api.js').Schemas['AuditRow']} AuditRow */

const size = 50;
const filters = /** @type {import('../lib/ui.js').Filter[]} */ ([
	['actor', 'Actor'],
	['action', 'Action'],
	['object', 'Object'],
	['from', 'From', 'date'],
	['to', 'Before', 'date'],
]);

const none = html`<span class="muted">–</span>`;

/** Only is a value; a click on it shows the rows with it. @param {{name: string, of: string}} props */
const Only = ({ name, of }) =>
	of
		? html`
			<button class="link bare" title=${`Only ${of}`} onClick=${() => set({ [name]: of, after: '' })}>
				<${Name} of=${of} />
			</button>
		`
		: none;

/** nameIn returns the name of a key, which rows have by its number. @param {string} object */
const nameIn = (object) =>
	/^key\/\d+$/.test(object) && html` <span class="muted">${keyName(object.replace('key/', 'key_'))}</span>`;

/** Result is whether the action succeeded. @param {{row: AuditRow}} props */
const Result = ({ row }) => html`<${Chip} is=${row.result === 'ok' ? 'ok' : 'ill'}>${row.result}<//>`;

export default function Audit() {
	const settings = route.value.query;
	const wanted = filtered(filters, settings),
		after = settings.get('after') ?? '';
	const log = useData(query('/api/v1/audit', { ...wanted, limit: size, after }));
	const [open, setOpen] = useState(false);
	const [shown, setShown] = useState(/** @type {AuditRow|null} */ (null));
	const given = Object.values(wanted).some(Boolean);
	return html`
		<${Page} title="Audit"
			about="Changes, logins and loaded configurations. The rows have no password, key or token."
			actions=${html`${after && html`<button onClick=${() => set({ after: '' })}>Newest</button>`}
				<a class="button" href=${query(addressOf('/api/v1/audit'), { ...wanted, format: 'jsonl' })}
					download="audit.jsonl"
				>
					JSON lines
				</a>
				<button aria-expanded=${open ? 'true' : 'false'} onClick=${() => setOpen(!open)}>
					Filter
				</button>`}
		>
			<${Filters} filters=${filters} wanted=${wanted} open=${open} />
			<section class="panel">
				<${Part} of=${log} rows=${12}>
					${(/** @type {{items: AuditRow[], next: string}} */ data) =>
						data.items.length === 0
							? html`
								<${Empty} title=${given ? 'No row matches the filter.' : 'No row yet'}>
									${given && html`<button onClick=${() => unfiltered(filters)}>Show all rows</button>`}
								<//>
							`
							: html`
								<${Table} label="Audit log" rows=${data.items} id=${(r) => r.id}
									columns=${[
										{
											name: 'Time',
											cell: (/** @type {AuditRow} */ r) => html`
												<button class="link" onClick=${() => setShown(r)}>
													<${Time} at=${r.at} />
													<span class="sr">, row ${r.id}</span>
												</button>
											`,
										},
										{
											name: 'Actor',
											cell: (/** @type {AuditRow} */ r) => html`
												<span class="nowrap">
													<${Only} name="actor" of=${r.actor} />
													${r.role && html` <span class="muted">${r.role}</span>`}
												</span>
											`,
										},
										{
											name: 'Action',
											cell: (/** @type {AuditRow} */ r) => html`<${Only} name="action" of=${r.action} />`,
										},
										{
											name: 'Object',
											cell: (/** @type {AuditRow} */ r) => html`
												<span class="nowrap"><${Only} name="object" of=${r.object} />${nameIn(r.object)}</span>
											`,
										},
										{
											name: 'Changed',
											cell: (/** @type {AuditRow} */ r) =>
												html`<${Tags} of=${r.changes.map((change) => change.field)} none="–" />`,
										},
										{
											name: 'Address',
											cell: (/** @type {AuditRow} */ r) =>
												r.address ? html`<code class="nowrap">${r.address}</code>` : none,
										},
										{ name: 'Result', cell: (/** @type {AuditRow} */ r) => html`<${Result} row=${r} />` },
									]}
								/>
								<footer>
									<span class="muted small">${plural(data.items.length, 'row')}</span>
									${data.next && html`<button class="small" onClick=${() => set({ after: data.next })}>Older</button>`}
								</footer>
							`}
				<//>
			</section>
			${shown && html`<${Row} row=${shown} close=${() => setShown(null)} />`}
		<//>
	`;
}

/** Row shows all of a row. @param {{row: AuditRow, close: () => void}} props */
const Row = ({ row, close }) => html`
	<${Dialog} wide title=${`${row.action} ${row.object}`} close=${close}>
		<dl class="list">
			<dt>Time</dt><dd><${Time} at=${row.at} /> <span class="muted">${stamp(row.at)}</span></dd>
			<dt>Actor</dt><dd><bdi>${row.actor}</bdi> <span class="muted">${row.role}</span></dd>
			<dt>Address</dt><dd>${row.address ? html`<code>${row.address}</code>` : none}</dd>
			<dt>Result</dt><dd><${Result} row=${row} /></dd>
			<dt>Request id</dt>
			<dd class="row">
				${row.request ? html`<code>${row.request}</code><${Copy} text=${row.request} />` : none}
			</dd>
		</dl>
		${
			row.object.startsWith('user/') &&
			html`
				<p class="small">
					<a href=${query(`${root}users`, { q: row.object.slice('user/'.length) })}>The user</a>
				</p>
			`
		}
		${
			row.changes.length > 0 &&
			html`
				<${Table} label="Changes" rows=${row.changes} id=${(c) => c.field}
					columns=${[
						{
							name: 'Field',
							cell: (/** @type {AuditRow['changes'][number]} */ c) => html`<span class="mono">${c.field}</span>`,
						},
						{
							name: 'Before',
							cell: (/** @type {AuditRow['changes'][number]} */ c) =>
								c.before ? html`<bdi class="mono whole">${c.before}</bdi>` : none,
						},
						{
							name: 'After',
							cell: (/** @type {AuditRow['changes'][number]} */ c) =>
								c.after ? html`<bdi class="mono whole">${c.after}</bdi>` : none,
						},
					]}
				/>
			`
		}
	<//>
`;
