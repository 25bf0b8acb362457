// Teams, tags and the audit log: who sees what, and what each can do.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { admin, api, ask, base, enter, launch, open, show, until } from './browser.js';

let browser, call;
before(async () => { [browser, call] = await Promise.all([launch(), admin()]); });
after(() => browser.close());

/** person makes a user. */
async function person(username, role = 'user') {
	const user = { username, password: `password of ${username}` };
	await call('POST', '/api/v1/users', { ...user, role });
	return user;
}

/** linked returns the pages that the frame offers. */
const linked = (page) => page.locator('nav li a').evaluateAll((links) => links.map((link) => link.firstChild.textContent));

/** status returns the status of a request with the session of a page. */
const status = async (context, method, path, body) => (await api(context, method, path, body)).status;

test('C013 a team is made, led and deleted in the console, and each role sees its part', async () => {
	const lead = await person('team-lead'), member = await person('team-member');
	const { context, page, problems } = await open(browser);
	await enter(page, 'account');

	// By the keyboard alone; what is not valid is refused with the reason, and stays.
	await Promise.all([page.keyboard.press('g'), page.keyboard.press('t')]);
	await page.waitForSelector('h1:text-is("Teams"):focus');
	await page.focus('button:text-is("New team")');
	await page.keyboard.press('Enter');
	await page.waitForSelector('dialog input[name=name]:focus');
	await page.keyboard.type('led');
	await page.focus('dialog input[name=budget]');
	await page.keyboard.type('much');
	await page.keyboard.press('Enter');
	await page.waitForSelector('dialog [role=alert] >> text=Budget must be an amount and a period');
	await page.fill('dialog input[name=budget]', '50/month');
	await page.focus('dialog input[name=requests]');
	await page.keyboard.type('1000/1m');
	await page.keyboard.press('Enter');
	await page.waitForSelector('h1:text-is("led")');
	await page.waitForSelector('text=No member yet');
	await page.waitForSelector('text=All of it: the team has no key yet.');
	await page.click('button:text-is("Add member")');
	await page.fill('dialog input[name=user]', 'nobody-of-this-name');
	await page.click('dialog button:text-is("Add member")');
	await page.waitForSelector('dialog [role=alert]');
	await page.fill('dialog input[name=user]', lead.username);
	await page.check('dialog input[name=admin]');
	await page.click('dialog button:text-is("Add member")');
	await page.waitForSelector('tr:has-text("team-lead") >> text=administrator');

	// Who administrates the team sees it, and neither users nor the audit log.
	const led = await open(browser);
	await enter(led.page, 'teams', { user: lead });
	await led.page.waitForSelector('nav >> text=Teams');
	assert.deepEqual((await linked(led.page)).filter((name) => ['Teams', 'Users', 'Audit', 'Health'].includes(name)), ['Teams']);
	assert.equal(await led.page.locator('button:text-is("New team")').count(), 0);
	await led.page.click('table >> text=led');
	await led.page.click('button:text-is("Add member")');
	await led.page.fill('dialog input[name=user]', member.username);
	const other = await open(browser);
	await enter(other.page, 'account', { user: member });
	assert.ok(!(await linked(other.page)).includes('Teams'));
	await led.page.keyboard.press('Enter');
	await led.page.waitForSelector('tr:has-text("team-member")');
	// Who was added saw the page of the team only after the browser had loaded the console anew.
	await other.page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
	await other.page.waitForSelector('nav >> text=Teams');
	assert.equal(await led.page.locator('button:text-is("Change")').count(), 0);
	assert.equal(await status(led.context, 'PATCH', '/api/v1/teams/led', { budget: '' }), 403);
	await led.page.click('.head >> text=Keys');
	await led.page.click('button:text-is("New key")');
	await led.page.fill('dialog input[name=user]', member.username);
	await led.page.fill('dialog input[name=name]', 'of the team');
	await led.page.click('dialog button:text-is("Create key")');
	const key = await led.page.textContent('[data-secret]');
	await led.page.click('button:text-is("I have saved it")');
	await led.page.waitForSelector('tr:has-text("of the team") >> text=led');
	assert.equal((await ask(key)).status, 200);
	await show(led.page, 'exchanges?team=led');
	await led.page.click('tr:has-text("team-member") >> th a');
	await led.page.waitForSelector('h2:text-is("Limits of the team")');
	await led.page.waitForSelector('main >> text=team-member');
	await show(led.page, 'usage?team=led&by=user');
	await led.page.waitForSelector('tbody >> text=team-member');

	// A member sees the team, and makes keys of it.
	await other.page.click('nav >> text=Teams');
	await other.page.click('table >> text=led');
	await other.page.waitForSelector('text=You are a member of this team');
	assert.equal(await other.page.locator('h2:text-is("Members")').count(), 0);
	assert.equal(await status(other.context, 'GET', '/api/v1/teams/led/members'), 403);
	await show(other.page, 'keys');
	await other.page.click('button:text-is("New key")');
	await other.page.fill('dialog input[name=name]', 'mine');
	await other.page.selectOption('dialog select[name=limit]', 'led');
	await other.page.click('dialog button:text-is("Create key")');
	await other.page.click('button:text-is("I have saved it")');
	await other.page.waitForSelector('tr:has-text("mine") >> text=led');

	// Whoever has keys of the team leaves it with them.
	await show(led.page, 'teams/led');
	await led.page.waitForSelector('text=/of \\$50.00/');
	await led.page.click('button[aria-label="Remove team-member"]');
	await led.page.fill('dialog input:not([type=checkbox])', 'team-member');
	await led.page.click('dialog button.danger');
	await led.page.waitForSelector('dialog [role=alert]');
	await led.page.check('dialog input[name=keys]');
	await led.page.click('dialog button.danger');
	await led.page.waitForSelector('tr:has-text("team-member")', { state: 'detached' });
	assert.equal((await ask(key)).status, 401);

	// To others, the team does not exist.
	await show(other.page, 'account');
	await other.page.waitForSelector('nav >> text=Teams', { state: 'detached' });
	await show(other.page, 'teams');
	await other.page.waitForSelector('h1:text-is("No such page")');
	assert.equal(await status(other.context, 'GET', '/api/v1/teams/led'), 404);
	assert.equal(await status(other.context, 'POST', '/api/v1/teams', { name: 'theirs' }), 403);

	// A part that fails says so; one that is slow has its place.
	await page.route('**/api/v1/teams/led/members?**', (route) => route.fulfill({ status: 503, headers: { 'retry-after': '1' }, json: { detail: 'The store cannot be reached.' } }));
	await show(page, 'teams');
	await page.click('table >> text=led');
	await page.waitForSelector('[role=alert] >> text=The store cannot be reached.');
	await page.waitForSelector('text=All of it'); // the other parts are there
	await page.unroute('**/api/v1/teams/led/members?**');
	await page.waitForSelector('tr:has-text("team-lead")'); // by itself
	await page.click('.head >> text=Delete');
	await page.fill('dialog input:not([type=checkbox])', 'led');
	await page.click('dialog button.danger');
	await page.waitForSelector('h1:text-is("Teams")');
	assert.equal(await status(context, 'GET', '/api/v1/teams/led'), 404);
	assert.deepEqual([...problems, ...led.problems, ...other.problems], []);
	await Promise.all([context, led.context, other.context].map((each) => each.close()));
});

