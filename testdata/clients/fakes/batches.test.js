// The official client's batches, through the gateway before a fake of the vendor (module/tests/usage,
// which starts the suite). The client downloads results from the address that a batch names.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';

const asked = [];
const client = new Anthropic({
  baseURL: process.env.GATEWAY_URL,
  apiKey: process.env.GATEWAY_KEY,
  authToken: null,
  maxRetries: 0,
  fetch(url, init) {
    asked.push(new URL(url).host);
    return fetch(url, init);
  },
});
const requests = [{ custom_id: 'r0', params: { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] } }];

for (const [name, batches] of [['batches', client.messages.batches], ['batches of the beta', client.beta.messages.batches]]) {
  test(name, async () => {
    const { id } = await batches.create({ requests });
    assert.equal((await batches.retrieve(id)).id, id);
    assert.equal((await batches.cancel(id)).id, id);
    await fetch(`${process.env.VENDOR_URL}/end`);
    const results = [];
    for await (const { custom_id: request, result } of await batches.results(id)) results.push([request, result.type, result.message?.usage.output_tokens]);
    assert.deepEqual(results, [['r0', 'succeeded', 2], ['r1', 'expired', undefined]]);
    assert.deepEqual(await batches.delete(id), { id, type: 'message_batch_deleted' });
    await assert.rejects(() => batches.retrieve(id), { status: 404 });
    await assert.rejects(() => batches.list(), { status: 404 });
    assert.deepEqual([...new Set(asked)], [new URL(process.env.GATEWAY_URL).host], 'no other host gets the key');
  });
}
