// Configuration, for administrators: what the gateway runs with, without secrets; for root also as a Caddyfile.
import { html, useState } from '../lib/preact.js';
import { all, query, useData } from '../lib/api.js';
import { Check } from '../lib/check.js';
import { number, plural } from '../lib/format.js';
import { oneOf, root, route, set } from '../lib/route.js';
import { Chip, Code, Empty, isRoot, Name, Page, Pager, Part, Problem, Search, Switch, Table, Time } from '../lib/ui.js';

/** @typedef {import('../lib/api.js').Schemas['Configuration']} Configuration */
/** @typedef {import('../lib/api.js').Schemas['TargetPrice']} TargetPrice */
/** @typedef {{name: string, head: string, lines: Line[], notes?: any[]}} Block */
/** @typedef {[string, any]} Line  a word and its values, which may have links */

const parts = /** @type {[string, string][]} */ ([
	['providers', 'Providers'],
	['models', 'Models'],
	['limits', 'Limits'],
	['guards', 'Guards'],
	['tags', 'Tags'],
	['prices', 'Prices'],
	['check', 'Check'],
	['build', 'Build'],
]);
const caddyfile = /** @type {[string, string]} */ (['caddyfile', 'Caddyfile']);
const most = 50,
	size = 25;

/** link leads to a block. @param {string} part @param {string} name @param {any} [text] */
const link = (part, name, text = name) =>
	html`<a href=${query(`${root}configuration`, { part: part === 'providers' ? '' : part, name })}>${text}</a>`;

/** given returns the lines that say something. @param {[string, any][]} lines @returns {Line[]} */
const given = (lines) =>
	lines.filter(([, value]) => value !== '' && value !== 0 && value !== undefined && value !== false);

/** line returns a line of the Caddyfile. @param {string} text @returns {Line} */
const line = (text) => [text.split(' ', 1)[0], text.slice(text.indexOf(' ') + 1)];

/** some returns names, and how many more there are. @param {string[]} names */
const some = (names) =>
	names.length > 24
		? html`${names.slice(0, 20).join(' ')} <span class="muted"># and ${names.length - 20} more</span>`
		: names.join(' ');

const traits = (/** @type {Record<string, string>} */ of) =>
	Object.entries(of).map(([name, value]) => /** @type {Line} */ (['trait', `${name} ${value}`]));

/** The blocks of each part. @type {Record<string, (c: Configuration) => Block[]>} */
const blocks = {
	providers: (c) =>
		c.providers.map((p) => ({
			name: p.name,
			head: `provider ${p.name} ${p.preset}`,
			lines: [
				...given([
					['base_url', p.pooled ? '' : p.base_url],
					[
						'to',
						p.pooled
							? html`
								<span class="muted">
									# several addresses, which <a href=${`${root}health`}>Health</a> shows
								</span>
							`
							: '',
					],
					['format', p.formats.join(' ')],
					...p.api_keys.map((key) => /** @type {Line} */ (['api_key', key])),
					['models', p.targets_only ? 'off' : some(p.models)],
					['listed_as', p.listed_as],
					['cooldown', p.cooldown.startsWith('-') ? 'off' : p.cooldown],
					['fail_rate', p.fail_rate < 0 ? 'off' : p.fail_rate ? `${p.fail_rate}%` : ''],
					['max_running', p.max_running],
				]),
				...traits(p.traits),
			],
		})),
	models: (c) =>
		c.models.map((m) => ({
			name: m.name,
			head: `model ${m.name}`,
			lines: [
				...m.targets.map(
					(t) =>
						/** @type {Line} */ ([
							'to',
							html`${link('providers', t.provider, t.upstream_model ? `${t.provider}/${t.upstream_model}` : t.provider)}
								${t.weight > 1 ? ` weight ${t.weight}` : ''}`,
						]),
				),
				...given([
					['order', m.order],
					['split_by', m.split_by],
					['mirror', m.mirror],
					['fallback_on', m.fallback_on.join(' ')],
					['attempts', m.attempts],
				]),
				...traits(m.traits),
			],
		})),
	limits: (c) =>
		c.limits.map((l) => ({
			name: l.name,
			head: `limit ${l.name}`,
			lines: [
				...given([
					['per', l.per.replace(':', ' ')],
					['within', l.within && link('limits', l.within)],
				]),
				...l.rules.map(line),
			],
		})),
	guards: (c) =>
		c.guards.map((g) => ({
			name: g.name,
			head: `guard ${g.name} ${g.module}`,
			lines: [
				...g.rules.map(line),
				...given([
					['on', g.on.join(' ')],
					['check', g.check.join(' ')],
					['models', some(g.models)],
					['keys', some(g.keys)],
					['allow_references', g.allow_references && 'on'],
				]),
			],
		})),
	tags: (c) => [
		...c.tags.map((name) => ({ name, head: `tags ${name}`, lines: [], notes: seen(c, `tag:${name}`) })),
		...c.customer.map((name) => ({ name, head: `customer ${name}`, lines: [], notes: seen(c, 'customer') })),
	],
};

