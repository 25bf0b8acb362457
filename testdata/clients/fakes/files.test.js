// The official client's files, through the gateway before a fake of the vendor (module/tests/usage,
// which starts the suite).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic, { toFile } from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: process.env.GATEWAY_URL, apiKey: process.env.GATEWAY_KEY, authToken: null, maxRetries: 0 });

test('files of the beta, and a message with one', async () => {
  const { files, messages } = client.beta;
  const { id, type } = await files.upload({ file: await toFile(Buffer.from('hello'), 'a.txt', { type: 'text/plain' }) });
  assert.equal(type, 'file');
  assert.equal((await files.retrieveMetadata(id)).id, id);
  assert.equal(await (await files.download(id)).text(), 'hello');
  const content = [{ type: 'document', source: { type: 'file', file_id: id } }, { type: 'text', text: 'What is it?' }];
  const answer = await messages.create({ model: 'claude', max_tokens: 9, messages: [{ role: 'user', content }], betas: ['files-api-2025-04-14'] });
  assert.equal(answer.content[0].text, 'Hi');
  assert.deepEqual(await files.delete(id), { id, type: 'file_deleted' });
  await assert.rejects(async () => files.list(), { status: 404 });
});
