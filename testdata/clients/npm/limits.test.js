// A key with a limit, as the vendors' own clients see it: what is left stands on
// every answer, and what is too much is a RateLimitError that says when to come
// again. All tests share the four requests that the key may send, and the budget of
// another key, which has room for one answer.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { anthropic, anthropicMajors, budgetKey, failure, limitedKey, model, openai, openaiMajors, recordingFetch, requestID } from './gateway.js';

const ask = { model, max_tokens: 64, messages: [{ role: 'user', content: 'How much is left?' }] };

const usedUp = /the budget of this key, 65 USD per month, has less left than this request may cost, [\d.]+ USD: send less, or lower the bound of its answer; there is room again at \d{4}-\d\d-01 00:00 UTC$/;

// exhaust sends requests until one is refused, and gives the answers before it.
async function exhaust(send) {
  const answers = [];
  for (let i = 0; i < 5; i++) {
    try {
      answers.push((await send(i).withResponse()).response.headers);
    } catch (error) {
      return { answers, error };
    }
  }
  throw new Error('more requests were served than the key may send');
}

for (const [major, SDK] of anthropicMajors) {
  describe(major, () => {
    const client = anthropic(SDK, { apiKey: limitedKey });

    test('G120 what is left, then a RateLimitError with what there is to know', async () => {
      const { answers, error } = await exhaust((i) => client.messages.create({ ...ask, stream: i % 2 === 1 }));
      for (const headers of [...answers, error.headers]) {
        assert.equal(headers.get('anthropic-ratelimit-requests-limit'), '4');
        assert.match(headers.get('anthropic-ratelimit-requests-remaining'), /^[0-3]$/);
        assert.match(headers.get('anthropic-ratelimit-tokens-remaining'), /^\d{5,6}$/);
        const reset = headers.get('anthropic-ratelimit-requests-reset');
        assert.match(reset, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
        assert.ok(Date.parse(reset) > Date.now());
      }
      assert.ok(error instanceof SDK.RateLimitError, `got ${error}`);
      assert.equal(error.error.error.type, 'rate_limit_error');
      assert.equal(error.error.error.message, 'request rate limit reached for this key');
      assert.equal(error.headers.get('anthropic-ratelimit-requests-remaining'), '0');
      assert.match(error.headers.get('retry-after'), /^[1-9]\d*$/);
      assert.match(error.requestID, requestID);
    });

    // Waiting helps against a rate, and not against a budget.
    test('an exhausted budget is a RateLimitError, and the request is not sent again', async () => {
      const wire = recordingFetch();
      const patient = anthropic(SDK, { apiKey: budgetKey, maxRetries: 2, fetch: wire.fetch });
      const { answers, error } = await exhaust(() => patient.messages.create({ ...ask, model: 'priced' }));
      assert.ok(error instanceof SDK.RateLimitError, `got ${error}`);
      assert.equal(error.error.error.type, 'rate_limit_error');
      assert.match(error.error.error.message, usedUp);
      assert.equal(error.headers.get('x-should-retry'), 'false');
      assert.equal(wire.sent.length, answers.length + 1);
    });

    test('a request that is too large is not sent again', async () => {
      const wire = recordingFetch();
      const patient = anthropic(SDK, { apiKey: limitedKey, maxRetries: 2, fetch: wire.fetch });
      const error = await failure(patient.messages.create({ ...ask, stream: true, max_tokens: 200_000 }));
      assert.ok(error instanceof SDK.RateLimitError, `got ${error}`);
      assert.match(error.error.error.message, /^this request alone may use \d+ tokens, more than the token rate limit of 100000 /);
      assert.equal(wire.sent.length, 1);
    });
  });
}

for (const [major, SDK] of openaiMajors) {
  describe(major, () => {
    const client = openai(SDK, { apiKey: limitedKey });
    const sends = {
      chat: (i) => client.chat.completions.create({ ...ask, stream: i % 2 === 1 }),
      completions: (i) => client.completions.create({ model, max_tokens: 64, prompt: 'How much is left?', stream: i % 2 === 1 }),
      responses: (i) => client.responses.create({ model, max_output_tokens: 64, input: 'How much is left?', stream: i % 2 === 1 }),
    };

    for (const [format, send] of Object.entries(sends)) {
      test(`G120 ${format}: what is left, then a RateLimitError with what there is to know`, async () => {
        const { answers, error } = await exhaust(send);
        for (const headers of [...answers, error.headers]) {
          assert.equal(headers.get('x-ratelimit-limit-requests'), '4');
          assert.match(headers.get('x-ratelimit-remaining-requests'), /^[0-3]$/);
          assert.match(headers.get('x-ratelimit-remaining-tokens'), /^\d{5,6}$/);
          assert.match(headers.get('x-ratelimit-reset-requests'), /^(1h)?\d+m\d+s$/);
        }
        assert.ok(error instanceof SDK.RateLimitError, `got ${error}`);
        assert.equal(error.code, 'rate_limit_exceeded');
        assert.equal(error.type, 'rate_limit_error');
        assert.equal(error.headers.get('x-ratelimit-remaining-requests'), '0');
        assert.match(error.headers.get('retry-after'), /^[1-9]\d*$/);
        assert.match(error.requestID, requestID);
      });
    }

    for (const [format, send] of Object.entries({
      chat: (patient) => patient.chat.completions.create({ ...ask, model: 'priced' }),
      completions: (patient) => patient.completions.create({ model: 'priced', max_tokens: 64, prompt: 'How much is left?' }),
      responses: (patient) => patient.responses.create({ model: 'priced', max_output_tokens: 64, input: 'How much is left?' }),
    })) {
      test(`${format}: an exhausted budget is a RateLimitError of its own, and the request is not sent again`, async () => {
        const wire = recordingFetch();
        const patient = openai(SDK, { apiKey: budgetKey, maxRetries: 2, fetch: wire.fetch });
        const { answers, error } = await exhaust(() => send(patient));
        assert.ok(error instanceof SDK.RateLimitError, `got ${error}`);
        assert.equal(error.code, 'insufficient_quota');
        assert.equal(error.type, 'insufficient_quota');
        assert.match(error.message, usedUp);
        assert.equal(error.headers.get('x-should-retry'), 'false');
        assert.equal(wire.sent.length, answers.length + 1);
      });
    }

    for (const [format, send] of Object.entries({
      chat: (patient) => patient.chat.completions.create({ ...ask, max_tokens: 200_000 }),
      responses: (patient) => patient.responses.create({ model, max_output_tokens: 200_000, input: 'How much is left?' }),
    })) {
      test(`${format}: a request that is too large is not sent again`, async () => {
        const wire = recordingFetch();
        const error = await failure(send(openai(SDK, { apiKey: limitedKey, maxRetries: 2, fetch: wire.fetch })));
        assert.ok(error instanceof SDK.RateLimitError, `got ${error}`);
        assert.match(error.message, /this request alone may use \d+ tokens, more than the token rate limit of 100000 /);
        assert.equal(error.headers.get('x-should-retry'), 'false');
        assert.equal(wire.sent.length, 1);
      });
    }
  });
}