/** seen leads to the usage by a label, and to the limits that count by it.
 * @param {Configuration} c @param {string} label */
const seen = (c, label) => [
	html`<a href=${query(`${root}usage`, { by: label })}>usage</a>`,
	...c.limits.filter((l) => l.per === label).map((l) => link('limits', l.name, `limit ${l.name}`)),
];

export default function Configuration() {
	const settings = route.value.query;
	const shown = isRoot() ? [...parts, caddyfile] : parts;
	const part = oneOf('part', shown, 'providers');
	const text = settings.get('q') ?? '';
	const configuration = useData('/api/v1/configuration');
	return html`
		<${Page} title="Configuration"
			about=${'What the gateway runs with, without secrets. ' + 'Change it in the Caddyfile, and reload.'}
			actions=${
				Object.hasOwn(blocks, part) || part === 'build'
					? html`
						<${Search} key=${part} label="Search names" value=${text} set=${(value) => set({ q: value, name: '' })} />
					`
					: undefined
			}
		>
			<${Switch} label="Part" options=${shown} value=${part}
				set=${(value) => set({ part: value === 'providers' ? '' : value, q: '', name: '', p: '' })}
			/>
			${
				part === 'prices'
					? html`<${Prices} />`
					: part === 'check'
						? html`<section class="panel"><div class="body"><${Check} /></div></section>`
						: part === 'caddyfile'
							? html`<${Caddyfile} />`
							: html`
							<${Part} of=${configuration} rows=${8}>
								${(/** @type {Configuration} */ c) =>
									part === 'build'
										? html`<${Build} modules=${c.modules} text=${text} />`
										: html`
											<${Blocks} part=${part} all=${blocks[part](c)} text=${text} name=${settings.get('name') ?? ''} />
										`}
							<//>
						`
			}
		<//>
	`;
}

/** Caddyfile shows, to root, all of what runs as it can be pasted. */
function Caddyfile() {
	const running = useData('/api/v1/configuration/caddyfile');
	return html`
		<${Part} of=${running} rows=${8}>
			${(/** @type {{text: string}} */ { text }) => html`
				<${Code} text=${text} label="Caddyfile" />
				<p class="small muted">The other directives of the sites are not shown.</p>
			`}
		<//>
	`;
}

/** Blocks shows the blocks of a part that have a name.
 * @param {{part: string, all: Block[], text: string, name: string}} props */
function Blocks({ part, all, text, name }) {
	const found = all.filter((block) =>
		name ? block.name === name : block.name.toLowerCase().includes(text.toLowerCase()),
	);
	if (all.length === 0)
		return html`
			<section class="panel">
				<${Empty} title=${`The configuration has no ${part}.`}>
					${
						part === 'models'
							? 'Models of providers are used by their own names.'
							: part === 'limits'
								? 'Keys may use what the providers allow.'
								: part === 'guards'
									? 'No text is searched.'
									: part === 'tags'
										? 'Requests have neither tags nor customers.'
										: ''
					}
				<//>
			</section>
		`;
	if (found.length === 0)
		return html`
			<section class="panel">
				<${Empty} title="Nothing has such a name.">
					<button onClick=${() => set({ q: '', name: '' })}>Show all</button>
				<//>
			</section>
		`;
	return html`
		${
			name &&
			html`
				<div class="row">
					<button class="small" onClick=${() => set({ name: '' })}>Only <bdi>${name}</bdi> ✕</button>
				</div>
			`
		}
		<div class="blocks">
			${found.slice(0, most).map(
				(block) => html`
					<article class="code wrap" key=${block.name}>
						<pre tabindex="0" role="region" aria-label=${block.head}>
							<b>${block.head}</b>
							${block.lines.length > 0 && ' {'}
							${block.lines.map(([word, value]) => html`${'\n\t'}<span class="muted">${word}</span> ${value}`)}
							${block.lines.length > 0 && '\n}'}
							${block.notes?.map((note) => html`${'\n'}<span class="muted">#</span> ${note}`)}
						</pre>
					</article>
				`,
			)}
		</div>
		<p class="small muted">
			${
				found.length > most
					? `${most} of ${plural(found.length, 'block')}: search for the others.`
					: plural(found.length, 'block')
			}
		</p>
	`;
}

