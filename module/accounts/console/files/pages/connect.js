// Connect: a key, what to paste, and the first request as it arrives.
import { html, useEffect, useState } from '../lib/preact.js';
import { call, get, post, query, useData } from '../lib/api.js';
import { milliseconds, short } from '../lib/format.js';
import { bearer, held } from '../lib/key.js';
import { Cost } from '../lib/record.js';
import { base, root, route, set } from '../lib/route.js';
import { Chip, Code, Copy, Field, Form, Name, Page, Part, Problem, Switch } from '../lib/ui.js';

const hello = (/** @type {string} */ model) =>
	JSON.stringify({ model, max_tokens: 200, messages: [{ role: 'user', content: 'Hello' }] });

/** What to paste, by client. @type {[string, (at: {base: string, key: string, model: string}) => string][]} */
const snippets = [
	[
		'curl',
		({ base, key, model }) =>
			[
				`curl ${base}/v1/chat/completions \\`,
				`  -H "Authorization: Bearer ${key}" \\`,
				`  -H "content-type: application/json" \\`,
				`  -d '${hello(model)}'`,
			].join('\n'),
	],
	[
		'Claude Code',
		({ base, key, model }) =>
			[`export ANTHROPIC_BASE_URL=${base}`, `export ANTHROPIC_AUTH_TOKEN=${key}`, `claude --model ${model}`].join('\n'),
	],
	[
		'Codex',
		({ base, key, model }) =>
			[
				'# ~/.codex/config.toml',
				`model = "${model}"`,
				'model_provider = "gateway"',
				'',
				'[model_providers.gateway]',
				'name = "gateway"',
				`base_url = "${base}/v1"`,
				'env_key = "GATEWAY_KEY"',
				'wire_api = "responses"',
				'',
				'# in the shell',
				`export GATEWAY_KEY=${key}`,
				'codex',
			].join('\n'),
	],
	[
		'opencode',
		({ base, key, model }) =>
			JSON.stringify(
				{
					$schema: 'https://opencode.ai/config.json',
					provider: {
						gateway: {
							npm: '@ai-sdk/openai-compatible',
							options: { baseURL: `${base}/v1`, apiKey: key },
							models: { [model]: {} },
						},
					},
				},
				null,
				2,
			),
	],
	[
		'Anthropic, Python',
		({ base, key, model }) =>
			[
				'from anthropic import Anthropic',
				'',
				`client = Anthropic(base_url="${base}", api_key="${key}")`,
				'message = client.messages.create(',
				`    model="${model}",`,
				'    max_tokens=200,',
				'    messages=[{"role": "user", "content": "Hello"}],',
				')',
				'print(message.content)',
			].join('\n'),
	],
	[
		'Anthropic, TypeScript',
		({ base, key, model }) =>
			[
				'import Anthropic from "@anthropic-ai/sdk";',
				'',
				`const client = new Anthropic({ baseURL: "${base}", apiKey: "${key}" });`,
				'const message = await client.messages.create({',
				`  model: "${model}",`,
				'  max_tokens: 200,',
				'  messages: [{ role: "user", content: "Hello" }],',
				'});',
				'console.log(message.content);',
			].join('\n'),
	],
	[
		'OpenAI, Python',
		({ base, key, model }) =>
			[
				'from openai import OpenAI',
				'',
				`client = OpenAI(base_url="${base}/v1", api_key="${key}")`,
				'answer = client.chat.completions.create(',
				`    model="${model}",`,
				'    messages=[{"role": "user", "content": "Hello"}],',
				')',
				'print(answer.choices[0].message.content)',
			].join('\n'),
	],
	[
		'OpenAI, TypeScript',
		({ base, key, model }) =>
			[
				'import OpenAI from "openai";',
				'',
				`const client = new OpenAI({ baseURL: "${base}/v1", apiKey: "${key}" });`,
				'const answer = await client.chat.completions.create({',
				`  model: "${model}",`,
				'  messages: [{ role: "user", content: "Hello" }],',
				'});',
				'console.log(answer.choices[0].message.content);',
			].join('\n'),
	],
];

/** makeKey creates a key for a client, with one click. */
async function makeKey() {
	const made = await post('/api/v1/keys', {
		name: `key of ${new Date().toISOString().slice(0, 16).replace('T', ' ')}`,
	});
	held.value = { secret: made.key, id: made.id }; // of the user: it stays when the session ends
}

export default function Connect() {
	const key = held.value;
	return html`
		<${Page} title="Connect" about="A client needs two settings: the base URL of the gateway, and a key.">
			${
				key
					? html`
						<${Settings} secret=${key.secret} />
						<${Snippets} secret=${key.secret} />
						${key.id > 0 && html`<${Arrival} key=${key.id} id=${key.id} />`}
					`
					: html`
						<div class="two">
							<section class="panel">
								<header><h2>Make a key</h2></header>
								<div class="body stack wide">
									<p>
										The key is shown once, and has your rights and limits. You can change or revoke it in${' '}
										<a href=${`${root}keys`}>Keys</a>.
									</p>
									<${Form} label="Make a key" send=${makeKey} />
								</div>
							</section>
							<section class="panel">
								<header><h2>Or use one that you have</h2></header>
								<div class="body">
									<${Form} label="Use this key"
										send=${async (data) => {
											held.value = { secret: data.key.trim(), id: 0 };
										}}
									>
										<${Field} label="Key" hint="Kept in this tab only, until it is closed or loaded again.">
											<input name="key" type="password" autocomplete="off" required />
										<//>
									<//>
								</div>
							</section>
						</div>
					`
			}
		<//>
	`;
}

/** working returns the models of the key: first those that have answered lately.
 * @param {string} path @param {any} options @returns {Promise<string[]>} */
