// The official client's endpoints beside text, through the gateway before a strict server of
// OpenAI's API (module/tests/endpoints, which starts the suite).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI, { toFile } from 'openai';

const client = new OpenAI({ baseURL: `${process.env.GATEWAY_URL}/v1`, apiKey: process.env.GATEWAY_KEY, maxRetries: 0 });
const model = 'small';
const talk = () => toFile(Buffer.from('RIFF sound'), 'ä talk.wav', { type: 'audio/wav' });
const picture = () => toFile(Buffer.from('PNG'), 'a.png', { type: 'image/png' });

async function collect(stream) {
  const types = [];
  for await (const event of stream) types.push(event.type);
  return types;
}

test('embeddings of a provider that ignores base64', async () => {
  const { data, usage } = await client.embeddings.create({ model, input: ['a', 'b'] });
  assert.deepEqual(data.map(({ embedding }) => Array.from(embedding)), [[0.5, -1.25], [1]]);
  assert.equal(usage.prompt_tokens, 7);
});

test('moderations', async () => {
  assert.equal((await client.moderations.create({ model, input: 'a' })).results[0].flagged, false);
});

test('decisions', async () => {
  const { answers, usage } = await client.post('/decisions', { body: { model, input: 'a', questions: [{ type: 'predicate', name: 'q', question: 'is it?' }] } });
  assert.equal(answers[0].probability, 0.75);
  assert.equal(usage.input_tokens, 9);
});

test('a compaction', async () => {
  const { object, output, usage } = await client.responses.compact({ model: 'short', input: [{ role: 'user', content: 'hi' }] });
  assert.equal(object, 'response.compaction');
  assert.equal(output.at(-1).encrypted_content, 'opaque==');
  assert.equal(usage.input_tokens, 9);
});

test('images, whole and as a stream', async () => {
  assert.equal((await client.images.generate({ model, prompt: 'a' })).data[0].b64_json, 'UE5H');
  assert.deepEqual(await collect(await client.images.generate({ model, prompt: 'a', stream: true, partial_images: 1 })), ['image_generation.partial_image', 'image_generation.completed']);
});

test('edits of several images', async () => {
  const { data } = await client.images.edit({ model, prompt: 'a', image: [await picture(), await picture()], mask: await picture() });
  assert.equal(data[0].b64_json, 'UE5H');
});

test('transcripts, whole, as subtitles and as a stream', async () => {
  assert.equal((await client.audio.transcriptions.create({ model, file: await talk() })).text, 'hello');
  assert.match(await client.audio.transcriptions.create({ model, file: await talk(), response_format: 'srt' }), /-->/);
  assert.deepEqual(await collect(await client.audio.transcriptions.create({ model, file: await talk(), stream: true })), ['transcript.text.delta', 'transcript.text.done']);
  assert.equal((await client.audio.translations.create({ model, file: await talk() })).text, 'hello');
});

test('speech', async () => {
  const answer = await client.audio.speech.create({ model, voice: 'alloy', input: 'hello' });
  assert.equal(answer.headers.get('content-type'), 'audio/mpeg');
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), Buffer.from([0x49, 0x44, 0x33, 0, 0xff]));
});

test('an error of the provider is that of the client', async () => {
  await assert.rejects(client.embeddings.create({ model, input: 'refuse' }), { status: 400, code: 'too_long', param: 'input' });
});
