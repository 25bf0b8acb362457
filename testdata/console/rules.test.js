// Rules of keys and users, rotation, the pages of a key and of a person, and why a key is refused.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { admin, api, ask, enter, launch, open, show, until } from './browser.js';

let browser, call;
before(async () => { [browser, call] = await Promise.all([launch(), admin()]); });
after(() => browser.close());

test('C016 a key with a budget and a rate of its own is made in one form, used up, explained, widened and rotated', async () => {
	await call('POST', '/api/v1/users', { username: 'ruled', password: 'of the ruled' });
	const { context, page, problems } = await open(browser);
	await enter(page, 'keys?of=all');
	await page.click('button:text-is("New key")');
	await page.fill('dialog input[name=user]', 'ruled');
	await page.fill('dialog input[name=name]', 'ruled key');
	await page.fill('dialog input[name=budget]', 'much');
	await page.fill('dialog input[name=requests]', '1/1h');
	await page.fill('dialog input[name=tags]', 'team=search');
	await page.click('dialog button:text-is("Create key")');
	await page.waitForSelector('dialog label:has(input[name=budget][aria-invalid=true]):focus-within >> text=Budget must be an amount and a period');
	await page.fill('dialog input[name=budget]', '20/month');
	await page.selectOption('dialog select[name=limit]', 'daily');
	await page.waitForSelector('dialog >> text=Limits of the configuration: per key: requests 100000/1d, budget 5/month');
	await page.click('dialog button:text-is("Create key")');
	const secret = await page.textContent('[data-secret]');
	await page.click('button:text-is("I have saved it")');

	assert.equal((await ask(secret)).status, 200);
	const refused = await ask(secret);
	assert.equal(refused.status, 429);
	assert.match((await refused.json()).error.message, /^request rate limit reached for this key \(its own rule\)$/);
	// An exchange that was refused had a status and no reason.
	await show(page, 'exchanges?range=1h&user=ruled&outcome=refused');
	await page.click('tbody tr:has(.chip[title^="request rate limit reached"]) th a');
	await page.waitForSelector('dd >> text=Request rate limit reached for this key (its own rule)');
	await show(page, 'keys?of=all&q=ruled');
	await page.click('a:has-text("ruled key")');
	await page.waitForSelector('text=The rate of 1 requests per 1h of this key (its own rule) is used up.');
	await page.waitForSelector('dd >> text=budget 20/month');
	await page.waitForSelector('table >> text=own rules of the key');
	await page.click('button:text-is("Change")');
	await page.fill('dialog input[name=requests]', '');
	await page.click('dialog button:text-is("Save")');
	await page.waitForSelector('text=Requests with this key are refused.', { state: 'detached' });
	assert.equal((await ask(secret)).status, 200);

	await page.click('button:text-is("Rotate")');
	await page.click('dialog button:text-is("Make a new secret")');
	const next = await page.textContent('[data-secret]');
	await page.waitForSelector('dialog >> text=The old one works until');
	await page.click('button:text-is("I have saved it")');
	await page.waitForSelector('dd:has(code) >> text=the old secret ends in 23 h'); // it was "old secret: in 23 h", behind the key without a space
	for (const each of [secret, next]) assert.equal((await ask(each)).status, 200);
	await page.click('button:text-is("Rotate")');
	await page.selectOption('dialog select[name=overlap]', '');
	await page.click('dialog button:text-is("Make a new secret")');
	const last = await page.textContent('[data-secret]');
	await page.waitForSelector('dialog >> text=The old one does not work any more.');
	await page.click('button:text-is("I have saved it")');
	for (const each of [secret, next]) assert.equal((await ask(each)).status, 401);
	assert.equal((await ask(last)).status, 200);

	// The page of the person, from the key, with the rules of the user.
	await page.click('dd a:has-text("ruled")');
	await page.waitForSelector('h1:text-is("ruled")');
	await page.waitForSelector('table >> text=ruled key');
	await page.waitForSelector('dt:text-is("Cost in 30 days")');
	await page.click('button:text-is("Change")');
	await page.fill('dialog input[name=budget]', '100/month');
	await page.click('dialog button:text-is("Save")');
	await page.waitForSelector('dd >> text=budget 100/month');
	await page.waitForSelector('table >> text=own rules of the user');
	await show(page, 'users?q=ruled');
	await page.waitForSelector('tr:has-text("ruled") >> text=budget 100/month');
	await page.click('tr >> a:has-text("ruled")');
	await page.click('a:has-text("ruled key")');
	await page.click('button:text-is("Revoke")');
	await page.fill('dialog input', 'ruled key');
	await page.click('dialog button:text-is("Revoke")');
	await page.waitForSelector('h1:text-is("Keys")');
	assert.equal((await ask(last)).status, 401);
	assert.deepEqual(problems, []);
	await context.close();
});

