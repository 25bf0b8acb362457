// The request of the playground: models, fields, turns and tools.
import { html } from './preact.js';
import { dialects, tools, turn as turnOf } from './dialects.js';
import { sentence } from './format.js';
import { mostLanes } from './settings.js';
import { Field, Name, Switch } from './ui.js';

/** @typedef {import('./dialects.js').Turn} Turn */
/** @typedef {import('./settings.js').Lane} Lane */
/** @typedef {import('./settings.js').Settings} Settings */

const ready = /** @type {[string, string][]} */ ([
	['', 'none'],
	...Object.entries(tools).map(([name, list]) => [JSON.stringify(list, null, 2), name]),
]);

const efforts = ['', 'minimal', 'low', 'medium', 'high', 'max'];

/** fault returns what is wrong with a text that should be JSON of a kind, with its line; "" without a fault.
 * @param {string} text @param {'an object'|'a list'} kind */
function fault(text, kind) {
	if (!text.trim()) return '';
	try {
		const value = JSON.parse(text);
		const fits = kind === 'a list' ? Array.isArray(value) : value?.constructor === Object;
		return fits ? '' : `The JSON is not ${kind}.`;
	} catch (error) {
		return sentence(/** @type {Error} */ (error).message);
	}
}

/** Json is a text of JSON, with its fault below.
 * @param {{label: string, kind: 'an object'|'a list', value: string, set: (value: string) => void, rows?: number,
 *   hint?: string}} props */
function Json({ label, kind, value, set, rows = 3, hint }) {
	const wrong = fault(value, kind);
	return html`
		<${Field} label=${label} hint=${!wrong && hint}>
			<textarea class="mono" rows=${rows} aria-label=${label} aria-invalid=${wrong ? 'true' : 'false'}
				spellcheck=${false} value=${value} onInput=${(/** @type {any} */ e) => set(e.target.value)}
			></textarea>
			${wrong && html`<span class="note ill small" role="alert">${wrong}</span>`}
		<//>
	`;
}

/** Fields are those that requests may lack. @param {{settings: Settings, change: (part: Partial<Settings>) => void,
 * plain: boolean}} props */
function Fields({ settings, change, plain }) {
	const set = (/** @type {string} */ name) => (/** @type {any} */ e) => change({ [name]: e.target.value });
	const given = ['temperature', 'effort', 'schema', 'more'].some((name) => settings[/** @type {'more'} */ (name)]);
	return html`
		<details open=${given}>
			<summary>More fields</summary>
			<div class="stack">
				<div class="row">
					<${Field} label="Temperature">
						<input type="number" min="0" max="2" step="0.1" placeholder="unset" value=${settings.temperature}
							onInput=${set('temperature')}
						/>
					<//>
					${
						!plain &&
						html`
							<${Field} label="Effort">
								<select value=${settings.effort} onChange=${set('effort')}>
									${efforts.map((name) => html`<option value=${name}>${name || 'unset'}</option>`)}
								</select>
							<//>
						`
					}
				</div>
				${
					!plain &&
					html`
						<${Json} label="Schema of the answer" kind="an object" value=${settings.schema}
							set=${(/** @type {string} */ schema) => change({ schema })}
						/>
					`
				}
				<${Json} label="Other fields, as JSON" kind="an object" value=${settings.more}
					hint="They join the request of every model, and replace its fields of the same name."
					set=${(/** @type {string} */ more) => change({ more })}
				/>
			</div>
		</details>
	`;
}

/** attached reads files. @param {Iterable<File>} files @returns {Promise<Turn['files']>} */
const attached = (files) =>
	Promise.all(
		[...files]
			.filter((file) => /^image\/|^application\/pdf$/.test(file.type))
			.map(
				(file) =>
					new Promise((done, failed) => {
						const reader = new FileReader();
						reader.onload = () => done({ name: file.name, url: String(reader.result) });
						reader.onerror = () => failed(reader.error);
						reader.readAsDataURL(file);
					}),
			),
	);

/** OneTurn is a turn: its files, the calls of an assistant, what the tools returned, and its text.
 * @param {{turn: Turn, n: number, plain: boolean, change: (part: Partial<Turn>) => void, remove: false|(() => void)}}
 * props */
