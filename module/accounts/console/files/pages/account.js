// Account: the user's own name, password and sessions.
import { html } from '../lib/preact.js';
import { patch, post, remove, self, useData } from '../lib/api.js';
import { Field, Form, Page, Part, roleName, SessionTable, tell, Time } from '../lib/ui.js';
import { pathOf, Person } from './users.js';

/** ownPath returns the path of the user's account. */
const ownPath = () => pathOf(self.value?.username ?? '');

/** changePassword sends a new password, which ends all other sessions.
 * @param {Record<string, string>} data @param {HTMLFormElement} form */
async function changePassword(data, form) {
	if (data.password !== data.again) throw new Error('The new passwords differ.');
	const { password, original_password } = data;
	await post(`${ownPath()}/password`, { password, original_password });
	form.reset();
	tell('The password is changed, and all other sessions are over');
}

export default function Account() {
	const sessions = useData(`${ownPath()}/sessions`);
	const end = async (/** @type {string} */ path) => {
		await remove(path).catch((error) => tell(error.message));
		sessions.reload();
	};
	const user = self.value;
	if (!user) return null;
	return html`
		<${Page} title="Account">
			<div class="two">
				<section class="panel">
					<header><h2>You</h2></header>
					<div class="body stack wide">
						<dl class="list">
							<dt>Name</dt><dd><bdi>${user.username}</bdi></dd>
							<dt>Role</dt><dd>${roleName(user.role)}</dd>
							<dt>Since</dt><dd><${Time} at=${user.created} /></dd>
						</dl>
						<${Form} label="Save"
							send=${async (data) => {
								self.value = await patch(ownPath(), { display_name: data.display_name });
								tell('Saved');
							}}
						>
							<${Field} label="Display name">
								<input name="display_name" maxlength="64" autocomplete="name" defaultValue=${user.display_name} />
							<//>
						<//>
					</div>
				</section>
				<section class="panel">
					<header><h2>Password</h2></header>
					<div class="body">
						<${Form} label="Change password" send=${changePassword}>
							<input type="text" name="username" autocomplete="username" value=${user.username} readonly hidden />
							<${Field} label="Present password">
								<input name="original_password" type="password" autocomplete="current-password" required />
							<//>
							<${Field} label="New password" hint="At least 8 bytes. All other sessions end.">
								<input name="password" type="password" autocomplete="new-password" required minlength="8" />
							<//>
							<${Field} label="New password again">
								<input name="again" type="password" autocomplete="new-password" required minlength="8" />
							<//>
						<//>
					</div>
				</section>
			</div>
			<${Person} user=${user} />
			<section class="panel">
				<header>
					<h2>Sessions</h2>
					<button class="small danger" onClick=${() => end(`${ownPath()}/sessions`)}>
						End all others
					</button>
				</header>
				<${Part} of=${sessions} rows=${2}>
					${(/** @type {any} */ { items }) =>
						html`
							<${SessionTable} rows=${items} end=${(/** @type {number} */ id) => end(`${ownPath()}/sessions/${id}`)} />
						`}
				<//>
			</section>
		<//>
	`;
}
