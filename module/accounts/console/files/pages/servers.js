// MCP servers, for administrators: how the calls of each ended, and the changed tools that wait for acceptance.
import { html, useState } from '../lib/preact.js';
import { post, query, useData } from '../lib/api.js';
import { money, number, percent, plural } from '../lib/format.js';
import { root } from '../lib/route.js';
import { add } from '../lib/sums.js';
import { Chip, Dialog, Empty, Form, Name, Page, Part, Table, tell } from '../lib/ui.js';

/** @typedef {import('../lib/api.js').Schemas['MCPServer']} Server */
/** @typedef {import('../lib/sums.js').Sum} Sum */
/** @typedef {Server & {calls: number, failed: number, cost: number, currency: string}} Row */

/** rowsOf joins servers with what their calls of the last day were. @param {Server[]} servers @param {Sum[]} sums */
const rowsOf = (servers, sums) =>
	servers.map((server) => {
		const own = sums.filter((sum) => sum.provider === `mcp/${server.name}`);
		const [all] = add(own, ['provider']).values();
		const answered = own.filter((sum) => sum.outcome === 'answered').reduce((n, sum) => n + sum.calls, 0);
		const { calls = 0, cost_micro: cost = 0, currency = '' } = all ?? {};
		return { ...server, calls, failed: calls - answered, cost: cost / 1e6, currency };
	});

export default function Servers() {
	const servers = useData('/api/v1/mcp', { every: 30 });
	const usage = useData('/api/v1/usage?by=provider,outcome&from=-24h', { every: 30 }); // 404 without a ledger
	const [accepting, accept] = useState(/** @type {Server|null} */ (null));
	const rows = rowsOf(servers.data?.items ?? [], usage.data?.items ?? []);
	return html`
		<${Page} title="MCP servers" about="Whose tools clients use, and their calls of the last 24 hours.">
			<section class="panel">
				<${Part} of=${servers} rows=${3}>
					${() =>
						rows.length === 0
							? html`
								<${Empty} title="The configuration has no MCP server.">
									<a href=${`${root}docs/mcp.html`}>How to add one</a>
								<//>
							`
							: html`
								<${Table} label="MCP servers" rows=${rows} columns=${columns(accept)}
									id=${(row) => rows.indexOf(row)}
								/>
							`}
				<//>
			</section>
			${accepting && html`<${Accept} server=${accepting} close=${() => accept(null)} done=${servers.reload} />`}
		<//>
	`;
}

/** columns are those of the table of servers. @param {(server: Server) => void} accept */
const columns = (accept) => [
	{
		name: 'Server',
		cell: (/** @type {Row} */ s) => html`
			<a href=${query(`${root}exchanges`, { provider: `mcp/${s.name}` })}><${Name} of=${s.name} /></a>
		`,
		sort: (/** @type {Row} */ s) => s.name,
	},
	{ name: 'Era', cell: (/** @type {Row} */ s) => s.era },
	{ name: 'Pin', cell: (/** @type {Row} */ s) => s.pin || 'off' },
	{
		name: 'Tools',
		num: true,
		cell: (/** @type {Row} */ s) => (s.pin ? number(s.tools) : html`<span class="muted">–</span>`),
	},
	{
		name: 'Changed',
		cell: (/** @type {Row} */ s) =>
			s.changed.length > 0
				? html`
					<span class="row nowrap">
						<${Chip} is=${s.pin === 'block' ? 'ill' : 'warn'}>${plural(s.changed.length, 'tool')}<//>
						<button class="small" aria-label=${`Look at ${s.name}`} onClick=${() => accept(s)}>Look</button>
					</span>
				`
				: html`<span class="muted">–</span>`,
	},
	{
		name: 'Calls',
		num: true,
		cell: (/** @type {Row} */ s) => number(s.calls),
		sort: (/** @type {Row} */ s) => s.calls,
	},
	{
		name: 'Not answered',
		num: true,
		cell: (/** @type {Row} */ s) => percent(s.failed, s.calls),
		sort: (/** @type {Row} */ s) => s.failed / Math.max(1, s.calls),
	},
	{
		name: 'Cost',
		num: true,
		cell: (/** @type {Row} */ s) => money(s.cost, s.currency),
		sort: (/** @type {Row} */ s) => s.cost,
	},
];

/** Accept accepts changed definitions of tools. @param {{server: Server, close: () => void, done: () => void}} props */
const Accept = ({ server, close, done }) => html`
	<${Dialog} title=${`Changed tools of ${server.name}`} close=${close}>
		<p>
			The server has changed what models read of these tools.
			${server.pin === 'block' ? ' Clients neither see nor call them.' : ' Clients use them nevertheless.'}
			${' '}Look at the server before you accept.
		</p>
		<ul>${server.changed.map((tool) => html`<li class="row"><${Name} of=${tool} wide mono /></li>`)}</ul>
		<${Form} label=${`Accept ${plural(server.changed.length, 'tool')}`} cancel=${close}
			send=${async () => {
				for (const tool of server.changed) await post(query('/api/v1/mcp/accept', { server: server.name, tool }));
				tell('Accepted.');
				done();
				close();
			}}
		/>
	<//>
`;