test('C014 usage is shown by the tags and the customers that requests have, and exchanges by their values', async () => {
	const tagging = await person('tagging');
	const { key } = await call('POST', '/api/v1/keys', { user: tagging.username, name: 'tagging' });
	assert.equal((await ask(key)).status, 200);
	const { context, page, problems } = await open(browser);
	await enter(page, 'usage?show=requests', { user: tagging });
	await page.waitForSelector('tbody >> text=demo');
	const choices = () => page.locator('select[aria-label=By] option').allTextContents();
	assert.ok(!(await choices()).some((name) => /Tag|Customer/.test(name)), 'nothing is tagged');
	for (const [tags, customer] of [['team=search, env=prod', 'acme'], ['team=search', 'umbrella'], ['team=ads', '']]) assert.equal((await ask(key, 'demo', base, { 'x-gateway-tags': tags, ...(customer && { 'x-customer': customer }) })).status, 200);
	await show(page, 'account');
	await until(async () => (await (await api(context, 'GET', '/api/v1/usage?by=label')).json()).items.some((sum) => sum.label === 'tag:team' && sum.requests === 3));
	await show(page, 'usage?show=requests');
	await page.waitForSelector('select[aria-label=By] option:text-is("Tag team")', { state: 'attached' });
	assert.deepEqual((await choices()).filter((name) => /Tag|Customer/.test(name)), ['Customer', 'Tag env', 'Tag team']);
	await page.selectOption('select[aria-label=By]', 'tag:team');
	await page.waitForSelector('tbody tr:has-text("search") >> text=2');
	await page.waitForSelector('tbody tr:has-text("ads") >> text=1');
	assert.match(await page.textContent('.facts'), /Requests4/, 'the facts are those of all requests');
	await page.waitForSelector('text=Requests without the tag are left out');
	await page.click('.legend button:has-text("search")');
	await page.waitForSelector('button:has-text("tag: team=search")');
	await page.waitForSelector('tfoot >> text=2');
	assert.ok(!(await choices()).includes('Customer'), 'a query has one label');
	await show(page, 'usage?show=requests&by=customer');
	await page.waitForSelector('tbody >> text=umbrella');
	await show(page, 'exchanges?tag=team%3Dsearch');
	await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 2);
	await show(page, 'exchanges?customer=acme');
	await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
	await page.click('tbody a');
	await page.waitForSelector('dd >> text=env=prod');
	await page.waitForSelector('dd >> text=acme');
	assert.equal(await status(context, 'GET', '/api/v1/usage?by=label&user=root'), 403, 'labels of others');
	assert.equal(await status(context, 'GET', '/api/v1/configuration'), 403);
	await show(page, 'configuration?part=tags');
	await page.waitForSelector('h1:text-is("No such page")');
	assert.deepEqual(problems, []);
	await context.close();
});

