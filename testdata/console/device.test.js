// A person lets a program in that shows a code: on the page to which the program sends the browser,
// before and after the login.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { api, base, launch, logIn, open } from './browser.js';

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

/** begin begins the sign-in of a program. */
async function begin() {
	const headers = { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'claude-code/2.1.332 <b>bold</b>' };
	const answer = await fetch(`${base}/oauth/device_authorization`, { method: 'POST', headers, body: '' });
	return answer.json();
}

/** poll returns the answer to a program that asks for tokens. */
async function poll({ device_code }) {
	const body = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code });
	return (await fetch(`${base}/oauth/token`, { method: 'POST', body })).json();
}

test('a person lets a program in, and another one not', async () => {
	const { context, page, problems } = await open(browser);
	const wanted = await begin();
	await page.goto(`${wanted.verification_uri}?user_code=${wanted.user_code}`);
	await logIn(page);
	await page.waitForSelector('h1:text-is("Sign in a program")');
	assert.equal(await page.inputValue('input[name=code]'), '', 'a link fills nothing in');

	await page.fill('input[name=code]', 'BBBB-BBBB');
	await page.click('button:text-is("Go on")');
	await page.waitForSelector('text=code must be one that a program shows now');
	await page.fill('input[name=code]', wanted.user_code.toLowerCase());
	await page.click('button:text-is("Go on")');
	await page.waitForSelector('text=claude-code/2.1.332 <b>bold</b>');
	await page.click('button:text-is("Let it in")');
	await page.waitForSelector('text=It is signed in');
	const { access_token: token, email } = await poll(wanted);
	assert.equal(email, 'root');
	assert.match(token, /^agent_/);
	const { items } = await (await api(context, 'GET', '/api/v1/keys?search=claude-code')).json();
	assert.equal(items.length, 1);
	const path = new URL(page.url()).pathname;
	await page.goto(`${base}/console/keys/${items[0].id}`); // the sign-in, whose end nobody changes
	await page.click('button:text-is("Change")');
	assert.equal(await page.locator('button:text-is("Rotate")').count(), 0, 'which the gateway refuses');
	await page.fill('dialog input[name=name]', 'laptop');
	assert.equal(await page.locator('dialog input[name=expires]').count(), 0);
	await page.click('dialog button:text-is("Save")');
	await page.waitForSelector('h1:has-text("laptop")');
	await page.goto(base + path);
	await api(context, 'DELETE', `/api/v1/keys/${items[0].id}`);

	const other = await begin();
	await page.fill('input[name=code]', other.user_code);
	await page.click('button:text-is("Go on")');
	await page.click('button:text-is("Cancel")');
	await page.waitForSelector('text=It gets nothing');
	assert.equal((await poll(other)).error, 'access_denied');
	assert.deepEqual(problems, []);
});
