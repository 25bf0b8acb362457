// Device: a program that signs in, such as a coding agent, shows a code. The person types it here, sees which program
// asks from where, and lets it in or not. No link has the code, since a link can be sent to somebody else.
import { html, useState } from '../lib/preact.js';
import { post, teams } from '../lib/api.js';
import { root } from '../lib/route.js';
import { Field, Form, Page, Time } from '../lib/ui.js';

/** Who is the program that asks. @param {{device: any}} props */
const Who = ({ device }) => html`
	<dl class="list">
		<dt>Program</dt><dd><bdi>${device.agent || 'without a name'}</bdi></dd>
		<dt>Address</dt><dd>${device.address}</dd>
		<dt>Since</dt><dd><${Time} at=${device.created} /></dd>
	</dl>
	${!device.near && html`<div class="note warn" role="alert">It is in another network than you. Is it yours?</div>`}
	<p><b>Go on only if you have just started it yourself.</b> Whoever sends you a code wants to spend in your name.</p>
`;

export default function Device() {
	const [asked, setAsked] = useState(/** @type {any} */ (null));
	const [outcome, setOutcome] = useState('');
	const answer = async (/** @type {boolean} */ confirm, team = '') => {
		await post('/api/v1/device/answer', { code: asked.code, confirm, team });
		setOutcome(confirm ? 'It is signed in, with a key of yours: delete the key to sign it out.' : 'It gets nothing.');
		setAsked(null);
	};
	const find = async (/** @type {any} */ { code }) =>
		setAsked({ code, device: await post('/api/v1/device', { code }) });
	const names = ['', ...teams.value.map(({ name }) => name)]; // the first: no team
	const team = html`
		<${Field} label="Team" hint="Whose limits count">
			<select name="team">${names.map((name) => html`<option value=${name}>${name || 'none'}</option>`)}</select>
		<//>
	`;
	const code = html`
		<${Field} label="Code">
			<input name="code" class="mono" required autofocus autocomplete="off" autocapitalize="characters" />
		<//>
	`;
	return html`
		<${Page} title="Sign in a program" about="A coding agent, or another program without a browser, shows a code.">
			<section class="panel">
				<div class="body stack">
					${outcome && html`<p role="status">${outcome} <a href=${`${root}keys`}>Keys</a></p>`}
					${asked && html`<${Who} device=${asked.device} />`}
					${
						asked
							? html`
								<${Form} key="yes" label="Let it in" send=${(data) => answer(true, data.team)}
									cancel=${() => answer(false).catch((error) => setOutcome(error.message))}
								>
									${names.length > 1 && team}
								<//>
							`
							: html`<${Form} key="code" label="Go on" send=${find}>${code}<//>`
					}
				</div>
			</section>
		<//>
	`;
}