test('C015 root reads the audit log, filtered and page by page, and nobody else does', async () => {
	const { context, page, problems } = await open(browser);
	await enter(page, 'account');
	for (let n = 0; n < 30; n++) {
		const { id } = await call('POST', '/api/v1/keys', { user: 'root', name: `audited ${n}` });
		await call('DELETE', `/api/v1/keys/${id}`);
	}
	await Promise.all([page.keyboard.press('g'), page.keyboard.press('d')]);
	await page.waitForSelector('tbody tr:has-text("key.delete")');
	await page.click('button:text-is("Filter")');
	await page.fill('input[name=action]', 'key.create');
	await page.fill('input[name=actor]', 'user/root');
	await page.keyboard.press('Enter');
	await page.waitForFunction(() => { const rows = [...document.querySelectorAll('tbody tr')]; return rows.length > 0 && rows.every((row) => row.textContent.includes('key.create')); });
	await page.focus('tbody tr:first-child button.link');
	await page.keyboard.press('Enter');
	await page.waitForSelector('dialog table >> text=audited');
	await page.keyboard.press('Escape');
	await page.click('button[aria-label="Remove the filter Action key.create"]');
	await page.waitForFunction(() => { const rows = [...document.querySelectorAll('tbody tr')]; return rows.length === 50 && rows.some((row) => row.textContent.includes('key.delete')); });
	const last = await page.locator('tbody tr:last-child button').first().textContent();
	await page.click('button:text-is("Older")');
	await page.waitForFunction((before) => { const first = document.querySelector('tbody tr button')?.textContent; return Number(/row (\d+)/.exec(first)?.[1]) < Number(/row (\d+)/.exec(before)[1]); }, last);
	await page.click('button:text-is("Newest")');
	await show(page, 'audit?object=nothing%2Fof-this-name');
	await page.click('text=Show all rows');
	await page.waitForSelector('tbody tr');
	await page.route('**/api/v1/audit?**', (route) => route.fulfill({ status: 404, json: { detail: 'this store keeps no audit log' } }));
	await show(page, 'audit?actor=user');
	await page.waitForSelector('[role=alert] >> text=This store keeps no audit log.');

	const administrator = await person('administrating', 'admin');
	const other = await open(browser);
	await enter(other.page, 'teams', { user: administrator });
	const names = await linked(other.page);
	assert.ok(names.includes('Teams') && names.includes('Users') && !names.includes('Audit'));
	await show(other.page, 'audit');
	await other.page.waitForSelector('h1:text-is("No such page")');
	assert.equal(await status(other.context, 'GET', '/api/v1/audit'), 403);
	await show(other.page, 'configuration?part=guards');
	await other.page.waitForSelector('article:has-text("guard data regex") >> text=mask email ticket');
	await show(other.page, 'configuration?part=tags');
	await other.page.waitForSelector('article:has-text("tags team") >> text=limit of-teams');
	await show(other.page, 'keys?of=configured');
	await other.page.waitForSelector('tr:has-text("ci") >> text=team=builds');
	assert.deepEqual([...problems, ...other.problems], []);
	await context.close();
	await other.context.close();
});

