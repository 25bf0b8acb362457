// The completions format through the vendor's own clients: POST /v1/completions.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collect, failure, model, openai, openaiMajors, requestID } from './gateway.js';

const ask = (prompt, more = {}) => ({ model, prompt, max_tokens: 256, ...more });

for (const [major, SDK] of openaiMajors) {
  describe(`${major}, completions`, () => {
    const client = openai(SDK);

    test('an answer has text, a finish reason and the usage fields in full', async () => {
      const answer = await client.completions.create(ask('Say hello to the gateway'));
      assert.equal(answer.object, 'text_completion');
      assert.match(answer.id, /^cmpl-/);
      assert.equal(answer.choices[0].finish_reason, 'stop');
      assert.match(answer.choices[0].text, /hello to the gateway/i);
      assert.equal(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens);
      assert.match(answer._request_id, requestID);
    });

    test('a stream adds up to the same text as the plain answer', async () => {
      const plain = await client.completions.create(ask('Compare a stream with a plain answer'));
      const chunks = await collect(await client.completions.create(ask('Compare a stream with a plain answer', { stream: true })));
      assert.equal(chunks.map((chunk) => chunk.choices[0].text).join(''), plain.choices[0].text);
      assert.equal(chunks.at(-1).choices[0].finish_reason, 'stop');
      assert.equal(new Set(chunks.map((chunk) => chunk.id)).size, 1);
      assert.ok(chunks.length > 2, 'text came in several chunks');
    });

    test('usage comes in a last chunk when the client asks for it', async () => {
      const request = ask('How much was that?', { stream: true, stream_options: { include_usage: true } });
      const chunks = await collect(await client.completions.create(request));
      assert.deepEqual(chunks.at(-1).choices, []);
      assert.ok(chunks.at(-1).usage.completion_tokens > 0);
    });

    test('several prompts and several choices keep their places', async () => {
      const answer = await client.completions.create(ask(['alpha prompt', 'omega prompt'], { n: 2 }));
      assert.deepEqual(answer.choices.map((choice) => choice.index).sort(), [0, 1, 2, 3]);
      const text = Object.fromEntries(answer.choices.map((choice) => [choice.index, choice.text]));
      assert.match(text[1], /alpha prompt/);
      assert.match(text[2], /omega prompt/);
    });

    test('echo puts the prompt before the answer', async () => {
      const answer = await client.completions.create(ask('Once upon a time', { echo: true }));
      assert.ok(answer.choices[0].text.startsWith('Once upon a time'));
    });

    test('max_tokens ends an answer', async () => {
      const answer = await client.completions.create(ask('Tell a long story about a river', { max_tokens: 3 }));
      assert.equal(answer.choices[0].finish_reason, 'length');
      assert.equal(answer.usage.completion_tokens, 3);
    });

    test('a stop string is left out of the text', async () => {
      const answer = await client.completions.create(ask('first second third', { stop: ['second'] }));
      assert.equal(answer.choices[0].finish_reason, 'stop');
      assert.ok(!answer.choices[0].text.includes('second'));
    });

    test('an unreachable provider is passed over for the next one', async () => {
      const answer = await client.completions.create(ask('Who answers?', { model: 'fallback' }));
      assert.match(answer.choices[0].text, /who answers\?/i);
    });

    test('an unknown model is a NotFoundError', async () => {
      const error = await failure(client.completions.create(ask('Hi', { model: 'no-such-model' })));
      assert.ok(error instanceof SDK.NotFoundError);
      assert.equal(error.code, 'model_not_found');
    });

    test('a missing prompt is a BadRequestError that names it', async () => {
      const error = await failure(client.completions.create({ model }));
      assert.ok(error instanceof SDK.BadRequestError);
      assert.equal(error.param, 'prompt');
      assert.match(error.message, /prompt: required/);
    });

    test('a wrong key is an AuthenticationError', async () => {
      const error = await failure(openai(SDK, { apiKey: 'sk-wrong' }).completions.create(ask('Let me in')));
      assert.ok(error instanceof SDK.AuthenticationError);
      assert.match(error.requestID, requestID);
    });

    test('a rate limit of the provider is a RateLimitError with its retry-after', async () => {
      const error = await failure(client.completions.create(ask('[[fault:429 retry-after=7]]')));
      assert.ok(error instanceof SDK.RateLimitError);
      assert.equal(error.headers.get('retry-after'), '7');
    });

    for (const fault of ['cut', 'no-finish', 'error-event']) {
      test(`a stream that fails midway (${fault}) throws before it ends`, async () => {
        const stream = await client.completions.create(ask(`[[fault:${fault}]] Tell a story that breaks off`, { stream: true }));
        const error = await failure(collect(stream));
        assert.ok(error instanceof SDK.APIError, `got ${error}`);
      });
    }

    test('leaving the loop over the chunks closes the stream', async () => {
      const stream = await client.completions.create(ask('[[words:500]] Tell a story that nobody hears', { stream: true }));
      for await (const chunk of stream) {
        if (chunk.choices[0].text) break;
      }
      assert.ok(stream.controller.signal.aborted);
    });
  });
}
