import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import axe from 'axe-core';
import { admin, ask, base, enter, launch, open, pages, show, visit } from './browser.js';

// Where the pictures are put; the continuous tests keep the folder.
const folder = process.env.CONSOLE_PICTURES ?? join(import.meta.dirname, 'pictures');
const widths = [1400, 800, 390];

let browser;
before(async () => {
	browser = await launch();
	mkdirSync(folder, { recursive: true });
	for (const model of ['demo', 'messages-only', 'chat-only', 'absent', 'many-007', 'assistant', 'split']) await ask(process.env.GATEWAY_KEY, model, base, { 'x-gateway-tags': 'team=search, env=prod', 'x-customer': 'acme' });
	const call = await admin();
	await call('POST', '/api/v1/teams', { name: 'research', models: ['claude-*', 'demo'], budget: '500/month', requests: '120/1m' });
	for (const [username, leads] of [['ada', true], ['grace', false]]) {
		await call('POST', '/api/v1/users', { username, password: 'long enough' });
		await call('PUT', `/api/v1/teams/research/members/${username}`, { admin: leads });
	}
	for (const user of ['ada', 'root']) await call('POST', '/api/v1/keys', { user, name: 'laptop', limit: user === 'ada' ? 'research' : 'daily' });
});
after(() => browser.close());

/** The pictures: what each shows, and how the page gets there from the picture before. */
const pictures = Object.entries(pages).map(([path, ready]) => [path.replace(/\?.*=/, '-'), (page) => visit(page, path).then(() => page.waitForSelector(ready))]).concat([
	['team', async (page) => { await show(page, 'teams/research'); await page.waitForSelector('table >> text=grace'); await page.waitForSelector('table >> text=budget'); }],
	['key', async (page) => { await show(page, 'keys?q=laptop'); await page.click('a:has-text("laptop")'); await page.waitForSelector('dt:text-is("Own rules")'); await page.waitForSelector('main table'); }],
	['key-form', async (page) => { await page.click('button:text-is("Change")'); await page.waitForSelector('dialog select[name=limit] optgroup', { state: 'attached' }); }],
	['person', async (page) => { await page.keyboard.press('Escape'); await show(page, 'users/root'); await page.waitForSelector('table >> text=laptop'); }],
	['exchange', async (page) => { await show(page, 'exchanges?model=assistant'); await page.click('tbody tr >> nth=0 >> th a'); await page.waitForSelector('h2:text-is("Request")'); }],
	['minutes', async (page) => { await visit(page, 'health'); await page.click('button[aria-label="Minutes of demo"]'); await page.waitForSelector('dialog table'); }],
	['connected', async (page) => { await page.keyboard.press('Escape'); await show(page, 'connect'); await page.click('button:text-is("Make a key")'); await page.click('button:text-is("Send it from here")'); await page.waitForSelector('text=It arrived and was answered'); }],
	['models-list', async (page) => { await show(page, 'models'); await page.waitForSelector('table >> text=demo'); await page.waitForSelector('table >> text=own'); }],
	['model', async (page) => { await show(page, 'models/split'); await page.waitForSelector('[aria-label=Order] tbody tr'); await page.waitForSelector('[aria-label=Targets] tbody tr'); await page.waitForSelector('dd:text-is("customer")'); }],
	['playground-wire', async (page) => { await show(page, 'playground'); await page.click('button:text-is("weather")'); await page.fill('input[aria-label="Model 1"]', 'messages-only'); await page.click('button:text-is("Send")'); await page.click('button:text-is("Wire")'); await page.click('button:text-is("Provider answer")'); await page.waitForSelector('.events li'); }],
	// The answer is behind the tab that the picture before has left.
	['playground-tools', async (page) => { await show(page, 'playground'); await page.click('button:text-is("weather")'); await page.fill('textarea[aria-label="Text of turn 1"]', 'Call get_weather for Bern.'); await page.fill('input[aria-label="Model 1"]', 'demo'); await page.click('button:text-is("Send")'); await page.click('button:text-is("Answer")'); await page.click('button:text-is("Type results")'); await page.waitForSelector('text=Result of get_weather'); }],
	['playground-saved', async (page) => { await show(page, 'playground'); await page.click('button:text-is("Saved and sent")'); await page.waitForSelector('[aria-label=Sent]'); }],
	['configuration-check', async (page) => { await page.keyboard.press('Escape'); await show(page, 'configuration?part=check'); await page.selectOption('select', 'demo'); await page.click('button.primary:text-is("Check")'); await page.waitForFunction(() => document.querySelectorAll('td .chip.ok').length >= 14); }],
]);

