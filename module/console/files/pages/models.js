// Models: what a key may use, and what becomes of the fields of requests in each format.
import { html, useState } from '../lib/preact.js';
import { get, useData } from '../lib/api.js';
import { number, plural } from '../lib/format.js';
import { bearer, held, NeedKey } from '../lib/key.js';
import { root, route, set } from '../lib/route.js';
import { Dialog, Empty, Name, Page, Part, Search, Table } from '../lib/ui.js';

/** @typedef {import('../lib/api.js').Schemas['Capability']} Capability */
/** @typedef {{model: any, formats: Record<string, Capability>}} Row */

/** read joins the models of the key with their capabilities. @param {string} path @param {any} options @returns {Promise<Row[]>} */
async function read(path, options) {
	const [models, capabilities] = await Promise.all([get(path, { ...options, headers: bearer() }), get('/v1/capabilities', { ...options, headers: bearer() })]);
	const by = new Map(capabilities.data.map((/** @type {any} */ each) => [each.model, each.formats]));
	const known = new Set(models.data.map((/** @type {any} */ model) => model.id));
	const others = capabilities.data.filter((/** @type {any} */ each) => !known.has(each.model)).map((/** @type {any} */ each) => ({ id: each.model, owned_by: '' }));
	return [...models.data, ...others].map((model) => ({ model, formats: by.get(model.id) ?? {} }));
}

export default function Models() {
	if (!held.value) return html`<${Page} title="Models"><${NeedKey} why="What can be used depends on the key: the gateway answers for the key that asks." /><//>`;
	return html`<${List} key=${held.value.secret} />`;
}

const size = 100;

function List() {
	const models = useData('/v1/models', { read });
	const text = route.value.query.get('q') ?? '';
	const [open, setOpen] = useState(/** @type {{row: Row, format: string}|null} */ (null));
	return html`<${Page} title="Models" about="The models that the key of this session may use. own: the provider has the format, and gets the client's bytes. translated: fields may be left out, or refused." actions=${html`<${Search} label="Search models" value=${text} set=${(value) => set({ q: value })} />`}>
		<section class="panel"><${Part} of=${models} rows=${8}>${(/** @type {Row[]} */ rows) => {
			const found = rows.filter((row) => row.model.id.toLowerCase().includes(text.toLowerCase()));
			if (found.length === 0) return html`<${Empty} title=${text ? 'No model has such a name.' : 'The key may use no model.'} />`;
			const formats = [...new Set(found.flatMap((row) => Object.keys(row.formats)))];
			return html`<${Table} label="Models" rows=${found.slice(0, size)} id=${(row) => row.model.id} columns=${[
				{ name: 'Model', cell: (/** @type {Row} */ r) => html`<${Name} of=${r.model.id} wide />`, sort: (/** @type {Row} */ r) => r.model.id },
				{ name: 'Owned by', cell: (/** @type {Row} */ r) => r.model.owned_by ? html`<${Name} of=${r.model.owned_by} />` : html`<span class="muted">–</span>`, sort: (/** @type {Row} */ r) => r.model.owned_by },
				{ name: 'Context', num: true, cell: (/** @type {Row} */ r) => r.model.context_length ? number(r.model.context_length) : html`<span class="muted">unknown</span>`, sort: (/** @type {Row} */ r) => r.model.context_length ?? 0 },
				...formats.map((format) => ({ name: format, cell: (/** @type {Row} */ r) => html`<${Lane} row=${r} format=${format} open=${() => setOpen({ row: r, format })} />` })),
				{ name: '', num: true, cell: (/** @type {Row} */ r) => html`<a class="small" href=${`${root}connect?model=${encodeURIComponent(r.model.id)}`}>Connect</a>` },
			]} /><footer><span class="muted small">${found.length > size ? `${size} of ${plural(found.length, 'model')}: search for the others` : plural(found.length, 'model')}</span></footer>`;
		}}<//></section>
		${open && html`<${Fields} row=${open.row} format=${open.format} close=${() => setOpen(null)} />`}<//>`;
}

/** Lane is what becomes of requests of a format. @param {{row: Row, format: string, open: () => void}} props */
function Lane({ row, format, open }) {
	const fate = row.formats[format];
	if (!fate) return html`<span class="muted">refused</span>`;
	if (fate.lane === 'bytes') return html`own`;
	const title = `Left out: ${fate.reported.slice(0, 20).join(', ') || 'nothing'}\nRefused: ${fate.refused.slice(0, 20).join(', ') || 'nothing'}`;
	return html`<button class="link" title=${title} aria-label=${`Fields of ${format} for ${row.model.id}`} onClick=${open}>translated</button> <span class="muted small tab nowrap">−${fate.reported.length + fate.refused.length}</span>`;
}

/** Fields lists the fate of each field. @param {{row: Row, format: string, close: () => void}} props */
function Fields({ row, format, close }) {
	const fate = row.formats[format];
	const list = (/** @type {string} */ title, /** @type {string[]} */ names, /** @type {string} */ what) => html`<section class="stack"><h3>${title} (${names.length})</h3><p class="muted small">${what}</p><div class="tags">${names.map((name) => html`<code class="tag">${name}</code>`)}</div></section>`;
	return html`<${Dialog} wide title=${`${row.model.id}: ${format} → ${fate.upstream}`} close=${close}>
		${list('Refused', fate.refused, 'A request with such a field gets an error that names the field.')}${list('Left out', fate.reported, 'Left out of the request to the provider, and listed in the header x-gateway-dropped of the answer.')}${list('Kept', fate.kept, 'Reach the provider.')}<//>`;
}