test('C017 what failed is found by its range, its filters and from its usage, and a link shows the same', async () => {
	const exploring = await person('exploring');
	const { key } = await call('POST', '/api/v1/keys', { user: exploring.username, name: 'exploring' });
	assert.equal((await ask(key)).status, 200);
	assert.notEqual((await ask(key, 'absent')).status, 200);
	const { context, page, problems } = await open(browser);
	// To users, time begins with their account: the first bars had the exchanges, and the test waited for none.
	await enter(page, 'exchanges?range=1h&user=exploring');
	await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 2);
	await page.waitForSelector('svg .fill-ill'); // the chart once stayed as it was when the list went on
	await page.focus('.chart svg'); // a range is selected by the keyboard alone
	await page.keyboard.press('ArrowRight');
	for (let i = 0; i < 3; i++) await page.keyboard.press('Shift+ArrowRight');
	await page.keyboard.press('Enter');
	await page.waitForFunction(() => /from=.*to=/.test(location.search) && document.querySelectorAll('tbody tr').length === 0);
	// A part of the legend shows its exchanges; fields of a range begin with one; the way back from an exchange keeps all of it.
	await show(page, 'exchanges?user=exploring');
	await page.click('.legend button:has-text("failed")');
	await page.waitForFunction(() => /outcome=failed/.test(location.search) && document.querySelectorAll('tbody tr').length === 1);
	await page.selectOption('select[aria-label=Range]', 'absolute');
	await page.waitForFunction(() => document.querySelectorAll('input[type=datetime-local]').length === 2 && [...document.querySelectorAll('input[type=datetime-local]')].every((each) => each.value));
	const list = new URL(page.url()).search;
	await page.click('tbody tr th a');
	await page.waitForSelector('h1:text-is("Exchange")');
	await page.click('a:text-is("All exchanges")');
	await page.waitForSelector('h1:text-is("Exchanges")');
	assert.equal(new URL(page.url()).search, list);
	await show(page, 'exchanges?range=1h&user=exploring&sort=duration&hide=Format');
	await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 2 && ![...document.querySelectorAll('th')].some((each) => each.textContent === 'Format'));
	await page.reload(); // the address has all of it
	await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 2 && document.querySelector('select[aria-label=Order]').value === 'duration');
	const [saved] = await Promise.all([page.waitForEvent('download'), page.click('text=JSON Lines')]);
	assert.equal(saved.suggestedFilename(), 'exchanges.jsonl');
	await show(page, 'usage?show=requests&range=today&user=exploring');
	await page.click('.legend button:has-text("absent")');
	await page.waitForSelector('button:has-text("Model: absent")');
	await page.waitForFunction(() => document.querySelectorAll('main tbody tr').length === 1);
	await show(page, 'usage?show=requests&and=outcome&range=today&user=exploring');
	await page.waitForSelector('tbody tr:has-text("absent"):has-text("failed")');
	await page.click('tbody tr:has-text("absent") a');
	await page.waitForSelector('h1:text-is("Exchanges")');
	await page.waitForFunction(() => /model=absent/.test(location.search) && /outcome=failed/.test(location.search) && document.querySelectorAll('tbody tr').length === 1);
	assert.deepEqual(problems, []);
	await context.close();
});

// Hours of the ledger were taken for hours of the browser: in another zone, usage was drawn at the wrong end of the day.
test('C014 usage by hours is drawn in the zone of the browser, which the page names', async () => {
	await ask(process.env.GATEWAY_KEY);
	for (const timezoneId of ['Asia/Tokyo', 'America/Los_Angeles']) {
		const { context, page, problems } = await open(browser, { timezoneId });
		await enter(page, 'usage?range=today&step=hour');
		await page.waitForSelector(`text=${timezoneId}`);
		await page.waitForSelector('svg .bar');
		const drawn = await page.$$eval('svg .bar', (bars) => bars.map((bar) => bar.querySelector('rect:not(.hit)') !== null));
		assert.ok(drawn.slice(-2).includes(true), `${timezoneId}: nothing in the last hours of ${drawn.length}`);
		assert.ok(drawn.length <= 25, `${timezoneId}: a day of ${drawn.length} hours`);
		assert.deepEqual(problems, []);
		await context.close();
	}
});