test('C016 users see their own page in the account, and the rules that others set for them', async () => {
	const user = { username: 'bounded', password: 'of the bounded' };
	await call('POST', '/api/v1/users', user);
	await call('PATCH', '/api/v1/users/bounded', { budget: '7/month' });
	await call('POST', '/api/v1/teams', { name: 'bounded-team' });
	await call('PUT', '/api/v1/teams/bounded-team/members/bounded', {});
	const { context, page, problems } = await open(browser, { viewport: { width: 390, height: 844 } });
	await enter(page, 'account', { user });
	await page.waitForSelector('dd >> text=budget 7/month');
	await page.waitForSelector('main >> text=bounded-team');
	await show(page, 'keys');
	await page.click('button:text-is("New key")');
	await page.fill('dialog input[name=name]', 'small');
	await page.fill('dialog input[name=budget]', '1/day');
	assert.equal(await page.locator('dialog input[name=tags]').count(), 0, 'tags are set by administrators');
	await page.click('dialog button:text-is("Create key")');
	await page.click('button:text-is("I have saved it")');
	await page.click('a:has-text("small")');
	await page.waitForSelector('dd >> text=budget 1/day');
	await page.click('button:text-is("Change")');
	assert.equal(await page.locator('dialog input[name=budget]').count(), 0, 'users do not widen their own rules');
	await page.click('dialog button:text-is("Cancel")');
	const { items } = await (await api(context, 'GET', '/api/v1/keys?search=small')).json();
	assert.equal((await api(context, 'PATCH', `/api/v1/keys/${items[0].id}`, { budget: '' })).status, 403);
	await until(async () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
	assert.deepEqual(problems, []);
	await context.close();
});

// Limits showed key_7 in the place of the name. Consoles of other gateways could not change a budget twice, restored one that
// was removed, and failed for whoever had used one up.
test('C016 a budget is changed twice and removed, and a key that has used it up is shown to its owner by its name', async () => {
	const user = { username: 'spender', password: 'of the spender' };
	await call('POST', '/api/v1/users', user);
	const made = await call('POST', '/api/v1/keys', { user: 'spender', name: 'little', budget: '0.0001/day' });
	assert.equal((await ask(made.key)).status, 429);
	const { context, page, problems } = await open(browser);
	await enter(page, 'usage', { user });
	await page.waitForSelector('td:has-text("key little")');
	await show(page, 'account');
	await page.waitForSelector('td:has-text("key little")');
	await show(page, 'keys');
	await page.waitForSelector('th:has-text("little")');
	await context.close();

	const lead = await open(browser);
	await enter(lead.page, `keys/${made.id}`);
	await lead.page.waitForSelector('td:has-text("key little")');
	for (const [budget, shown] of [['1/day', 'budget 1/day'], ['2/day', 'budget 2/day'], ['', 'none']]) {
		await lead.page.click('button:text-is("Change")');
		await lead.page.fill('dialog input[name=budget]', budget);
		await lead.page.click('dialog button:text-is("Save")');
		await lead.page.waitForSelector(`dt:text-is("Own rules") + dd:has-text("${shown}")`);
	}
	await lead.page.reload();
	await lead.page.waitForSelector('dt:text-is("Own rules") + dd:has-text("none")');
	assert.equal((await ask(made.key)).status, 200);
	await show(lead.page, 'exchanges');
	await lead.page.waitForSelector('td >> text=little');
	await lead.page.click('button:text-is("Filter")');
	await lead.page.fill('input[name=customer]', 'typed before');
	assert.equal((await ask(made.key)).status, 200);
	await lead.page.waitForSelector('tbody tr:nth-child(3)'); // live
	assert.equal(await lead.page.inputValue('input[name=customer]'), 'typed before');
	await lead.page.fill('input[name=customer]', '');
	await lead.page.fill('input[name=key]', 'littl');
	await lead.page.waitForSelector('datalist option:has-text("little, spender")', { state: 'attached' });
	await lead.page.fill('input[name=key]', `key_${made.id}`);
	await lead.page.click('button:text-is("Apply")');
	await lead.page.waitForSelector('button[aria-label="Remove the filter Key little"]');
	await show(lead.page, `usage?by=key&key=key_${made.id}`);
	for (const part of ['.legend', 'tbody']) await lead.page.waitForSelector(`${part} >> text=little`);
	assert.deepEqual([...problems, ...lead.problems], []);
	await lead.context.close();
});
