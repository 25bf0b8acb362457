import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { api, base, enter, launch, open, show, until } from './browser.js';

let browser, provider;
before(async () => { browser = await launch(); provider = await play(); });
after(() => { provider.server.close(); provider.server.closeAllConnections(); return browser.close(); });

const chunk = (delta, more = {}) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: '<b>stub</b>', choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`;

/** play starts the provider that the configuration calls played. What it does depends on the model; it notes what it got and sent.
 * Tests of other files, which run at the same time, also ask for models of this provider, and for their list: it noted those
 * requests in place of the one whose wire was being compared. */
async function play() {
	const provider = { got: '', sent: '', closed: null };
	const send = (answer, text) => { provider.sent += text; answer.write(text); };
	provider.server = createServer(async (request, answer) => {
		let body = '';
		for await (const part of request.setEncoding('utf8')) body += part;
		const { model = '' } = JSON.parse(body || '{}');
		if (!/^played-(plain|refused|slow|cut)$/.test(model)) return answer.writeHead(404).end();
		Object.assign(provider, { got: body, sent: '', closed: once(answer, 'close') });
		if (model === 'played-refused') {
			provider.sent = '{"error":{"message":"<img src=x onerror=alert(1)> is no tool","type":"invalid_request_error"}}';
			answer.writeHead(400, { 'content-type': 'application/json' }).end(provider.sent);
			return;
		}
		answer.writeHead(200, { 'content-type': 'text/event-stream' });
		send(answer, chunk({ role: 'assistant', content: 'The first words ü 😀' }));
		if (model === 'played-slow') return; // until the client leaves
		if (model === 'played-cut') return setImmediate(() => answer.destroy());
		send(answer, chunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Bern"}' } }] }));
		send(answer, chunk({}, { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }], usage: { prompt_tokens: 9000, completion_tokens: 5, total_tokens: 9005, prompt_tokens_details: { cached_tokens: 8000 } } }));
		send(answer, 'data: [DONE]\n\n');
		answer.end();
	}).listen(Number(process.env.REPLAY_PORT), '127.0.0.1');
	await once(provider.server, 'listening');
	return provider;
}

/** bench opens the playground with a key. */
async function bench() {
	const opened = await open(browser);
	await enter(opened.page, 'playground');
	await opened.page.click('text=Make a key for this session');
	await opened.page.waitForSelector('select[aria-label="Format 1"]');
	return opened;
}

/** choose sets the format, the model and whether to stream. */
async function choose(page, { format, model, stream }) {
	await page.selectOption('select[aria-label="Format 1"]', format);
	await page.fill('input[aria-label="Model 1"]', model);
	await page.setChecked('input[type=checkbox]', stream);
}

/** send sends the request, and returns what the browser sent and received. */
async function send(page) {
	const [sent] = await Promise.all([page.waitForRequest((request) => /(?<!\/api)\/v1(beta)?\//.test(request.url()) && request.method() === 'POST'), page.click('button:text-is("Send")')]);
	const answer = await sent.response();
	return { sent: sent.postData(), answer, received: await answer.text() };
}

/** shows waits until a view of the wire shows a text. */
async function shows(page, view, wanted, name) {
	await page.click(`button:text-is("${view}")`);
	const text = () => { const all = [...document.querySelectorAll('[data-body]')]; return all.map((element) => element.matches('pre') ? element.textContent : [...element.querySelectorAll('pre')].map((each) => each.textContent).join('')).join(''); };
	const shown = await page.waitForFunction(([read, text]) => new Function(`return (${read})()`)() === text, [text.toString(), wanted]).then(() => wanted, () => page.evaluate(text));
	assert.equal(shown, wanted, `${name}: ${view}`);
}

test('C004 the playground shows both sides of the wire of each format, byte for byte, without credentials', async () => {
	const { page, problems } = await bench();
	await page.fill('textarea[aria-label="Text of turn 1"]', 'What is the weather in Bern? ü 😀');
	const image = { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64') };
	await page.setInputFiles('input[type=file]', image);
	await page.click('button:text-is("weather")');
	for (const format of ['messages', 'chat', 'completions', 'responses', 'gemini']) {
		for (const model of ['demo', format === 'chat' ? 'messages-only' : 'chat-only']) {
			for (const stream of [true, false]) {
				const name = `${format} ${model} ${stream}`;
				await choose(page, { format, model, stream });
				const { sent, answer, received } = await send(page);
				assert.equal(answer.status(), 200, `${name}: ${received}`);
				await page.click('button:text-is("Wire")');
				await shows(page, 'Client request', sent, name);
				await shows(page, 'Client answer', received, name);
				const capture = await page.evaluate(async (id) => (await fetch(`/api/v1/captures/${id}`)).text(), answer.headers()['x-request-id']);
				assert.ok(!/sk-[A-Za-z0-9]{20}|cap_[A-Z0-9]{10}|Bearer/.test(capture), `${name}: a credential in the capture`);
				const { calls } = JSON.parse(capture);
				await shows(page, 'Provider request', calls.at(-1).request.body, name);
				if (model === 'demo') assert.equal(calls.at(-1).request.body, sent, `${name}: one format, the same bytes`);
				assert.ok(calls.at(-1).answer.body.length > 0, name);
				await page.click('button:text-is("Answer")');
				assert.ok((await page.textContent('[data-answer]')).trim().length > 0, name);
			}
		}
	}
	assert.deepEqual(problems, []);
	await page.context().close();
});

test('C004 what the wire shows of a provider is what the provider got and sent', async () => {
	const { page, problems } = await bench();
	page.on('dialog', () => problems.push('a script of an answer ran'));
	const request = (format, model) => page.evaluate(([format, model]) => {
		const link = Object.assign(document.createElement('a'), { href: `/console/connect` });
		document.body.append(link);
		link.click();
		link.href = `/console/playground?request=${encodeURIComponent(JSON.stringify({ lanes: [{ format, model }], turns: [{ role: 'user', text: 'Hello' }] }))}`;
		setTimeout(() => { link.click(); link.remove(); });
	}, [format, model]).then(() => page.waitForFunction((model) => document.querySelector('input[aria-label="Model 1"]')?.value === model, model));
	for (const format of ['chat', 'messages']) {
		await request(format, 'played-plain');
		await send(page);
		await page.waitForSelector('.call >> text=get_weather');
		await page.click('button:text-is("Wire")');
		await shows(page, 'Provider request', provider.got, format);
		await shows(page, 'Provider answer', provider.sent, format);
		if (format === 'chat') await shows(page, 'Client request', provider.got, format);
	}
	// The page reads its sums once: it did not show those of records that the ledger had not written yet.
	await until(async () => (await (await api(page.context(), 'GET', '/api/v1/usage?by=provider')).json()).items.some((sum) => sum.provider === 'played' && sum.cache_read_tokens > 0));
	await show(page, 'usage');
	await page.waitForSelector('text=/read from cache, \\$0\\.\\d+ saved/');

	await request('messages', 'played-cut');
	await page.click('button:text-is("Send")');
	await page.waitForSelector('[aria-label=Answer] [role=alert]');
	assert.match(await page.textContent('[data-answer]'), /The first words/);
	await page.click('button:text-is("Wire")');
	await shows(page, 'Provider answer', provider.sent, 'cut');

	await request('chat', 'played-slow');
	await page.click('button:text-is("Send")');
	await page.waitForSelector('[data-answer] >> text=The first words');
	await page.click('button:text-is("Cancel")');
	await page.waitForSelector('.chip.warn >> text=cancelled');
	await provider.closed; // the provider is left, too

	await request('chat', 'played-refused');
	await page.click('button:text-is("Send")');
	await page.waitForSelector('.chip.ill >> text=failed 400');
	await page.waitForSelector('[aria-label=Answer] [role=alert]');

	await request('chat', 'demo');
	await page.click('button:text-is("Add model")');
	await page.selectOption('select[aria-label="Format 2"]', 'messages');
	await page.click('button:text-is("Send")');
	await page.waitForSelector('section[aria-label=Answer] >> nth=1');
	await page.waitForFunction(() => document.querySelectorAll('section[aria-label=Answer] .chip.ok').length === 2);
	for (const [n, name] of ['chat · demo', 'messages · demo'].entries()) await page.waitForSelector(`section[aria-label=Answer] >> nth=${n} >> header >> text=${name}`); // two answers once had no names
	assert.deepEqual(problems, []);
	await page.context().close();
});

/** fields are those that the playground sends for a temperature, an effort and a schema, by format. */
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
const fields = {
	messages: { temperature: 0.5, output_config: { effort: 'low', format: { type: 'json_schema', schema } } },
	chat: { temperature: 0.5, reasoning_effort: 'low', response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } } },
	responses: { temperature: 0.5, reasoning: { effort: 'low' }, text: { format: { type: 'json_schema', name: 'answer', strict: true, schema } } },
	gemini: { generationConfig: { maxOutputTokens: 400, temperature: 0.5, thinkingConfig: { thinkingLevel: 'low' }, responseMimeType: 'application/json', responseJsonSchema: schema } },
	completions: { temperature: 0.5 },
};

// Models were only those of a list: a model behind a pattern, such as gpt-*, could not be used. Neither
// temperature nor any other field could be sent, and a fault of JSON was shown far from its field.
test('C004 the playground sends any model, the fields of each format, and commands that work when pasted', async () => {
	const { page, problems } = await bench();
	await page.fill('textarea[aria-label="Text of turn 1"]', "What's new?");
	await page.click('summary:text-is("More fields")');
	await page.fill('label:has-text("Temperature") input', '0.5');
	await page.selectOption('label:has-text("Effort") select', 'low');
	await page.fill('textarea[aria-label="Schema of the answer"]', JSON.stringify(schema));
	const other = 'textarea[aria-label="Other fields, as JSON"]';
	for (const [text, wanted] of [['{\n"a": 1,\n}', /line 3/], ['[1]', /not an object/]]) {
		await page.fill(other, text);
		assert.match(await page.textContent('.field:has(textarea[aria-label="Other fields, as JSON"]) [role=alert]'), wanted);
		await page.click('button:text-is("Send")');
		await page.waitForFunction((field) => document.activeElement === document.querySelector(field), other);
		assert.equal(await page.locator('[aria-label=Answer]').count(), 0);
	}
	await page.click('summary:text-is("More fields")'); // a field that is not shown cannot have the focus
	await page.click('button:text-is("Send")');
	await page.waitForFunction((field) => document.activeElement === document.querySelector(field), other);
	await page.fill(other, '');
	await page.fill('textarea[aria-label="Schema of the answer"]', '{');
	await choose(page, { format: 'completions', model: 'demo', stream: false }); // has no schema, nor its fault
	assert.equal((await send(page)).answer.status(), 200);
	await choose(page, { format: 'chat', model: 'demo', stream: false });
	await page.fill('textarea[aria-label="Schema of the answer"]', JSON.stringify(schema));
	await page.fill(other, '{"generationConfig": {"topK": 7}}');
	await choose(page, { format: 'gemini', model: 'no-such-model', stream: true });
	const refused = await send(page);
	assert.deepEqual(JSON.parse(refused.sent).generationConfig, { ...fields.gemini.generationConfig, topK: 7 });
	await page.waitForSelector('[aria-label=Answer] [role=alert] >> text=no-such-model');
	await page.fill(other, '');
	// A request with an image is longer than an argument of a command may be.
	await page.setInputFiles('input[type=file]', { name: 'large.png', mimeType: 'image/png', buffer: Buffer.alloc(150_000, 7) });
	await page.waitForSelector('button:has-text("large.png")');
	for (const format of ['messages', 'chat', 'responses', 'gemini', 'completions']) {
		await choose(page, { format, model: 'demo', stream: false });
		const { sent, answer } = await send(page);
		const body = JSON.parse(sent);
		for (const [name, value] of Object.entries(fields[format])) assert.deepEqual(body[name], value, `${format}: ${name}`);
		assert.equal(answer.status(), 200, format);
		await page.click('button:text-is("Code")');
		const pasted = await page.textContent('pre:has-text("curl ")');
		const key = (await answer.request().allHeaders()).authorization.replace('Bearer ', '');
		const shell = promisify(execFile)('sh', { env: { ...process.env, GATEWAY_KEY: key } });
		shell.child.stdin.end(pasted);
		const { stdout } = await shell;
		assert.ok(!('error' in JSON.parse(stdout)) || JSON.parse(stdout).error === null, `${format}: ${stdout}`);
		if (format !== 'gemini') await page.waitForSelector('pre:has-text("import os")');
	}
	for (let lane = 2; lane <= 4; lane++) await page.click('button:text-is("Add model")');
	assert.equal(await page.locator('button:text-is("Add model")').count(), 0);
	await page.click('button:text-is("Send")');
	await page.waitForFunction(() => document.querySelectorAll('section[aria-label=Answer] .chip.ok').length === 4);
	assert.deepEqual(problems, []);
	await page.context().close();
});

/** written are the turns of a call and of its result, and a document, by format. */
const written = {
	messages: ({ messages }) => ({ call: messages[1].content.find((part) => part.type === 'tool_use').name, result: messages[2].content[0].content, document: messages[0].content[0].source.media_type }),
	chat: ({ messages }) => ({ call: messages[1].tool_calls[0].function.name, result: messages[2].content, document: messages[0].content[0].file.file_data.slice(5, 20) }),
	responses: ({ input }) => ({ call: input.find((item) => item.type === 'function_call').name, result: input.find((item) => item.type === 'function_call_output').output, document: input[0].content[0].file_data.slice(5, 20) }),
	gemini: ({ contents }) => ({ call: contents[1].parts.find((part) => part.functionCall).functionCall.name, result: contents[2].parts[0].functionResponse.response.result, document: contents[0].parts[0].inlineData.mimeType }),
};

// A call of a tool was the end of a conversation, and only images could be sent.
test('C004 the playground sends documents, and what is typed as the result of a call', async () => {
	const { page, problems } = await bench();
	await page.click('button:text-is("weather")');
	await page.fill('textarea[aria-label="Text of turn 1"]', 'Call get_weather for Bern.');
	await page.setInputFiles('input[type=file]', { name: 'report.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4') });
	await page.waitForSelector('button:has-text("report.pdf")');
	for (const [format, read] of Object.entries(written)) {
		for (const stream of [true, false]) {
			await choose(page, { format, model: 'demo', stream });
			await send(page);
			await page.click('button:text-is("Type results")');
			await page.waitForFunction(() => document.activeElement?.closest('.field')?.textContent.includes('Result of get_weather'));
			await page.keyboard.type('12 degrees');
			const { sent, answer, received } = await send(page);
			assert.equal(answer.status(), 200, `${format}: ${received}`);
			assert.deepEqual(read(JSON.parse(sent)), { call: 'get_weather', result: '12 degrees', document: 'application/pdf' }, format);
			await page.waitForSelector('[data-answer] > *');
			for (const turn of [3, 2]) await page.click(`button[aria-label="Remove turn ${turn}"]`);
		}
	}
	assert.deepEqual(problems, []);
	await page.context().close();
});

// A request was gone with the page.
test('C004 what was sent or saved is kept in the browser, for its user, and an exchange opens again with its answer', async () => {
	const { page, context, problems } = await bench();
	await choose(page, { format: 'messages', model: 'chat-only', stream: true });
	await page.fill('textarea[aria-label="Text of turn 1"]', 'Say something that is kept');
	const { answer } = await send(page);
	await page.click('a:text-is("Open the exchange")');
	await page.click('a:text-is("Open in the playground")');
	await page.waitForFunction(() => document.querySelector('textarea[aria-label="Text of turn 1"]')?.value === 'Say something that is kept');
	assert.equal(await page.inputValue('input[aria-label="Model 1"]'), 'chat-only');
	await page.waitForSelector('[data-answer] .answer');
	await page.click('button:text-is("Wire")');
	await shows(page, 'Client answer', await answer.text(), 'opened again');
	await page.click('button:text-is("Saved and sent")');
	await page.fill('input[name=name]', 'my prompt');
	await page.click('dialog button:text-is("Save")');
	await page.waitForSelector('[aria-label=Saved] >> text=my prompt');
	await page.waitForSelector('[aria-label=Saved] >> text=/now|ago/'); // milliseconds were taken for seconds, so that the year was 58881
	await page.waitForSelector('dialog >> text=Kept in this browser only');
	const kept = await page.evaluate(() => JSON.stringify({ ...localStorage }));
	assert.ok(!/sk-[A-Za-z0-9]{20}/.test(kept), 'a key is kept');

	await page.goto(`${base}/console/playground`);
	await page.click('text=Make a key for this session');
	await page.click('button:text-is("Saved and sent")');
	await page.click('[aria-label=Saved] button:has-text("my prompt")');
	await page.waitForFunction(() => document.querySelector('textarea[aria-label="Text of turn 1"]')?.value === 'Say something that is kept');
	await page.click('button:text-is("Saved and sent")');
	await page.click('[aria-label=Sent] button:text-is("Remove") >> nth=0');
	await page.waitForSelector('dialog >> text=Nothing was sent.');
	await page.click('button:text-is("Remove all")');
	await page.waitForSelector('dialog >> text=Nothing is saved.');
	assert.deepEqual(problems, []);
	await context.close();
});
