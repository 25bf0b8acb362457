import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { api, ask, base, enter, launch, logIn, open, pages, root, show, until, visit } from './browser.js';

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
	page.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()); }); // the first load once logged a 401
	await enter(page);
	await page.click('button:text-is("Make a key")');
	await page.selectOption('select[aria-label=Model]', 'demo');
	const snippet = await page.textContent('.code pre');
	const key = await page.textContent('[data-secret]');
	assert.ok(snippet.includes(key) && snippet.includes(base), 'the snippet must have the base URL and the key');
	assert.equal((await ask(key)).status, 200);
	await page.waitForSelector('text=It arrived and was answered');
	const shown = await page.textContent('main');
	assert.match(shown, /Tokens\d+ in, \d+ out/);
	assert.match(shown, /Cost\$0\.\d+/);
	assert.deepEqual(problems, []);
	await page.context().close();
});

test('C002 a wrong password is refused, and a session that ends keeps what was typed', async () => {
	const admin = await open(browser);
	await enter(admin.page);
	const user = { username: 'second', password: 'of the second' };
	assert.equal((await api(admin.context, 'POST', '/api/v1/users', user)).status, 200);
	await admin.context.close();
	const { context, page, problems } = await open(browser);
	await page.goto(`${base}/console/keys`);
	await logIn(page, { ...user, password: 'not the password' });
	await page.waitForSelector('text=The name or the password is wrong');
	await logIn(page, user);
	await page.click('button:text-is("New key")');
	await page.fill('dialog input[name=name]', 'typed before the end');

	const other = await open(browser); // a second tab of another browser ends all other sessions
	await enter(other.page, 'account', { user });
	await other.page.click('text=End all others');
	await other.page.waitForSelector('tbody tr:only-child');
	await page.click('dialog button:text-is("Create key")');
	await page.waitForSelector('text=Your session is over');
	await logIn(page, user);
	await page.waitForSelector('[data-secret]'); // the request went on with what was typed
	const data = await (await api(context, 'GET', '/api/v1/keys?search=typed')).json();
	assert.equal(data.items[0].name, 'typed before the end');
	await page.click('button:text-is("I have saved it")');
	await page.click('text=Log out');
	await page.waitForSelector('input[name=password]');
	assert.equal((await api(context, 'GET', '/api/v1/users/root')).status, 401);
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

test('C003 a key made for the session is revoked when the page is loaded again, and one of the user stays', async () => {
	const { context, page } = await open(browser);
	await enter(page, 'connect');
	// The test took the newest key of that name for its own: it may be that of a test which runs at the same time.
	const made = async (button) => {
		const [answer] = await Promise.all([page.waitForResponse((answer) => answer.request().method() === 'POST' && answer.url().endsWith('/api/v1/keys')), page.click(button)]);
		return (await answer.json()).id;
	};
	const theirs = await made('button:text-is("Make a key")');
	await page.waitForSelector('[data-secret]');
	await page.click('text=Another key'); // forgotten by the page alone
	await show(page, 'models');
	const ours = await made('text=Make a key for this session');
	await page.waitForSelector('table >> text=demo');
	await page.reload();
	await page.waitForSelector('text=Make a key for this session');
	await until(async () => (await api(context, 'GET', `/api/v1/keys/${ours}`)).status === 404);
	assert.equal((await api(context, 'GET', `/api/v1/keys/${theirs}`)).status, 200, 'the key of the user stays');
	await context.close();
});

test('C006 hostile names are texts, and the layout holds', async () => {
	const { context, page, problems } = await open(browser, { viewport: { width: 360, height: 720 } });
	page.on('dialog', () => problems.push('a script of a name ran'));
	await enter(page, 'account');
	const names = ['<img src=x onerror=alert(1)>', '"\'><script>alert(1)</script>', '\u05d0\u05d1\u05d2 abc', 'e\u0301\u0301\u0301\u0301\u0301', '😀'.repeat(16), '__proto__', 'constructor', 'x'.repeat(64)];
	for (const [i, name] of names.entries()) {
		assert.equal((await api(context, 'POST', '/api/v1/keys', { name })).status, 200, name);
		assert.equal((await api(context, 'POST', '/api/v1/users', { username: `hostile-${i}-${process.pid}`, display_name: name, password: 'long enough' })).status, 200, name);
		await ask(process.env.GATEWAY_KEY, `played-${name}`); // nobody plays the provider here: it fails
		await ask(process.env.GATEWAY_KEY, name);
	}
	const shows = async (path, wanted) => {
		await show(page, path);
		await page.waitForFunction((all) => { const texts = new Set([...document.querySelectorAll('main bdi')].map((each) => each.textContent)); return all.every((name) => texts.has(name)); }, wanted);
		assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${path} must not scroll sideways`);
	};
	await shows('keys', names);
	await shows(`users?q=-${process.pid}`, names);
	await shows('exchanges', names.map((name) => `played-${name}`));
	await shows('usage?show=requests', names.map((name) => `played-${name}`));
	await shows(`usage?user=${encodeURIComponent(names[0])}`, []);
	await shows(`configuration?name=${encodeURIComponent(names[1])}`, []);
	await shows('health', ['played']);
	await page.route('**/api/v1/records/1', async (route) => { // names that no client can choose
		const record = { id: '1', at: new Date().toISOString(), request: names[0], key: names[1], user: names[2], limit: names[3], model: names[4], operation: names[5], format: 'chat', stream: true, status: 200, outcome: names[7], first_byte_ms: 1, duration_ms: 2, calls: [], losses: names, answer_losses: names, unchecked: names, customer: names[6], tags: names.map((name) => ({ name, value: name })), attempts: names.map((name) => ({ provider: name, upstream_model: name, format: name, end: name, status: 0, duration_ms: 1, repeated: true })) };
		await route.fulfill({ json: record });
	});
	await shows('exchanges/1', [...names.slice(2, 5), names[6], ...names.map((name) => `${name}=${name}`), ...names.map((name) => `${name}/${name}`)]);
	assert.deepEqual(problems, []);
	await context.close();
});

// Which target is asked first, and why, was in a command alone; arms and mirrors were nowhere side by side.
test('the page of a model shows its order, how its targets and its mirror have answered, and its rules', async () => {
	for (let i = 0; i < 12; i++) assert.equal((await ask(process.env.GATEWAY_KEY, 'split', base, { 'x-customer': `c${i}` })).status, 200);
	const { context, page, problems } = await open(browser);
	await enter(page, 'models/split');
	const order = page.locator('[aria-label=Order] tbody tr');
	await order.nth(1).waitFor();
	assert.deepEqual((await order.locator('td, th').allInnerTexts()).filter((text) => text.includes(' of ')).sort(), ['1 of 4', '3 of 4']);
	await until(async () => { // the records come within a second or two
		await page.reload();
		const rows = page.locator('[aria-label=Targets] tbody tr');
		await rows.first().waitFor();
		const texts = await rows.allInnerTexts();
		return texts.length === 3 && /conversing\/messages-only\s+mirror[^]*\$/.test(texts[2]) && /0 %/.test(texts[2]) && /demo\/demo/.test(texts.join());
	});
	await page.waitForSelector('dd:text-is("customer")');
	await page.waitForSelector('dd:text-is("conversing/messages-only 100%")');
	await page.click('button:text-is("7 days")');
	assert.match(page.url(), /range=7d/);
	await page.click('a:text-is("Whole block")');
	await page.waitForSelector('article >> text=split_by');
	await show(page, 'models/no-such-model');
	await page.waitForSelector('h1:text-is("no-such-model")');
	assert.deepEqual(problems, []);
	await context.close();
});

test('C006 hostile links show a page, whatever they ask for', async () => {
	const { context, page, problems } = await open(browser);
	await page.goto(`${base}/console/?signin=constructor`);
	await enter(page, '?signin=__proto__');
	for (const [link, heading] of [
		['keys?of=constructor', 'Keys'], ['usage?show=constructor&by=__proto__&step=x&range=toString', 'Usage'], ['usage?range=custom&from=x&to=-1', 'Usage'], ['configuration?part=constructor', 'Configuration'],
		['exchanges/%E0%A4%A', 'Exchange'], ['exchanges?after=x&status=y', 'Exchanges'], ['users?p=-1', 'Users'], ['teams?p=x', 'Teams'], ['teams/constructor', 'constructor'], ['audit?after=x&from=y', 'Audit'], ['usage?by=tag:__proto__&tag=constructor', 'Usage'], ['keys?of=all&team=__proto__', 'Keys'], ['models?p=x', 'Models'], ['constructor', 'No such page'],
	]) {
		await show(page, link);
		await page.waitForSelector(`h1:text-is("${heading}")`);
	}
	await show(page, 'models');
	await page.click('text=Make a key for this session');
	for (const request of ['{"lanes":[{"format":"constructor","model":"demo"}]}', '{"lanes":[],"turns":5}', '{"turns":[null]}', '{', '{"tools":7}']) {
		await show(page, 'account');
		await show(page, `playground?request=${encodeURIComponent(request)}`);
		await page.waitForSelector('textarea[aria-label="Text of turn 1"]');
	}
	assert.deepEqual(problems, []);
	await context.close();
});

test('C007 the policy of the pages is kept, and no token is where a script could read it', async () => {
	const { context, page, problems, requests } = await open(browser);
	await enter(page);
	for (const path of Object.keys(pages)) await visit(page, path);
	assert.deepEqual(problems, []);
	assert.deepEqual([...new Set(requests.map((request) => new URL(request.url()).origin))], [base]);
	assert.equal(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie), '{}');
	const session = (await context.cookies()).find((cookie) => cookie.name === 'session');
	assert.ok(session.httpOnly && session.sameSite === 'Strict');
	for (const request of requests) assert.ok(!request.url().includes(session.value));
	const foreign = await fetch(`${base}/api/v1/keys`, { method: 'POST', headers: { cookie: `session=${session.value}`, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', 'content-type': 'application/json' }, body: '{"name":"stolen"}' });
	assert.equal(foreign.status, 403);
	assert.match((await fetch(`${base}/console/`)).headers.get('content-security-policy'), /frame-ancestors 'none'/);
	await context.close();
});

test('C008 a key is made and revoked by the keyboard alone', async () => {
	const { page } = await open(browser);
	await enter(page, 'account');
	await Promise.all([page.keyboard.press('g'), page.keyboard.press('k')]); // the second counts for 1.5 seconds: do not wait between them
	await page.waitForSelector('h1:text-is("Keys"):focus'); // a page takes the focus a moment after it is shown, and took it from the search
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

test('C008 a newcomer gets to the first request by the keyboard alone', async () => {
	const { page } = await open(browser);
	await page.goto(`${base}/console/`);
	await page.waitForSelector('input[name=username]:focus');
	for (const text of [root.username, root.password]) {
		await page.keyboard.type(text);
		await page.keyboard.press(text === root.password ? 'Enter' : 'Tab');
	}
	await page.waitForSelector('h1:text-is("Connect"):focus'); // not only shown: the steps are counted from the heading
	const reach = async (name, most) => {
		for (let step = 0; step < most; step++) {
			await page.keyboard.press('Tab');
			if (await page.evaluate(() => document.activeElement?.textContent?.trim()) === name) return page.keyboard.press('Enter');
		}
		assert.fail(`${name} is further away than ${most} steps`);
	};
	await reach('Make a key', 4); // behind the heading, which has the focus
	await page.waitForSelector('button:text-is("Send it from here")');
	await reach('Send it from here', 40);
	await page.waitForSelector('text=It arrived');
	await page.context().close();
});

test('C010 each request of each page is in the OpenAPI document, and answers the same without a browser', async () => {
	const document = JSON.parse(readFileSync(new URL('../../module/accounts/openapi.json', import.meta.url), 'utf8'));
	const known = Object.entries(document.paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => new RegExp(`^${method.toUpperCase()} ${path.replace(/\/$/, '/?').replace(/\{[^}]+\}/g, '[^/]+')}$`)));
	const { context, page, requests } = await open(browser);
	await enter(page);
	for (const path of Object.keys(pages)) await visit(page, path);
	const asked = requests.filter((request) => !new URL(request.url()).pathname.startsWith('/console/'));
	assert.ok(asked.length > 10);
	for (const request of asked) {
		const { pathname, search } = new URL(request.url());
		assert.ok(known.some((each) => each.test(`${request.method()} ${pathname}`)), `${request.method()} ${pathname}`);
		const answer = await request.response().catch(() => null);
		if (request.method() === 'GET' && answer && !pathname.endsWith('/live')) {
			const key = request.headers().authorization; // of what needs a key in place of a session
			if (!key) assert.equal((await api(context, 'GET', pathname + search)).status, answer.status(), pathname);
		}
	}
	await context.close();
});

test('C011 a part that fails says so, and a gateway that is away is tried again', async () => {
	const { page, problems } = await open(browser);
	await enter(page, 'account');
	await page.route('**/api/v1/targets?**', (route) => route.fulfill({ status: 503, headers: { 'retry-after': '1' }, contentType: 'application/problem+json', body: '{"detail":"The store cannot be reached."}' }));
	await page.goto(`${base}/console/health`);
	await page.waitForSelector('[role=alert] >> text=The store cannot be reached.');
	await page.waitForSelector('text=ready'); // the other parts are there
	await page.unroute('**/api/v1/targets?**');
	await page.waitForSelector('table >> text=demo/demo'); // by itself
	await page.route('**/api/v1/users?**', (route) => route.abort());
	await page.click('nav >> text=Users');
	await page.waitForSelector('text=The gateway has not answered since');
	await page.unroute('**/api/v1/users?**');
	await page.waitForSelector('table >> text=root');
	await page.waitForSelector('text=The gateway has not answered since', { state: 'detached' });
	assert.deepEqual(problems, []);
	await page.context().close();
});
