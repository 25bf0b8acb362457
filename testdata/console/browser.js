// A browser with the console of the gateway under test, and what the tests have in common.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

export const base = process.env.GATEWAY_URL;
export const program = process.env.CONSOLE_PROGRAM;
export const root = { username: 'root', password: process.env.CONSOLE_PASSWORD };

const executablePath = execFileSync('sh', ['-c', 'command -v chromium || command -v google-chrome'], { encoding: 'utf8' }).trim();

/** How long a page may take for what a test waits for, in milliseconds: 20 seconds were too short on a busy machine. */
const patience = 60_000;

/** launch starts the browser. */
export const launch = () => chromium.launch({ executablePath, args: ['--no-sandbox'], timeout: patience });

/** open returns a page of a new visitor. Whatever it reports as an error, and whatever the policy of the page refuses, is in problems. */
export async function open(browser, options = {}) {
	const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce', ...options });
	const page = await context.newPage();
	page.setDefaultTimeout(patience);
	const problems = [], requests = [];
	page.on('pageerror', (error) => problems.push(error.message));
	page.on('console', (message) => { if (/Content.Security.Policy|Refused to/i.test(message.text())) problems.push(message.text()); });
	page.on('request', (request) => requests.push(request));
	return { context, page, problems, requests };
}

/** logIn fills in the login that the page shows. */
export async function logIn(page, { username, password } = root) {
	await page.fill('input[name=username]', username);
	await page.fill('input[name=password]', password);
	await page.click('button.primary:text-is("Log in")');
}

/** enter opens a page of the console as a user. */
export async function enter(page, path = '', { at = base, user = root } = {}) {
	await page.goto(`${at}/console/${path}`);
	await logIn(page, user);
	await page.waitForSelector('h1:not(:text-is("AI gateway"))');
}

/** api calls the API with the session of a page, from outside the browser. */
export async function api(context, method, path, body, at = base) {
	const cookie = (await context.cookies()).map((cookie) => `${cookie.name}=${cookie.value}`).join('; ');
	return fetch(at + path, { method, headers: { cookie, ...(body && { 'content-type': 'application/json' }) }, body: body && JSON.stringify(body) });
}

/** admin returns a function that calls the API of a gateway as root, and returns the data of its answers. */
export async function admin(at = base) {
	const call = (token) => async (method, path, body) => {
		const answer = await fetch(at + path, { method, headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }, body: JSON.stringify(body) });
		const content = answer.status === 204 ? null : await answer.json();
		assert.ok(answer.ok, `${method} ${path}: ${content?.detail}`);
		return content;
	};
	return call((await call('')('POST', '/api/v1/session', root)).token);
}

/** ask sends a chat with a key, as a program does. */
export const ask = (key, model = 'demo', at = base, headers = {}) => fetch(`${at}/v1/chat/completions`, { method: 'POST', headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers }, body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }) });

/** The pages, and what each shows when its data are there. */
export const pages = {
	connect: 'text=Make a key', playground: 'text=Make a key for this session', keys: 'table', 'keys?of=all': 'table', 'keys?of=configured': 'table >> text=tests', usage: 'svg .bar', exchanges: 'table',
	models: 'text=Make a key for this session', health: 'table >> text=demo', servers: 'main table, main .empty', users: 'table', teams: 'main table, main .empty', audit: 'table', account: 'table', configuration: 'article', 'configuration?part=prices': 'table', 'configuration?part=build': 'table',
};

/** show opens a page without loading the console anew, as a link does. */
export async function show(page, path) {
	await page.evaluate((to) => {
		const link = Object.assign(document.createElement('a'), { href: `/console/${to}` });
		document.body.append(link);
		link.click();
		link.remove();
	}, path);
}

/** visit opens a page as a link does, and waits for its data. */
export async function visit(page, path) {
	await show(page, path);
	await page.waitForSelector(pages[path]);
}

/** until waits until a check passes that asks the gateway. waitForFunction cannot: it takes the promise of an answer for true. */
export async function until(passes) {
	for (const end = Date.now() + patience; !await passes();) {
		assert.ok(Date.now() < end, `never passed: ${passes}`);
		await new Promise((done) => setTimeout(done, 50));
	}
}

/** freePort returns a port that nobody listens on. It is one of those that no system gives to whoever asks for any, as it did
 * before: a connection of another test could take it until the gateway listened. */
export const freePort = () => new Promise((done) => {
	const port = 10_000 + Math.floor(Math.random() * 20_000);
	const server = createServer().once('error', () => done(freePort())).listen(port, '127.0.0.1', () => server.close(() => done(port)));
});

/** Gateway is a gateway of its own for one test, with data of its own, whose user is root. */
export class Gateway {
	/** start starts it with a configuration, in which {port} is its port, and other names in braces those of values. What fill
	 * returns is awaited before; its argument is the path of the store. */
	static async start(configuration, values = {}, fill = async (_store) => {}) {
		const gateway = new Gateway();
		gateway.folder = mkdtempSync(join(tmpdir(), 'gateway-'));
		gateway.port = await freePort();
		gateway.base = `http://127.0.0.1:${gateway.port}`;
		gateway.values = { port: gateway.port, ...values };
		gateway.env = { ...process.env, XDG_DATA_HOME: gateway.folder, XDG_CONFIG_HOME: gateway.folder, GATEWAY_PORT: String(gateway.port) };
		gateway.write(configuration);
		execFileSync(program, ['ai-gateway', 'user', 'add', 'root', '--role', 'root', '--password-stdin'], { env: gateway.env, input: root.password, stdio: ['pipe', 'ignore', 'ignore'] });
		await fill(join(gateway.folder, 'caddy/ai_gateway/gateway.db'));
		await gateway.run();
		return gateway;
	}

	/** write writes the configuration. */
	write(configuration) {
		writeFileSync(join(this.folder, 'Caddyfile'), configuration.replace(/\{(\w+)\}/g, (whole, name) => this.values[name] ?? whole));
	}

	/** run starts the process, and waits until it answers. */
	async run() {
		this.process = spawn(program, ['run', '--config', join(this.folder, 'Caddyfile')], { env: this.env, stdio: 'ignore' });
		for (;;) {
			if (await fetch(`${this.base}/readyz`).then((answer) => answer.ok, () => false)) return;
			if (this.process.exitCode !== null) throw new Error(`the gateway ended with ${this.process.exitCode}`);
			await new Promise((done) => setTimeout(done, 50));
		}
	}

	/** reload loads a configuration, with the address of its admin API among the values. */
	reload(configuration) {
		this.write(configuration);
		execFileSync(program, ['reload', '--config', join(this.folder, 'Caddyfile'), '--address', `127.0.0.1:${this.values.admin}`], { env: this.env, stdio: 'ignore' });
	}

	/** kill ends the process at once. */
	async kill() {
		if (this.process.exitCode !== null || this.process.signalCode !== null) return;
		const ended = new Promise((done) => this.process.once('exit', done));
		this.process.kill('SIGKILL');
		await ended;
	}

	/** stop ends the process, and removes its data. */
	async stop() {
		await this.kill();
		rmSync(this.folder, { recursive: true, force: true });
	}
}
