// Models: what a key may use, what it costs, and what becomes of the fields of requests in each format.
import { html, useState } from '../lib/preact.js';
import { get, useData } from '../lib/api.js';
import { Check } from '../lib/check.js';
import { number, plural, rate } from '../lib/format.js';
import { bearer, held, NeedKey } from '../lib/key.js';
import { root, route, set } from '../lib/route.js';
import { administers, Dialog, Empty, Name, Page, Pager, Part, Search, Table } from '../lib/ui.js';
import { Model as One } from './model.js';

/** @typedef {import('../lib/api.js').Schemas['TargetPrice']} TargetPrice */
/** @typedef {{lane: string, upstream: string, kept: any, reported: any, refused: any}} Fate */
/** @typedef {{id: string, owned_by: string, context_length?: number}} Model */
/** @typedef {{fates: Map<string, Record<string, Fate>>, prices: Map<string, TargetPrice>}} Details */

const size = 25;

/** several returns a path with the names of models. @param {string} path @param {string[]} names */
const several = (path, names) =>
	`${path}${path.includes('?') ? '&' : '?'}${names.map((name) => `model=${encodeURIComponent(name)}`).join('&')}`;

/** details reads what is shown beside the names of models: administrators see prices, too.
 * @param {string} path names of models, one a line @param {any} options @returns {Promise<Details>} */
async function details(path, options) {
	const names = path.split('\n');
	const [capabilities, prices] = await Promise.all([
		get(several('/v1/capabilities?fields=count', names), { ...options, headers: bearer() }),
		// without prices, the rest is shown
		administers() ? get(several('/api/v1/prices', names), options).catch(() => ({ items: [] })) : { items: [] },
	]);
	return {
		fates: new Map(capabilities.data.map((/** @type {any} */ each) => [each.model, each.formats])),
		// of the first target
		prices: new Map(prices.items.toReversed().map((/** @type {TargetPrice} */ each) => [each.model, each])),
	};
}

export default function Models() {
	if (route.value.rest && administers()) return html`<${One} key=${route.value.rest} name=${route.value.rest} />`;
	if (!held.value)
		return html`
			<${Page} title="Models">
				<${NeedKey} why="What can be used depends on the key: the gateway answers for the key that asks." />
			<//>
		`;
	return html`<${List} key=${held.value.secret} />`;
}

function List() {
	const models = useData('/v1/models', {
		read: async (path, options) => (await get(path, { ...options, headers: bearer() })).data,
	});
	const text = route.value.query.get('q') ?? '',
		page = Number(route.value.query.get('p')) || 1;
	const found = (models.data ?? []).filter((/** @type {Model} */ model) =>
		model.id.toLowerCase().includes(text.toLowerCase()),
	);
	const shown = found.slice((page - 1) * size, page * size);
	const more = useData(shown.length > 0 ? shown.map((model) => model.id).join('\n') : null, { read: details });
	const [open, setOpen] = useState(/** @type {{model: string, format: string}|null} */ (null));
	return html`
		<${Page} title="Models" about="What the key of this session may use."
			actions=${html`<${Search} label="Search models" value=${text} set=${(value) => set({ q: value, p: '' })} />`}
		>
			<section class="panel">
				<${Part} of=${models} rows=${8}>
					${() => {
						if (found.length === 0)
							return html`
								<${Empty} title=${text ? 'No model has such a name.' : 'The key may use no model.'}>
									${text && html`<button onClick=${() => set({ q: '' })}>Show all models</button>`}
								<//>
							`;
						const formats = [...new Set([...(more.data?.fates.values() ?? [])].flatMap((fates) => Object.keys(fates)))];
						return html`
							<${Table} label="Models" rows=${shown} id=${(model) => model.id}
								columns=${[
									{
										name: 'Model',
										cell: (/** @type {Model} */ m) =>
											administers()
												? html`
													<a href=${`${root}models/${encodeURIComponent(m.id)}`}>
														<${Name} of=${m.id} wide />
													</a>
												`
												: html`<${Name} of=${m.id} wide />`,
									},
									{
										name: 'Owned by',
										cell: (/** @type {Model} */ m) =>
											m.owned_by ? html`<${Name} of=${m.owned_by} />` : html`<span class="muted">–</span>`,
									},
									{
										name: 'Context',
										num: true,
										cell: (/** @type {Model} */ m) =>
											m.context_length ? number(m.context_length) : html`<span class="muted">unknown</span>`,
									},
									administers() && {
										name: 'Price in, out',
										num: true,
										cell: (/** @type {Model} */ m) => html`<${Price} of=${more.data?.prices.get(m.id)} />`,
									},
									...formats.map((format) => ({
										name: format,
										cell: (/** @type {Model} */ m) => html`
											<${Lane} fate=${more.data?.fates.get(m.id)?.[format]} model=${m.id}
												format=${format} open=${() => setOpen({ model: m.id, format })}
											/>
										`,
									})),
									{
										name: '',
										num: true,
										cell: (/** @type {Model} */ m) => html`
											<span class="row end nowrap">
												<a href=${`${root}connect?model=${encodeURIComponent(m.id)}`}
													aria-label=${`Connect with ${m.id}`}
												>
													Connect
												</a>
												<button class="link" aria-label=${`Check ${m.id}`}
													onClick=${() => setOpen({ model: m.id, format: '' })}
												>
													Check
												</button>
											</span>
										`,
									},
								]}
							/>
							<footer>
								<span class="muted small">${plural(found.length, 'model')}</span>
								<${Pager} page=${page} size=${size} total=${found.length}
									set=${(n) => set({ p: n === 1 ? '' : String(n) })}
								/>
							</footer>
						`;
					}}
				<//>
			</section>
			<p class="small muted">
				<b>own</b>: the provider has the format, and gets the client's bytes. <b>translated</b>: some fields are
				left out or refused; the number says how many.
				${administers() ? ' Prices are those of the first target, for a million tokens.' : ''}
			</p>
			${
				open &&
				(open.format
					? html`<${Fields} model=${open.model} format=${open.format} close=${() => setOpen(null)} />`
					: html`
						<${Dialog} wide title=${`Check of ${open.model}`} close=${() => setOpen(null)}>
							<${Check} model=${open.model} />
						<//>
					`)
			}
		<//>
	`;
}