function OneTurn({ turn, n, plain, change, remove }) {
	const attach = async (/** @type {Iterable<File>} */ files) =>
		change({ files: [...turn.files, ...(await attached(files))] });
	return html`
		<div class="stack turn" onDragOver=${(/** @type {Event} */ e) => e.preventDefault()}
			onDrop=${(/** @type {DragEvent} */ e) => {
				e.preventDefault();
				if (!plain) attach(e.dataTransfer?.files ?? []);
			}}
		>
			<div class="row between">
				<select class="small" aria-label=${`Role of turn ${n}`} value=${turn.role}
					disabled=${turn.calls.length + turn.results.length > 0}
					onChange=${(/** @type {any} */ e) => change({ role: e.target.value })}
				>
					<option value="user">user</option>
					<option value="assistant">assistant</option>
				</select>
				<span class="row">
					${
						!plain &&
						html`
							<label class="button small" title="Images and PDF">
								Attach
								<input class="sr" type="file" accept="image/*,application/pdf" multiple
									aria-label=${`Attach files to turn ${n}`}
									onChange=${(/** @type {any} */ e) => attach([...e.target.files]).then(() => (e.target.value = ''))}
								/>
							</label>
						`
					}
					${remove && html`<button class="small" aria-label=${`Remove turn ${n}`} onClick=${remove}>✕</button>`}
				</span>
			</div>
			${
				!plain &&
				turn.files.length > 0 &&
				html`
					<div class="row">
						${turn.files.map(
							(file, i) => html`
								<button class="small" aria-label=${`Remove ${file.name}`} title=${file.name}
									onClick=${() => change({ files: turn.files.filter((_, other) => other !== i) })}
								>
									${file.url.startsWith('data:image/') && html`<img class="thumb" src=${file.url} alt="" />`}
									<${Name} of=${file.name} /> ✕
								</button>
							`,
						)}
					</div>
				`
			}
			${turn.calls.map((call) => html`<${Called} name=${call.name} input=${call.input} />`)}
			${turn.results.map(
				(result, i) => html`
					<${Field} label=${`Result of ${result.name}`}>
						<textarea class="mono" rows="2" value=${result.text}
							onInput=${(/** @type {any} */ e) =>
								change({
									results: turn.results.map((other, at) => (at === i ? { ...other, text: e.target.value } : other)),
								})}
						></textarea>
					<//>
				`,
			)}
			<textarea aria-label=${`Text of turn ${n}`} rows=${turn.calls.length + turn.results.length > 0 ? 1 : 4}
				value=${turn.text} onInput=${(/** @type {any} */ e) => change({ text: e.target.value })}
			></textarea>
		</div>
	`;
}

/** Called is a call of a tool. @param {{name: string, input: string}} props */
export const Called = ({ name, input }) => html`<div class="call"><b>${name}</b> <code>${input}</code></div>`;

/** Request is what is sent.
 * @param {{settings: Settings, change: (part: Partial<Settings>) => void, models: string[]}} props */
export function Request({ settings, change, models }) {
	const lane = (/** @type {number} */ n, /** @type {Partial<Lane>} */ part) =>
		change({ lanes: settings.lanes.map((each, i) => (i === n ? { ...each, ...part } : each)) });
	const turn = (/** @type {number} */ n, /** @type {Partial<Turn>} */ part) =>
		change({ turns: settings.turns.map((each, i) => (i === n ? { ...each, ...part } : each)) });
	const value = (/** @type {any} */ event) => event.target.value;
	const plain = settings.lanes.every((each) => dialects[each.format].plain);
	return html`
		<datalist id="playground-models">${models.map((name) => html`<option value=${name} />`)}</datalist>
		${settings.lanes.map(
			(each, n) => html`
				<div class="row" key=${n}>
					<select aria-label=${`Format ${n + 1}`} value=${each.format}
						onChange=${(/** @type {any} */ e) => lane(n, { format: value(e) })}
					>
						${Object.keys(dialects).map((name) => html`<option value=${name}>${name}</option>`)}
					</select>
					<input class="grow" aria-label=${`Model ${n + 1}`} list="playground-models" autocomplete="off"
						spellcheck=${false} placeholder=${models[0] ?? 'name of a model'} value=${each.model}
						onInput=${(/** @type {any} */ e) => lane(n, { model: value(e).trim() })}
					/>
					${
						settings.lanes.length > 1 &&
						html`
							<button class="small" aria-label=${`Remove model ${n + 1}`}
								onClick=${() => change({ lanes: settings.lanes.filter((_, i) => i !== n) })}
							>
								✕
							</button>
						`
					}
				</div>
			`,
		)}
		<div class="row between">
			<label class="check">
				<input type="checkbox" checked=${settings.stream}
					onChange=${(/** @type {any} */ e) => change({ stream: e.target.checked })}
				/>
				Stream
			</label>
			<label class="row small">
				<span class="muted">at most</span>
				<input type="number" min="1" style=${{ width: '88px' }} value=${settings.max}
					onInput=${(/** @type {any} */ e) => change({ max: Number(value(e)) || 1 })}
				/>
				<span class="muted">tokens</span>
			</label>
			${
				settings.lanes.length < mostLanes &&
				html`
					<button class="small" onClick=${() => change({ lanes: [...settings.lanes, { ...settings.lanes[0] }] })}>
						Add model
					</button>
				`
			}
		</div>
		<${Fields} settings=${settings} change=${change} plain=${plain} />
		<${Field} label="System">
			<textarea rows="2" value=${settings.system}
				onInput=${(/** @type {any} */ e) => change({ system: value(e) })}
			></textarea>
		<//>
		${settings.turns.map(
			(each, n) => html`
				<${OneTurn} key=${n} turn=${each} n=${n + 1} plain=${plain}
					change=${(/** @type {Partial<Turn>} */ part) => turn(n, part)}
					remove=${settings.turns.length > 1 && (() => change({ turns: settings.turns.filter((_, i) => i !== n) }))}
				/>
			`,
		)}
		<div class="row">
			<button class="small"
				onClick=${() =>
					change({
						turns: [...settings.turns, turnOf(settings.turns.at(-1)?.role === 'user' ? 'assistant' : 'user', '')],
					})}
			>
				Add turn
			</button>
		</div>
		${
			!plain &&
			html`
				<div class="stack">
					<div class="row between">
						<h3>Tools</h3>
						<${Switch} label="Tools" options=${ready} value=${settings.tools}
							set=${(/** @type {string} */ tools) => change({ tools })}
						/>
					</div>
					${
						settings.tools !== '' &&
						html`
							<${Json} label="Tools as JSON" kind="a list" rows=${9} value=${settings.tools}
								set=${(/** @type {string} */ tools) => change({ tools })}
							/>
						`
					}
				</div>
			`
		}
	`;
}
