// Google's own client for files, through the gateway before a fake of the vendor (module/tests/usage, which
// starts the suite). The client goes on with an upload at the address that it got, and takes the name of a
// file out of its address.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { GoogleGenAI, createPartFromUri } from '@google/genai';
import { GoogleGenAI as GoogleGenAI3 } from 'google-genai-3';

const options = { apiKey: process.env.GATEWAY_KEY, httpOptions: { baseUrl: process.env.GATEWAY_URL } };

for (const [name, Client] of [['2', GoogleGenAI], ['3', GoogleGenAI3]]) {
  const client = new Client(options);

  test(`files, major ${name}`, async () => {
    const file = await client.files.upload({ file: new Blob(['hello'], { type: 'text/plain' }), config: { displayName: 'a' } });
    assert.match(file.name, /^files\/1[0-9a-v]+$/);
    assert.equal((await client.files.get({ name: file.name })).name, file.name);
    assert.equal((await client.files.get({ name: file.uri })).name, file.name);
    const contents = [{ role: 'user', parts: [createPartFromUri(file.uri, file.mimeType), { text: 'What is it?' }] }];
    const answer = await client.models.generateContent({ model: 'm', contents });
    assert.equal(answer.candidates[0].content.parts[0].text, 'hi');
    await client.files.delete({ name: file.name });
    await assert.rejects(() => client.files.get({ name: file.name }), { status: 403 });
    await assert.rejects(() => client.files.list(), { status: 404 });
  });

  test(`a file of several pieces, major ${name}`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-'));
    try {
      await writeFile(join(folder, 'a.txt'), Buffer.alloc(20 * 1024 * 1024, 'a'));
      const file = await client.files.upload({ file: join(folder, 'a.txt') });
      assert.equal(file.sizeBytes, String(20 * 1024 * 1024));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}

for (const [name, Client] of [['2', GoogleGenAI], ['3', GoogleGenAI3]]) {
  const { batches, files } = new Client(options);
  const inlinedRequests = [{ contents: [{ role: 'user', parts: [{ text: 'hi' }] }], config: { maxOutputTokens: 5 }, metadata: { key: 'r' } }];

  test(`batches, major ${name}`, async () => {
    const batch = await batches.create({ model: 'm', src: inlinedRequests, config: { displayName: 'd' } });
    assert.equal(batch.state, 'JOB_STATE_PENDING');
    assert.equal((await batches.get({ name: batch.name })).name, batch.name);
    await batches.cancel({ name: batch.name });
    await fetch(`${process.env.VENDOR_URL}/end`);
    const ended = await batches.get({ name: batch.name });
    assert.equal(ended.state, 'JOB_STATE_SUCCEEDED');
    assert.equal(ended.dest.inlinedResponses[0].response.usageMetadata.candidatesTokenCount, 2);
    await batches.delete({ name: batch.name });
    await assert.rejects(() => batches.get({ name: batch.name }), { status: 404 });
    await assert.rejects(() => batches.list(), { status: 404 });
  });

  test(`batches of a file, major ${name}`, async () => {
    const line = { key: 'r', request: { contents: inlinedRequests[0].contents, generationConfig: { maxOutputTokens: 5 } } };
    const input = await files.upload({ file: new Blob([`${JSON.stringify(line)}\n`], { type: 'application/jsonl' }) });
    const batch = await batches.create({ model: 'm', src: input.name });
    await fetch(`${process.env.VENDOR_URL}/end?file`);
    const ended = await batches.get({ name: batch.name });
    const folder = await mkdtemp(join(tmpdir(), 'gateway-'));
    try {
      const downloadPath = join(folder, 'results.jsonl');
      await files.download({ file: ended.dest.fileName, downloadPath });
      assert.equal(JSON.parse(await readFile(downloadPath)).response.usageMetadata.candidatesTokenCount, 2);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test(`batches of a file of several pieces, major ${name}`, async () => {
    const text = 'a'.repeat(1000);
    const line = { request: { contents: [{ role: 'user', parts: [{ text }] }], generationConfig: { maxOutputTokens: 5 } } };
    const lines = `${JSON.stringify(line)}\n`.repeat(10_000); // more than the 8 MiB of a piece
    const input = await files.upload({ file: new Blob([lines], { type: 'application/jsonl' }) });
    assert.equal((await batches.create({ model: 'm', src: input.name })).state, 'JOB_STATE_PENDING');
    const broken = new Blob([`${lines}{"request":{"contents":"hi"}}\n`], { type: 'application/jsonl' });
    await assert.rejects(() => files.upload({ file: broken }), /line 10001|400/);
  });

  test(`batches of vectors, major ${name}`, async () => {
    const batch = await batches.createEmbeddings({ model: 'm', src: { inlinedRequests: { contents: ['hi'], config: { outputDimensionality: 2 } } } });
    assert.equal((await batches.get({ name: batch.name })).name, batch.name);
  });
}
