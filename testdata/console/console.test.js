import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import axe from 'axe-core';
import { api, ask, base, enter, launch, logIn, open, pages, root } from './browser.js';

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

/** makeKey makes a key in the page Keys and returns it. */
async function makeKey(page, name) {
	await page.click('button:text-is("New key")');
	await page.fill('dialog input[name=name]', name);
	await page.click('dialog button:text-is("Create key")');
	const key = await page.textContent('[data-secret]');
	await page.click('button:text-is("I have saved it")');
	return key;
}

test('C001 a newcomer gets from the login to a request that the page shows arriving', async () => {
	const { page, problems } = await open(browser);
	const start = Date.now();
	await enter(page);
	await page.click('text=Make a key');
	await page.selectOption('select[aria-label=Model]', 'demo');
	const snippet = await page.textContent('.code pre');
	const key = await page.textContent('[data-secret]');
	assert.ok(snippet.includes(key) && snippet.includes(base), 'the snippet must have the base URL and the key');
	assert.equal((await ask(key)).status, 200);
	await page.waitForSelector('text=It arrived and was answered');
	const shown = await page.textContent('main');
	assert.match(shown, /Tokens\d+ in, \d+ out/);
	assert.match(shown, /Cost\$0\.\d+/);
	assert.ok(Date.now() - start < 60_000);
	assert.deepEqual(problems, []);
	await page.context().close();
});

test('C002 a wrong password is refused, and a session that ends keeps what was typed', async () => {
	const { context, page, problems } = await open(browser);
	await page.goto(`${base}/console/keys`);
	await logIn(page, { ...root, password: 'not the password' });
	await page.waitForSelector('text=The name or the password is wrong');
	await logIn(page);
	await page.click('button:text-is("New key")');
	await page.fill('dialog input[name=name]', 'typed before the end');

	const other = await open(browser); // a second tab of another browser ends all other sessions
	await enter(other.page, 'account');
	await other.page.click('text=End all others');
	await other.page.waitForSelector('tbody tr:only-child');
	await page.click('dialog button:text-is("Create key")');
	await page.waitForSelector('text=Your session is over');
	await logIn(page);
	await page.waitForSelector('[data-secret]'); // the request went on with what was typed
	const { data } = await (await api(context, 'GET', '/api/token/?keyword=typed')).json();
	assert.equal(data.items[0].name, 'typed before the end');
	await page.click('button:text-is("I have saved it")');
	await page.click('text=Log out');
	await page.waitForSelector('input[name=password]');
	assert.equal((await api(context, 'GET', '/api/user/self')).status, 401);
	assert.deepEqual([...problems, ...other.problems], []);
	await context.close();
	await other.context.close();
});

test('C003 a key is made, used, seen live and in usage, revoked, and then refused', async () => {
	const { page, problems } = await open(browser);
	await enter(page, 'keys');
	const key = await makeKey(page, 'for C003');
	await page.click('nav >> text=Exchanges');
	await page.waitForSelector('.chip.ok:text-is("live")');
	assert.equal((await ask(key)).status, 200);
	await page.waitForSelector('tr.new >> text=answered');
	await page.click('nav >> text=Usage');
	await page.click('text=Requests');
	await page.waitForSelector('tbody >> text=demo');
	await page.click('nav >> text=Keys');
	await page.click('button[aria-label="Revoke for C003"]');
	await page.fill('dialog input', 'for C00');
	assert.ok(await page.isDisabled('dialog button.danger'), 'the whole name must be typed');
	await page.fill('dialog input', 'for C003');
	await page.click('dialog button.danger');
	await page.waitForSelector('dialog', { state: 'detached' });
	assert.equal((await ask(key)).status, 401);
	assert.deepEqual(problems, []);
	await page.context().close();
});