/** Price is a price of input and output. @param {{of: TargetPrice|undefined}} props */
function Price({ of }) {
	if (!of?.price) return html`<span class="muted">${of ? 'unknown' : ''}</span>`;
	const { input, output, currency, name, source, as_of } = of.price;
	return html`
		<span class="nowrap" title=${`${name}, ${source || 'of the configuration'}${as_of ? `, as of ${as_of}` : ''}`}>
			${rate(input, currency)}, ${rate(output, currency)}
		</span>
	`;
}

/** Lane is what becomes of requests of a format.
 * @param {{fate: Fate|undefined, model: string, format: string, open: () => void}} props */
function Lane({ fate, model, format, open }) {
	if (!fate) return html`<span class="muted">refused</span>`;
	if (fate.lane === 'bytes') return 'own';
	const lost = fate.reported + fate.refused;
	return html`
		<span class="nowrap">
			<button class="link" title=${`${fate.reported} left out, ${fate.refused} refused`}
				aria-label=${`translated: fields of ${format} for ${model}`} onClick=${open}
			>
				translated
			</button>
			${lost > 0 && html` <span class="muted small tab">−${lost}</span>`}
		</span>
	`;
}

/** Fields lists the fate of each field. @param {{model: string, format: string, close: () => void}} props */
function Fields({ model, format, close }) {
	const fate = useData(several('/v1/capabilities', [model]), {
		read: async (path, options) => (await get(path, { ...options, headers: bearer() })).data[0]?.formats[format],
	});
	const list = (/** @type {string} */ title, /** @type {string[]} */ names, /** @type {string} */ what) => html`
		<section class="stack">
			<h3>${title} (${names.length})</h3>
			<p class="muted small">${what}</p>
			<div class="tags">${names.map((name) => html`<code class="tag whole">${name}</code>`)}</div>
		</section>
	`;
	return html`
		<${Dialog} wide title=${`${model}: fields of ${format}`} close=${close}>
			<${Part} of=${fate} rows=${6}>
				${(/** @type {Fate|undefined} */ f) =>
					f
						? html`
							<p class="muted small">The provider gets ${f.upstream}.</p>
							${list('Refused', f.refused, 'A request with such a field gets an error that names the field.')}
							${list(
								'Left out',
								f.reported,
								'Left out of the request to the provider, and listed in the header x-gateway-dropped of the answer.',
							)}
							${list('Kept', f.kept, 'Reach the provider.')}
						`
						: html`<${Empty} title="The model is no longer served in this format." />`}
			<//>
		<//>
	`;
}