/** faults returns what axe finds, and whether the page scrolls sideways. */
async function faults(page) {
	if (!await page.evaluate(() => 'axe' in globalThis)) await page.evaluate(axe.source); // below the policy: it is no script element
	const { violations } = await page.evaluate(() => globalThis.axe.run({ resultTypes: ['violations'] }));
	const found = violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.html).slice(0, 3).join(' ')}`);
	if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) found.push('scrolls sideways');
	return found;
}

test('C008C009 axe finds nothing on any page in either theme, none scrolls sideways, and each has its pictures', async () => {
	const found = {};
	await Promise.all(['light', 'dark'].map(async (colorScheme) => {
		const { context, page, problems } = await open(browser, { colorScheme });
		const take = async (name) => {
			await page.mouse.move(0, 0); // nothing is pointed at
			for (const width of widths) {
				await page.setViewportSize({ width, height: 900 });
				const wide = await page.evaluate(() => [...document.querySelectorAll('.scroll')].filter((part) => part.scrollWidth > part.clientWidth).map((part) => part.ariaLabel));
				if (width === 1400 && wide.length > 0) found[`${name}, ${colorScheme}`] = `tables wider than the window: ${wide}`;
				if (width === 1400 || width === 390 && colorScheme === 'light') { // the colours of a theme are those of all widths
					const faulty = await faults(page);
					if (faulty.length > 0) found[`${name}, ${colorScheme}, ${width}`] = faulty;
				}
				assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} scrolls sideways at ${width}`);
				await page.screenshot({ path: join(folder, `${name}-${colorScheme}-${width}.png`), fullPage: true });
			}
			await page.setViewportSize({ width: 1400, height: 900 });
		};
		await page.goto(`${base}/console/`);
		await page.waitForSelector('input[name=password]');
		await take('login');
		await enter(page);
		for (const [name, lead] of pictures) {
			await lead(page);
			await take(name);
		}
		assert.deepEqual(problems, []);
		await context.close();
	}));
	assert.deepEqual(found, {});
});

test('C008 nothing scrolls sideways at 200 % of a narrow window, and a menu leads to the pages', async () => {
	const { context, page } = await open(browser, { viewport: { width: 640, height: 800 }, deviceScaleFactor: 2 });
	await enter(page, 'usage');
	await page.click('button:has-text("Pages")');
	await page.click('nav >> text=Health');
	await page.waitForSelector('h1:text-is("Health")');
	assert.equal(await page.isVisible('nav'), false, 'the menu closes');
	await context.close();
});

// Actions at the end of a row were out of view in a narrow window, and the order of the focus was looked at by nobody.
test('C008 every action of a page is in view at 390 px, and gets the focus in the order of the page', async () => {
	const { context, page } = await open(browser, { viewport: { width: 390, height: 844 } });
	await enter(page);
	for (const path of Object.keys(pages)) {
		await visit(page, path);
		const actions = await page.evaluate(() => {
			const all = [...document.querySelectorAll('main :is(button, a[href], input, select, textarea, summary):not(:disabled)')].filter((each) => each.checkVisibility() && !each.matches('.sr'));
			all.forEach((each, n) => { each.dataset.action = n; });
			return all.map((each) => { const { left, right } = each.getBoundingClientRect(); return { name: each.outerHTML.slice(0, 120), inside: left >= -1 && right <= innerWidth + 1, scrolls: each.closest('.seg, .code') !== null }; });
		});
		assert.deepEqual(actions.filter((each) => !each.inside && !each.scrolls), [], `${path}: out of view`);
		await page.focus('h1');
		const focused = [];
		for (let turn = 0; turn < Math.min(actions.length, 40); turn++) {
			await page.keyboard.press('Tab');
			const n = await page.evaluate(() => document.activeElement?.closest('main') ? document.activeElement.dataset.action ?? '-' : '');
			if (n === '') break;
			if (n !== '-') focused.push(Number(n));
		}
		assert.deepEqual(focused, [...focused].sort((a, b) => a - b), `${path}: the order of the focus`);
		assert.ok(focused.length > 0 || actions.length === 0, `${path}: nothing gets the focus`);
	}
	await context.close();
});

test('C008 axe finds nothing on the pages for users in either theme, at two widths', async () => {
	const found = {};
	for (const colorScheme of ['light', 'dark']) {
		const { context, page } = await open(browser, { colorScheme });
		for (const name of ['', 'reference.html', 'limits.html', 'console.html', 'commands.html']) {
			await page.goto(`${base}/console/docs/${name}`);
			for (const width of [1440, 390]) {
				await page.setViewportSize({ width, height: 844 });
				const faulty = await faults(page);
				if (faulty.length > 0) found[`${name}, ${colorScheme}, ${width}`] = faulty;
			}
		}
		await context.close();
	}
	assert.deepEqual(found, {});
});

test('C012 how soon the first page is painted on a slow phone, which is reported', async (t) => {
	const { context, page } = await open(browser, { viewport: { width: 360, height: 720 } });
	const session = await context.newCDPSession(page);
	await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
	await session.send('Network.enable');
	await session.send('Network.emulateNetworkConditions', { offline: false, latency: 40, downloadThroughput: 1_250_000, uploadThroughput: 625_000 });
	await page.goto(`${base}/console/`);
	await page.waitForSelector('input[name=password]');
	// The entry may come after the input is there: the test once read it at once.
	const painted = await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime).then((entry) => entry.jsonValue());
	assert.ok(painted > 0);
	t.diagnostic(`first paint after ${Math.round(painted)} ms, with a fourth of this processor and 10 Mbit/s`);
	await context.close();
});
