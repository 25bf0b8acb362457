// The requests that were sent from the playground, and those with a name. They are in this browser alone.
import { html, useState } from './preact.js';
import { self } from './api.js';
import { read } from './settings.js';
import { Dialog, Empty, Field, Form, Name, Table, tell, Time } from './ui.js';

/** @typedef {{at: number, name: string, text: string, requests: string[]}} Prompt  text keeps the settings; the name is
 * empty unless it was saved; requests are the ids of its exchanges */

const mostSent = 30;

/** place is where the prompts of the user are: another user of the browser has others. */
const place = () => `playground ${self.value?.username}`;

/** prompts returns those that are kept, the newest first. @returns {Prompt[]} */
export function prompts() {
	try {
		return JSON.parse(localStorage.getItem(place()) ?? '[]');
	} catch {
		return [];
	}
}

/** store keeps prompts. If the browser has no place for all, the oldest that has no name goes.
 * @param {Prompt[]} all @returns {boolean} whether they are kept */
function store(all) {
	try {
		localStorage.setItem(place(), JSON.stringify(all));
		return true;
	} catch {
		const oldest = all.findLastIndex((each) => !each.name);
		return oldest > 0 && store(all.toSpliced(oldest, 1));
	}
}

/** sent keeps a request that was sent. @param {string} text @param {string[]} requests */
export function sent(text, requests) {
	const all = [{ at: Date.now(), name: '', text, requests }, ...prompts()];
	const old = all.filter((each) => !each.name).slice(mostSent);
	store(all.filter((each) => !old.includes(each)));
}

/** holding returns the prompt whose exchange has an id. @param {string|null|undefined} request */
export const holding = (request) => prompts().find((each) => request && each.requests.includes(request));

/** Prompts shows what is kept, opens one, and saves the request of the page.
 * @param {{text: string, open: (prompt: Prompt) => void, close: () => void}} props */
export function Prompts({ text, open, close }) {
	const [all, setAll] = useState(prompts);
	const keep = (/** @type {Prompt[]} */ next) => {
		if (!store(next)) return tell('The browser has no room for it.');
		setAll(next);
	};
	const list = (/** @type {string} */ title, /** @type {Prompt[]} */ rows, /** @type {string} */ none) => html`
		<section>
			<h3>${title}</h3>
			${
				rows.length === 0
					? html`<${Empty} title=${none} />`
					: html`
						<${Table} label=${title} rows=${rows} id=${(/** @type {Prompt} */ each) => each.at}
							columns=${[
								{
									name: 'Request',
									cell: (/** @type {Prompt} */ each) => {
										const { turns, lanes } = read(each.text);
										return html`
											<button class="plain link" onClick=${() => open(each)}>
												<${Name} wide of=${each.name || turns.at(-1)?.text || turns[0].text || 'without a text'} />
											</button>
											<div class="small muted">
												<${Name} wide of=${lanes.map((lane) => lane.model).join(', ')} />
											</div>
										`;
									},
								},
								{ name: 'Time', cell: (/** @type {Prompt} */ each) => html`<${Time} at=${each.at / 1000} />` },
								{
									name: '',
									num: true,
									cell: (/** @type {Prompt} */ each) => html`
										<button class="small" onClick=${() => keep(all.filter((other) => other.at !== each.at))}>
											Remove
										</button>
									`,
								},
							]}
						/>
					`
			}
		</section>
	`;
	return html`
		<${Dialog} title="Saved and sent requests" close=${close}>
			<p class="muted small">
				Kept in this browser only, without files, until you remove them. The gateway does not have them.
			</p>
			<${Form} label="Save"
				send=${async (/** @type {Record<string, string>} */ data, /** @type {HTMLFormElement} */ form) => {
					keep([{ at: Date.now(), name: data.name.trim(), text, requests: [] }, ...all]);
					form.reset();
				}}
			>
				<${Field} label="Save the request of the page as">
					<input name="name" autocomplete="off" maxlength="100" required pattern=".*\\S.*" />
				<//>
			<//>
			${list(
				'Saved',
				all.filter((each) => each.name),
				'Nothing is saved.',
			)}
			${list(
				'Sent',
				all.filter((each) => !each.name),
				'Nothing was sent.',
			)}
			${
				all.length > 0 &&
				html`<div class="row end"><button class="danger" onClick=${() => keep([])}>Remove all</button></div>`
			}
		<//>
	`;
}
