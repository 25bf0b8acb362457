// Tests that need a gateway of their own: they kill it, reload it, or fill it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { admin, ask, enter, freePort, Gateway, launch, logIn, open, pages, root, show, visit } from './browser.js';

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const configuration = `{
	admin 127.0.0.1:{admin}
	log {
		level ERROR
	}
	ai_gateway {
		counters redis 127.0.0.1:{redis} {
			on_error allow
		}
		limit shared {
			requests 1000/1m
		}
		accounts
	}
}

http://127.0.0.1:{port} {
	bind 127.0.0.1
	ai_gateway {
		provider demo demo {
			models demo
		}
		key tests {env.GATEWAY_KEY} {
			limit shared
		}
	}
}
`;

/** startRedis starts a Redis server, and waits until it listens. */
async function startRedis(port) {
	const server = spawn('redis-server', ['--port', String(port), '--save', '', '--appendonly', 'no'], { stdio: ['ignore', 'pipe', 'ignore'] });
	for await (const line of server.stdout) if (String(line).includes('Ready to accept')) break;
	return server;
}

test('C002C011 a throttled login, a Redis that is away, a killed gateway and a reload say what they are', async () => {
	const redis = await freePort();
	const server = await startRedis(redis);
	const gateway = await Gateway.start(configuration, { admin: await freePort(), redis });
	const { context, page, problems } = await open(browser);
	try {
		await enter(page, 'health', { at: gateway.base });
		await page.waitForSelector('.chip.ok >> text=Nothing');

		const stranger = await open(browser);
		await stranger.page.goto(`${gateway.base}/console/`);
		for (let turn = 0; turn < 5; turn++) {
			await logIn(stranger.page, { ...root, password: `wrong ${turn}` });
			await stranger.page.waitForSelector('text=The name or the password is wrong');
			await stranger.page.fill('input[name=username]', '');
		}
		await logIn(stranger.page, root);
		await stranger.page.waitForSelector('text=/Too many attempts. Wait \\d+ s/');
		await stranger.context.close();

		server.kill('SIGKILL');
		assert.equal((await ask(process.env.GATEWAY_KEY, 'demo', gateway.base)).status, 200);
		await visit(page, 'users');
		await show(page, 'health');
		await page.waitForSelector('text=Limits decide without their shared counters.');

		await page.route('**/api/health', async (route) => {
			const answer = await (await route.fetch()).json();
			answer.data.ledger = { pending: 5, bytes: 900, oldest_seconds: 90 };
			await route.fulfill({ json: answer });
		});
		await visit(page, 'users');
		await show(page, 'health');
		await page.waitForSelector('text=Records wait for the database of the ledger since 90 s.');
		await page.unroute('**/api/health');

		await gateway.kill();
		await page.waitForSelector('text=The gateway has not answered since');
		await gateway.run();
		await page.waitForSelector('text=The gateway has not answered since', { state: 'detached' });
		await page.click('button:text-is("Show the new one")');
		await page.waitForSelector('text=The configuration was reloaded.', { state: 'detached' });

		gateway.reload(configuration.replace('provider demo demo', 'provider fresh demo {\n\t\t\tmodels fresh\n\t\t}\n\t\tprovider demo demo'));
		await page.waitForSelector('text=The configuration was reloaded.');
		await page.click('button:text-is("Show the new one")');
		await page.waitForSelector('table >> text=fresh/fresh');
		assert.deepEqual(problems, []);
	} finally {
		await context.close();
		await gateway.stop();
		server.kill('SIGKILL');
	}
});

test('C002 who signs in without a password gets a button for each way, and the reason of a refusal', async () => {
	const gateway = await Gateway.start(`{
	admin 127.0.0.1:{admin}
	log {
		level ERROR
	}
}

http://127.0.0.1:{port} {
	bind 127.0.0.1
	vars person alice
	ai_gateway {
		provider demo
		accounts {
			password off
			oidc http://127.0.0.1:9 {
				name Nowhere
				client_id gateway
			}
			proxy {http.vars.person} {
				name Example
				create user
			}
		}
	}
}
`, { admin: await freePort() });
	const { context, page, problems } = await open(browser);
	try {
		await page.goto(`${gateway.base}/console/`);
		await page.click('text=Sign in with Nowhere');
		await page.waitForSelector('text=The sign-in service does not answer');
		assert.equal(await page.locator('input').count(), 0);
		await page.click('text=Sign in with Example');
		await page.waitForSelector('nav >> text=alice');
		await page.click('text=Log out');
		await page.waitForSelector('text=Sign in with Example');
		assert.deepEqual(problems, []);
	} finally {
		await context.close();
		await gateway.stop();
	}
});

/** inParallel calls a function with the numbers below n, some at a time. */
async function inParallel(n, act, atOnce = 8) {
	let next = 0;
	await Promise.all(Array.from({ length: atOnce }, async () => { while (next < n) await act(next++); }));
}

test('C005 an administrator reads all pages of a large gateway, each with a bounded document and bounded answers', async (t) => {
	const gateway = await Gateway.start(readFileSync(new URL('./Caddyfile', import.meta.url), 'utf8'));
	const { context, page, problems } = await open(browser);
	try {
		const call = await admin(gateway.base);
		await inParallel(60, (n) => call('POST', '/api/user/', { username: `user-${n}`, password: 'long enough' }), 1); // each is a hash
		await inParallel(2000, (n) => call('POST', '/api/keys', { user: `user-${n % 20}`, name: `key ${n}`, limit: 'daily' }));
		await inParallel(2000, (n) => ask(process.env.GATEWAY_KEY, `many-${String(n % 300 + 1).padStart(3, '0')}`, gateway.base).then((answer) => answer.arrayBuffer()));
		await call('POST', '/api/token/', { name: 'of root' });
		const large = [];
		page.on('response', async (answer) => {
			const size = await answer.body().then((body) => body.length, () => 0);
			if (/\/(api|v1)\//.test(answer.url()) && size > 100_000) large.push(`${answer.url()}: ${size}`);
		});
		await enter(page, '', { at: gateway.base });
		const paths = [...Object.keys(pages), 'keys?of=all&p=20', 'usage?by=user', 'usage?show=requests&step=hour'];
		for (const path of paths) {
			const start = Date.now();
			await show(page, path);
			await page.waitForSelector(pages[path] ?? 'table');
			const count = await page.evaluate(() => document.querySelectorAll('*').length);
			t.diagnostic(`${path}: ${Date.now() - start} ms, ${count} elements`);
			assert.ok(count < 5000, `${path} has ${count} elements`);
		}
		await show(page, 'models');
		await page.click('text=Make a key for this session');
		await page.waitForSelector('table >> text=translated');
		await show(page, 'keys?of=all');
		await page.fill('input[type=search]', 'key 1234');
		await page.waitForSelector('tbody tr:only-child >> text=key 1234');
		assert.ok(await page.evaluate(() => document.querySelectorAll('*').length) < 5000);
		assert.deepEqual(large, []);
		assert.deepEqual(problems, []);
	} finally {
		await context.close();
		await gateway.stop();
	}
});