/** Prices shows the prices at a time. */
function Prices() {
	const settings = route.value.query;
	const on = settings.get('on') ?? '',
		page = Number(settings.get('p')) || 1,
		text = settings.get('q') ?? '';
	const prices = useData(query('/api/v1/prices', { at: on && `${on}T12:00:00Z` }), { read: all });
	const amount =
		(/** @type {(p: NonNullable<TargetPrice['price']>) => number} */ of) => (/** @type {TargetPrice} */ t) =>
			t.price ? number(of(t.price)) : html`<span class="muted">–</span>`;
	const units = (/** @type {NonNullable<TargetPrice['price']>} */ p) =>
		[
			p.image && `${p.image} an image`,
			p.minute && `${p.minute} a minute`,
			p.characters && `${p.characters} for a million characters`,
		]
			.filter(Boolean)
			.join(', ');
	return html`
		<section class="panel">
			<header>
				<label class="row small">
					<span class="muted">On</span>
					<input type="date" value=${on} onChange=${(/** @type {any} */ e) => set({ on: e.target.value })} />
					${
						on
							? html`<button type="button" class="small" onClick=${() => set({ on: '' })}>Now</button>`
							: html`<span class="muted">now</span>`
					}
				</label>
				<${Search} label="Search models" value=${text} set=${(value) => set({ q: value, p: '' })} />
			</header>
			<${Part} of=${prices} rows=${8}>
				${(/** @type {TargetPrice[]} */ items) => {
					const found = items.filter((each) =>
						`${each.model} ${each.provider}/${each.upstream_model}`.toLowerCase().includes(text.toLowerCase()),
					);
					if (found.length === 0)
						return html`
							<${Empty} title=${text ? 'No model has such a name.' : 'No model has an exact name.'}>
								${!text && 'Prices of models of patterns apply when they are used.'}
							<//>
						`;
					return html`
						<${Table} label="Prices" rows=${found} page=${page} size=${size}
							id=${(t) => `${t.model} ${t.provider} ${t.upstream_model}`}
							columns=${[
								{
									name: 'Model',
									cell: (/** @type {TargetPrice} */ t) => html`<${Name} of=${t.model} />`,
									sort: (/** @type {TargetPrice} */ t) => t.model,
								},
								{
									name: 'Target',
									cell: (/** @type {TargetPrice} */ t) => html`<${Name} of=${`${t.provider}/${t.upstream_model}`} />`,
								},
								{
									name: 'Input',
									num: true,
									cell: amount((p) => p.input),
									sort: (/** @type {TargetPrice} */ t) => t.price?.input ?? -1,
								},
								{ name: 'from cache', num: true, cell: amount((p) => p.cache_read) },
								{ name: 'to cache', num: true, cell: amount((p) => p.cache_write) },
								{
									name: 'Output',
									num: true,
									cell: amount((p) => p.output),
									sort: (/** @type {TargetPrice} */ t) => t.price?.output ?? -1,
								},
								{ name: 'Units', cell: (/** @type {TargetPrice} */ t) => t.price && units(t.price) },
								{
									name: 'Currency',
									cell: (/** @type {TargetPrice} */ t) =>
										t.price
											? html`
												${t.price.currency}
												${
													t.price.above &&
													html`
														${' '}
														<span class="tag"
															title=${
																`Prompts of ${number(t.price.edge)} tokens and more: ` +
																`input ${t.price.above.input}, output ${t.price.above.output}`
															}
														>
															tiers
														</span>
													`
												}
											`
											: html`<${Chip} is="warn">no price<//>`,
								},
								{
									name: 'Source',
									cell: (/** @type {TargetPrice} */ t) =>
										t.price ? html`<${Name} of=${t.price.source || 'the configuration'} />` : '',
								},
								{
									name: 'As of',
									cell: (/** @type {TargetPrice} */ t) => html`<span class="nowrap">${t.price?.as_of || '–'}</span>`,
								},
							]}
						/>
						<footer>
							<span class="muted small">${plural(found.length, 'target')}, for a million tokens</span>
							<${Pager} page=${page} size=${size} total=${found.length}
								set=${(n) => set({ p: n === 1 ? '' : String(n) })}
							/>
						</footer>
					`;
				}}
			<//>
		</section>
	`;
}

/** Build shows the version, and the modules of the build.
 * @param {{modules: Configuration['modules'], text: string}} props */
function Build({ modules, text }) {
	const status = useData('/api/v1/status');
	const [all, setAll] = useState(false);
	const found = modules.filter((module) => module.path.includes(text));
	return html`
		<section class="panel">
			<header><h2>Build</h2></header>
			<div class="body">
				${
					status.error
						? html`<${Problem} error=${status.error} again=${status.reload} />`
						: status.data &&
							html`
								<dl class="list">
									<dt>Gateway</dt>
									<dd>${status.data.version || 'of a checkout'} <code>${status.data.revision}</code></dd>
									<dt>Caddy</dt><dd>${status.data.caddy}</dd>
									<dt>Go</dt><dd>${status.data.go}</dd>
									<dt>Started</dt><dd><${Time} at=${status.data.started} /></dd>
								</dl>
							`
				}
			</div>
		</section>
		<section class="panel">
			<header>
				<h2>Modules</h2>
				<span class="muted small">${plural(found.length, 'module')} of Go</span>
			</header>
			${
				found.length === 0
					? html`<${Empty} title="The build names no such module." />`
					: html`
						<${Table} label="Modules" rows=${all ? found : found.slice(0, size)} id=${(m) => m.path}
							columns=${[
								{ name: 'Module', cell: (/** @type {any} */ m) => html`<span class="mono">${m.path}</span>` },
								{
									name: 'Version',
									cell: (/** @type {any} */ m) => html`<span class="mono nowrap">${m.version}</span>`,
								},
							]}
						/>
						${
							!all &&
							found.length > size &&
							html`<footer><button class="small" onClick=${() => setAll(true)}>Show all</button></footer>`
						}
					`
			}
		</section>
	`;
}