test('C004 the playground shows both sides of the wire, byte for byte, without credentials', async () => {
	const { page, problems } = await open(browser);
	await enter(page, 'playground');
	await page.click('text=Make a key for this session');
	await page.waitForSelector('select[aria-label="Format 1"]');
	await page.fill('textarea[aria-label="Text of turn 1"]', 'What is the weather in Bern? ü 😀');
	const image = { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64') };
	await page.setInputFiles('input[type=file]', image);
	await page.click('button:text-is("weather")');
	const body = async (view) => {
		await page.click(`button:text-is("${view}")`);
		return page.$eval('[data-body]', (element) => element.matches('pre') ? element.textContent : [...element.querySelectorAll('pre')].map((each) => each.textContent).join(''));
	};
	for (const format of ['messages', 'chat', 'completions', 'responses']) {
		for (const model of ['demo', 'messages-only', 'chat-only']) {
			for (const stream of [true, false]) {
				const name = `${format} ${model} ${stream}`;
				await page.selectOption('select[aria-label="Format 1"]', format);
				await page.selectOption('select[aria-label="Model 1"]', model);
				await page.setChecked('input[type=checkbox]', stream);
				const [sent] = await Promise.all([page.waitForRequest((request) => request.url().includes('/v1/') && request.method() === 'POST'), page.click('button:text-is("Send")')]);
				const answer = await sent.response();
				const received = await answer.text();
				await page.waitForSelector('button:text-is("Send")');
				assert.equal(answer.status(), 200, `${name}: ${received}`);
				await page.click('button:text-is("Wire")');
				await page.waitForFunction(async (id) => (await (await fetch(`/api/captures/${id}`)).json()).data.ended, answer.headers()['x-request-id']);
				assert.equal(await body('Client request'), sent.postData(), name);
				assert.equal(await body('Client answer'), received, name);
				const upstream = JSON.parse(await body('Provider request'));
				assert.equal(upstream.model, model, name);
				if ((format === 'messages' && model === 'messages-only') || (format === 'chat' && model === 'chat-only')) {
					assert.equal(await body('Provider request'), sent.postData(), `${name}: one format, the same bytes`);
				}
				assert.ok((await body('Provider answer')).length > 0, name);
				const capture = await page.evaluate(async (id) => (await fetch(`/api/captures/${id}`)).text(), answer.headers()['x-request-id']);
				assert.ok(!/sk-[A-Za-z0-9]{20}|cap_[A-Z0-9]{10}|Bearer/.test(capture), `${name}: a credential in the capture`);
				await page.click('button:text-is("Answer")');
				assert.ok((await page.textContent('[data-answer]')).trim().length > 0, name);
			}
		}
	}
	await page.selectOption('select[aria-label="Format 1"]', 'chat');
	await page.selectOption('select[aria-label="Model 1"]', 'absent');
	await page.click('button:text-is("Send")');
	await page.waitForSelector('[data-answer] [role=alert]');
	await page.waitForSelector('.chip.ill >> text=failed 502');
	assert.deepEqual(problems, []);
	await page.context().close();
});

test('C006 hostile names are texts, and the layout holds', async () => {
	const { context, page, problems } = await open(browser, { viewport: { width: 360, height: 720 } });
	await enter(page, 'keys');
	const names = ['<img src=x onerror=alert(1)>', '"\'><script>alert(1)</script>', '\u05d0\u05d1\u05d2 abc', 'e\u0301\u0301\u0301\u0301\u0301', '😀'.repeat(20), '__proto__', 'x'.repeat(64)];
	for (const name of names) {
		assert.equal((await api(context, 'POST', '/api/token/', { name })).status, 200, name);
	}
	page.on('dialog', () => problems.push('a script of a name ran'));
	await page.reload();
	await page.waitForSelector('tbody tr');
	const shown = await page.$$eval('tbody th bdi', (all) => all.map((each) => each.textContent));
	for (const name of names) assert.ok(shown.includes(name), name);
	assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page must not scroll sideways');
	assert.deepEqual(problems, []);
	await context.close();
});

test('C007 the policy of the pages is kept, and no token is where a script could read it', async () => {
	const { context, page, problems, requests } = await open(browser);
	await enter(page);
	for (const path of Object.keys(pages)) {
		await page.goto(`${base}/console/${path}`);
		await page.waitForSelector(pages[path]);
	}
	assert.deepEqual(problems, []);
	assert.deepEqual([...new Set(requests.map((request) => new URL(request.url()).origin))], [base]);
	assert.equal(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie), '{}');
	const session = (await context.cookies()).find((cookie) => cookie.name === 'session');
	assert.ok(session.httpOnly && session.sameSite === 'Strict');
	for (const request of requests) assert.ok(!request.url().includes(session.value));
	const foreign = await fetch(`${base}/api/token/`, { method: 'POST', headers: { cookie: `session=${session.value}`, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', 'content-type': 'application/json' }, body: '{"name":"stolen"}' });
	assert.equal(foreign.status, 403);
	assert.match((await fetch(`${base}/console/`)).headers.get('content-security-policy'), /frame-ancestors 'none'/);
	await context.close();
});

test('C008 axe finds nothing on any page in either theme, at 1440 and at 360 px', async () => {
	for (const colorScheme of ['light', 'dark']) {
		const { context, page } = await open(browser, { colorScheme });
		await enter(page);
		for (const width of [1440, 360]) {
			await page.setViewportSize({ width, height: 800 });
			for (const path of Object.keys(pages)) {
				await page.goto(`${base}/console/${path}`);
				await page.waitForSelector(pages[path]);
				await page.evaluate(axe.source); // below the policy: it is no script element
				const { violations } = await page.evaluate(() => globalThis.axe.run());
				assert.deepEqual(violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.html).slice(0, 3).join(' ')}`), [], `${path}, ${colorScheme}, ${width}`);
				assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${path} scrolls sideways at ${width}`);
			}
		}
		await context.close();
	}
});

test('C008 a key is made and revoked by the keyboard alone', async () => {
	const { page } = await open(browser);
	await enter(page, 'account');
	await page.keyboard.press('g');
	await page.keyboard.press('k');
	await page.waitForSelector('h1:text-is("Keys")');
	await page.keyboard.press('/');
	assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('type')), 'search');
	await page.focus('button:text-is("New key")');
	await page.keyboard.press('Enter');
	await page.waitForSelector('dialog');
	await page.keyboard.type('by keyboard');
	await page.keyboard.press('Enter');
	await page.waitForSelector('[data-secret]');
	await page.focus('button:text-is("I have saved it")');
	await page.keyboard.press('Enter');
	await page.focus('button[aria-label="Revoke by keyboard"]');
	await page.keyboard.press('Enter');
	await page.waitForSelector('dialog');
	await page.keyboard.type('by keyboard');
	await page.keyboard.press('Enter');
	await page.waitForSelector('button[aria-label="Revoke by keyboard"]', { state: 'detached' });
	await page.context().close();
});

