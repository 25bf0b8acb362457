// A browser with the console of the gateway under test, and what the tests have in common.
import { execFileSync } from 'node:child_process';
import { chromium } from 'playwright-core';

export const base = process.env.GATEWAY_URL;
export const root = { username: 'root', password: process.env.CONSOLE_PASSWORD };

const executablePath = execFileSync('sh', ['-c', 'command -v chromium || command -v google-chrome'], { encoding: 'utf8' }).trim();

/** launch starts the browser. */
export const launch = () => chromium.launch({ executablePath, args: ['--no-sandbox'] });

/** open returns a page of a new visitor. Whatever it reports as an error, and whatever the policy of the page refuses, is in problems. */
export async function open(browser, options = {}) {
	const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce', ...options });
	const page = await context.newPage();
	page.setDefaultTimeout(20_000);
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

/** enter opens a page of the console as root. */
export async function enter(page, path = '') {
	await page.goto(`${base}/console/${path}`);
	await logIn(page);
	await page.waitForSelector('h1:not(:text-is("AI gateway"))');
}

/** api calls the API with the session of a page, from outside the browser. */
export async function api(context, method, path, body) {
	const cookie = (await context.cookies()).map((cookie) => `${cookie.name}=${cookie.value}`).join('; ');
	return fetch(base + path, { method, headers: { cookie, ...(body && { 'content-type': 'application/json' }) }, body: body && JSON.stringify(body) });
}

/** ask sends a chat with a key, as a program does. */
export const ask = (key, model = 'demo') => fetch(`${base}/v1/chat/completions`, { method: 'POST', headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' }, body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }) });

/** The pages, and what each shows when its data are there. */
export const pages = {
	connect: 'text=Make a key', playground: 'text=Make a key for this session', keys: 'table', usage: 'svg .bar', exchanges: 'table', models: 'text=Make a key for this session',
	health: 'table', users: 'table', account: 'table',
};
