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
