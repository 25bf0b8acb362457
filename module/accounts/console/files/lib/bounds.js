// What bounds keys, users and teams: the fields of their forms, and their rules in words.
import { html, useState } from './preact.js';
import { query, teams, useData } from './api.js';
import { root } from './route.js';
import { administers, Field, lines, Tags } from './ui.js';

/** @typedef {{requests: string, tokens: string, concurrent: number, budget: string, priority: string}} Rules */

/** words returns rules with the words of the configuration. @param {Rules} of */
export const words = (of) =>
	['requests', 'tokens', 'concurrent', 'budget', 'priority']
		.map((word) => [word, of[/** @type {keyof Rules} */ (word)]])
		.filter(([, value]) => value)
		.map(([word, value]) => `${word} ${value}`);

/** Rules are the rules of a key, a user or a team. @param {{of: Rules}} props */
export const Rules = ({ of }) =>
	words(of).length === 0
		? html`<span class="muted">none</span>`
		: html`<span>${words(of).map((rule, i) => html`${i > 0 && ', '}<span class="nowrap">${rule}</span>`)}</span>`;

/** RuleFields are the fields of rules. @param {{of?: Rules, whose: string}} props */
export const RuleFields = ({ of, whose }) => html`
	<div class="fields">
		<${Field} label="Budget" hint=${`Of ${whose}, per hour, day, week or month: 20/month. Empty: none.`}>
			<input name="budget" autocomplete="off" spellcheck=${false} defaultValue=${of?.budget ?? ''} />
		<//>
		<${Field} label="Requests" hint="In any time of this length: 60/1m. Empty: any number.">
			<input name="requests" autocomplete="off" spellcheck=${false} defaultValue=${of?.requests ?? ''} />
		<//>
		<${Field} label="Tokens" hint="400000/1d. Empty: any number.">
			<input name="tokens" autocomplete="off" spellcheck=${false} defaultValue=${of?.tokens ?? ''} />
		<//>
		<${Field} label="Requests at once" hint="Empty: any number.">
			<input name="concurrent" type="number" min="0" defaultValue=${of?.concurrent || ''} />
		<//>
		${
			administers() &&
			html`
			<${Field} label="Priority" hint="In queues. Empty: that of the limits around it.">
				<select name="priority">
					${['', 'high', 'normal', 'low'].map((p) => html`<option selected=${p === of?.priority}>${p}</option>`)}
				</select>
			<//>
		`
		}
	</div>
`;

/**
 * ruleBody returns the members of rules; nothing if the form has no such fields.
 * @param {Record<string, string>} data
 */
export const ruleBody = ({ budget, requests, tokens, concurrent, priority }) =>
	budget === undefined ? {} : { budget, requests, tokens, concurrent: Number(concurrent), priority };

/** ModelField is the field of models, with those that were used lately. @param {{of?: string[], hint: string}} props */
export function ModelField({ of, hint }) {
	const known = useData('/api/v1/usage?by=model');
	return html`
		<${Field} label="Models" hint=${`${hint} claude-* is every model whose name begins so. Empty: all.`}>
			<input name="models" autocomplete="off" list="known-models" defaultValue=${of?.join(' ') ?? ''} />
		<//>
		<datalist id="known-models">
			${(known.data?.items ?? []).map((/** @type {any} */ sum) => html`<option value=${sum.model}></option>`)}
		</datalist>
	`;
}

/** useChoices returns the limits that a key may have, with what each means: for administrators all teams and the
 * limits of the configuration, for others the teams of the user. */
function useChoices() {
	const all = administers();
	const configuration = useData(all ? '/api/v1/configuration' : null);
	const stored = useData(all ? query('/api/v1/teams', { limit: 1000 }) : null);
	const configured = (configuration.data?.limits ?? []).map((/** @type {any} */ limit) => ({
		...limit,
		group: 'Limits of the configuration',
		meaning: `per ${limit.per || 'user'}: ${limit.rules.join(', ')}${limit.within && `, within ${limit.within}`}`,
	}));
	const named = (/** @type {string} */ name) => configured.find((/** @type {any} */ limit) => limit.name === name);
	const ofTeams = (stored.data?.items ?? teams.value).map((/** @type {any} */ team) => ({
		name: team.name,
		group: 'Teams',
		meaning: named(team.name)?.meaning ?? (words(team).join(', ') || 'no rules'),
	}));
	const isTeam = (/** @type {string} */ name) => ofTeams.some((/** @type {any} */ team) => team.name === name);
	return [
		...ofTeams,
		...configured.filter((/** @type {any} */ limit) => limit.per !== 'gateway' && !isTeam(limit.name)),
	];
}

/** LimitField chooses the limit of a key, whose meaning is visible. @param {{of?: string}} props */
export function LimitField({ of = '' }) {
	const choices = useChoices();
	const [chosen, setChosen] = useState(of);
	const known = choices.find((choice) => choice.name === chosen);
	return html`
		<${Field} label="Team or limit"
			hint=${known ? `${known.group}: ${known.meaning}.` : 'What the key shares with others.'}
		>
			<select name="limit" value=${chosen} onChange=${(/** @type {any} */ e) => setChosen(e.target.value)}>
				<option value="">none</option>
				${of && !choices.some((choice) => choice.name === of) && html`<option value=${of}>${of}</option>`}
				${['Teams', 'Limits of the configuration'].map((group) => {
					const inside = choices.filter((choice) => choice.group === group);
					return (
						inside.length > 0 &&
						html`
							<optgroup label=${group}>
								${inside.map(({ name, meaning }) => html`<option value=${name}>${name} – ${meaning}</option>`)}
							</optgroup>
						`
					);
				})}
			</select>
		<//>
	`;
}

/** TagField is the field of the tags of a key. @param {{of?: string[]}} props */
export const TagField = ({ of }) => html`
	<${Field} label="Tags" hint="Of all requests with the key, separated by spaces: team=search. Empty: none.">
		<input name="tags" autocomplete="off" spellcheck=${false} defaultValue=${of?.join(' ') ?? ''} />
	<//>
`;

/** tagBody returns the member of tags; nothing if the form has no such field. @param {Record<string, string>} data */
export const tagBody = (data) => (data.tags === undefined ? {} : { tags: lines(data.tags) });

/** Bounds are the rows of a list about what bounds a key. @param {{of: any}} props */
export const Bounds = ({ of }) => html`
	<dt>Models</dt><dd><${Tags} of=${of.models} most=${24} /></dd>
	<dt>Team or limit</dt><dd>${of.limit ? html`<bdi>${of.limit}</bdi>` : html`<span class="muted">none</span>`}</dd>
	<dt>Own rules</dt><dd><${Rules} of=${of} /></dd>
	<dt>Networks</dt><dd><${Tags} of=${of.from} most=${24} /></dd>
	<dt>Tags</dt><dd><${Tags} of=${of.tags} none="none" most=${24} /></dd>
`;

/** stateOf returns what keeps a key from being valid, "" for nothing. @param {any} key */
export const stateOf = (key) =>
	(key.disabled && 'disabled') ||
	(key.user_disabled && 'owner disabled') ||
	(key.expires && new Date(key.expires) < new Date() ? 'expired' : '');

/** linkOf returns the address of the page of a key. @param {number|string} id */
export const linkOf = (id) => `${root}keys/${id}`;