test('C010 each request of each page is in the OpenAPI document, and answers the same without a browser', async () => {
	const document = JSON.parse(readFileSync(new URL('../../module/accounts/openapi.json', import.meta.url), 'utf8'));
	const known = Object.entries(document.paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => new RegExp(`^${method.toUpperCase()} ${path.replace(/\/$/, '/?').replace(/\{[^}]+\}/g, '[^/]+')}$`)));
	const { context, page, requests } = await open(browser);
	await enter(page);
	for (const path of Object.keys(pages)) {
		await page.goto(`${base}/console/${path}`);
		await page.waitForSelector(pages[path]);
	}
	const asked = requests.filter((request) => !new URL(request.url()).pathname.startsWith('/console/'));
	assert.ok(asked.length > 10);
	for (const request of asked) {
		const { pathname, search } = new URL(request.url());
		assert.ok(known.some((each) => each.test(`${request.method()} ${pathname}`)), `${request.method()} ${pathname}`);
		const answer = await request.response().catch(() => null);
		if (request.method() === 'GET' && answer && !pathname.endsWith('/live')) {
			const self = pathname === '/api/user/self' && answer.status() === 401; // before the login
			if (!self) assert.equal((await api(context, 'GET', pathname + search)).status, answer.status(), pathname);
		}
	}
	await context.close();
});

test('C011 a part that fails says so, and a gateway that is away is tried again', async () => {
	const { page, problems } = await open(browser);
	await enter(page, 'account');
	await page.route('**/api/targets', (route) => route.fulfill({ status: 503, headers: { 'retry-after': '1' }, contentType: 'application/json', body: '{"success":false,"message":"The store cannot be reached.","data":null}' }));
	await page.goto(`${base}/console/health`);
	await page.waitForSelector('[role=alert] >> text=The store cannot be reached.');
	await page.waitForSelector('text=ready'); // the other parts are there
	await page.unroute('**/api/targets');
	await page.waitForSelector('table >> text=demo/demo'); // by itself
	await page.route('**/api/users**', (route) => route.abort());
	await page.route('**/api/user/?**', (route) => route.abort());
	await page.click('nav >> text=Users');
	await page.waitForSelector('text=The gateway has not answered since');
	await page.unroute('**/api/user/?**');
	await page.waitForSelector('table >> text=root');
	await page.waitForSelector('text=The gateway has not answered since', { state: 'detached' });
	assert.deepEqual(problems, []);
	await page.context().close();
});
