// The official client's files, uploads and batches, through the gateway before a fake of the vendor
// (module/tests/usage, which starts the suite).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI, { toFile } from 'openai';

const asked = [];
const client = new OpenAI({
  baseURL: `${process.env.GATEWAY_URL}/v1`,
  apiKey: process.env.GATEWAY_KEY,
  maxRetries: 0,
  fetch(url, init) {
    if (!String(url).startsWith('data:')) asked.push(new URL(url).host); // with which the client tries what fetch can
    return fetch(url, init);
  },
});
const line = { custom_id: 'r', method: 'POST', url: '/v1/chat/completions', body: { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] } };

test('files', async () => {
  const { id } = await client.files.create({ file: await toFile(Buffer.from('hello'), 'a.txt'), purpose: 'user_data', expires_after: { anchor: 'created_at', seconds: 3600 } });
  assert.equal((await client.files.retrieve(id)).id, id);
  assert.equal(await (await client.files.content(id)).text(), 'hello');
  assert.equal((await client.files.delete(id)).id, id);
  await assert.rejects(() => client.files.retrieve(id), { status: 404 });
  await assert.rejects(() => client.files.list(), { status: 404 });
});

test('uploads', async () => {
  const { id } = await client.uploads.create({ filename: 'a.txt', purpose: 'user_data', bytes: 5, mime_type: 'text/plain' });
  const part = await client.uploads.parts.create(id, { data: await toFile(Buffer.from('hello'), 'blob') });
  assert.equal(part.upload_id, id);
  const { file } = await client.uploads.complete(id, { part_ids: [part.id] });
  assert.equal(await (await client.files.content(file.id)).text(), 'hello');
  assert.equal((await client.uploads.cancel(id)).id, id);
});

test('batches', async () => {
  for (const purposeFirst of [true, false]) {
    const file = await toFile(Buffer.from(`${JSON.stringify(line)}\n`), 'requests.jsonl');
    const input = await client.files.create(purposeFirst ? { purpose: 'batch', file } : { file, purpose: 'batch' });
    const { id, input_file_id: named } = await client.batches.create({ input_file_id: input.id, endpoint: line.url, completion_window: '24h' });
    assert.equal(named, input.id);
    assert.equal((await client.batches.cancel(id)).id, id);
    await fetch(`${process.env.VENDOR_URL}/end`);
    const ended = await client.batches.retrieve(id);
    assert.equal(ended.status, 'completed');
    const output = await (await client.files.content(ended.output_file_id)).text();
    assert.equal(JSON.parse(output).response.body.usage.completion_tokens, 2);
  }
  await assert.rejects(() => client.batches.list(), { status: 404 });
  assert.deepEqual([...new Set(asked)], [new URL(process.env.GATEWAY_URL).host], 'no other host gets the key');
});