async function working(path, options) {
	const [models, sums] = await Promise.all([
		get(path, { ...options, headers: bearer() }),
		get('/api/v1/usage?by=model,outcome', options).catch(() => ({ items: [] })),
	]); // without a ledger in any order
	const answered = new Set(
		sums.items
			.filter((/** @type {any} */ sum) => sum.outcome === 'answered')
			.map((/** @type {any} */ sum) => sum.model),
	);
	const names = models.data.map((/** @type {any} */ model) => model.id);
	return [
		...names.filter((/** @type {string} */ name) => answered.has(name)),
		...names.filter((/** @type {string} */ name) => !answered.has(name)),
	];
}

/** Settings shows base URL and key. @param {{secret: string}} props */
const Settings = ({ secret }) => html`
	<section class="panel">
		<header>
			<h2>1. Base URL and key</h2>
			<button class="small"
				onClick=${() => {
					held.value = null;
				}}
			>
				Another key
			</button>
		</header>
		<div class="body stack wide">
			<div class="two">
				<${Field} label="Base URL" hint="OpenAI's clients need /v1 at its end, Anthropic's do not.">
					<div class="secret"><code>${base}</code><${Copy} text=${base} /></div>
				<//>
				<${Field} label="Key"
					hint="Shown in this tab until it is closed or loaded again, and never after. Keep it now."
				>
					<div class="secret"><code data-secret>${secret}</code><${Copy} text=${secret} /></div>
				<//>
			</div>
		</div>
	</section>
`;

/** Snippets shows what to paste for a client and a model. @param {{secret: string}} props */
function Snippets({ secret }) {
	const models = useData('/v1/models', { read: working });
	const [problem, setProblem] = useState(/** @type {any} */ (null));
	const client = route.value.query.get('client') ?? 'curl';
	return html`
		<section class="panel">
			<header><h2>2. A client</h2></header>
			<div class="body stack wide">
				<${Part} of=${models} rows=${6}>
					${(/** @type {string[]} */ names) => {
						const wanted = route.value.query.get('model') ?? '';
						const model = wanted || names[0] || 'MODEL';
						const snippet = (snippets.find(([name]) => name === client) ?? snippets[0])[1];
						const send = () =>
							call('POST', '/v1/chat/completions', JSON.parse(hello(model)), { headers: bearer() }).then(
								() => setProblem(null),
								setProblem,
							);
						return html`
							<div class="row">
								<${Switch} label="Client" options=${snippets.map(([name]) => [name, name])}
									value=${client} set=${(value) => set({ client: value })}
								/>
								<select aria-label="Model" value=${model}
									onChange=${(/** @type {any} */ e) => set({ model: e.target.value })}
								>
									${[...new Set([model, ...names])].map((name) => html`<option value=${name}>${name}</option>`)}
								</select>
							</div>
							<${Code} label=${`Settings of ${client}`} text=${snippet({ base, key: secret, model })} />
							<div class="row">
								<button onClick=${send}>Send it from here</button>
								<span class="muted small">Sends “Hello” to ${model}, and shows below what arrives.</span>
							</div>
							${problem && html`<${Problem} error=${problem} />`}
						`;
					}}
				<//>
			</div>
		</section>
	`;
}

/** Arrival waits for the first request with the key, and shows it. @param {{id: number}} props */
function Arrival({ id }) {
	const [from] = useState(() => new Date().toISOString());
	const records = useData(query('/api/v1/records', { key: `key_${id}`, limit: 1 }), { every: 1 });
	const [late, setLate] = useState(false);
	useEffect(() => {
		const timer = setTimeout(() => setLate(true), 60000);
		return () => clearTimeout(timer);
	}, [from]);
	return html`
		<section class="panel" aria-live="polite">
			<header><h2>3. The first request</h2></header>
			<div class="body">
				<${Part} of=${records} rows=${1}>
					${(/** @type {any} */ data) => {
						const record = data.items[0];
						if (!record)
							return html`
								<p class="muted">
									Waiting for a request with this key …${' '}
									${
										late &&
										html`
											Nothing has arrived for a minute. A wrong key or address is answered with an error by the
											client; the${' '}
											<a
												href=${`${root}docs/clients.html`}
												target="_blank" rel="noreferrer"
											>
												notes about clients
											</a>${' '}
											have their settings.
										`
									}
								</p>
							`;
						const call = record.calls.at(-1);
						return html`
							<div class="stack wide">
								<div class="row between">
									<${Chip} is=${record.outcome === 'answered' ? 'ok' : 'ill'}>
										${
											record.outcome === 'answered'
												? 'It arrived and was answered'
												: `It arrived, and ended with the outcome ` +
													`${record.outcome.replace('_', ' ')}, status ${record.status}`
										}
									<//>
									<span class="row">
										<a href=${`${root}exchanges/${record.id}`}>Open it</a>
										<a href=${`${root}exchanges`}>All exchanges</a>
										<a href=${`${root}usage`}>Usage</a>
									</span>
								</div>
								<dl class="facts">
									<div><dt>Model</dt><dd><${Name} of=${record.model} /></dd></div>
									<div><dt>Provider</dt><dd><${Name} of=${call?.provider ?? '–'} /></dd></div>
									<div>
										<dt>Tokens</dt>
										<dd>
											${short(call?.input_tokens ?? 0)} in, ${short(call?.output_tokens ?? 0)} out
										</dd>
									</div>
									<div><dt>Cost</dt><dd><${Cost} calls=${record.calls} /></dd></div>
									<div><dt>First byte</dt><dd>${milliseconds(record.first_byte_ms)}</dd></div>
									<div><dt>Whole answer</dt><dd>${milliseconds(record.duration_ms)}</dd></div>
								</dl>
							</div>
						`;
					}}
				<//>
			</div>
		</section>
	`;
}
