// The chat format through the vendor's own clients: POST /v1/chat/completions.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { baseURL, collect, failure, model, narrowKey, openai, openaiMajors, recordingFetch, requestID } from './gateway.js';

const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather in a city',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' } },
      required: ['city', 'days'],
    },
  },
};

const ask = (text, more = {}) => ({ model, messages: [{ role: 'user', content: text }], ...more });

for (const [major, SDK] of openaiMajors) {
  describe(`${major}, chat`, () => {
    const client = openai(SDK);

    test('an answer has text, a finish reason, usage and a request id', async () => {
      const answer = await client.chat.completions.create(ask('Say hello to the gateway'));
      assert.equal(answer.object, 'chat.completion');
      assert.match(answer.id, /^chatcmpl-/);
      assert.equal(answer.choices[0].finish_reason, 'stop');
      assert.match(answer.choices[0].message.content, /hello to the gateway/i);
      assert.equal(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens);
      assert.match(answer._request_id, requestID);
    });

    test('a stream accumulates to the same message as the plain answer', async () => {
      const plain = await client.chat.completions.create(ask('Compare a stream with a plain answer'));
      const stream = client.chat.completions.stream(ask('Compare a stream with a plain answer'));
      let heard = '';
      stream.on('content', (delta) => { heard += delta; });
      const answer = await stream.finalChatCompletion();
      assert.equal(answer.choices[0].message.content, plain.choices[0].message.content);
      assert.equal(answer.choices[0].finish_reason, 'stop');
      assert.equal(heard, plain.choices[0].message.content);
    });

    test('usage comes in a last chunk when the client asks for it', async () => {
      const request = ask('How much was that?', { stream: true, stream_options: { include_usage: true } });
      const plain = await client.chat.completions.create(ask('How much was that?'));
      const chunks = await collect(await client.chat.completions.create(request));
      const last = chunks.at(-1);
      assert.deepEqual(last.choices, []);
      assert.equal(last.usage.prompt_tokens, plain.usage.prompt_tokens);
      assert.equal(last.usage.completion_tokens, plain.usage.completion_tokens);
      assert.equal(chunks.filter((chunk) => chunk.usage).length, 1);
    });

    test('no usage chunk reaches a client that did not ask for it', async () => {
      const chunks = await collect(await client.chat.completions.create(ask('And now?', { stream: true })));
      assert.ok(chunks.every((chunk) => chunk.choices.length > 0 && !chunk.usage));
      assert.equal(new Set(chunks.map((chunk) => chunk.id)).size, 1);
    });

    test('max_completion_tokens ends an answer, streamed or not', async () => {
      const request = ask('Tell a long story about a river that flows to the sea', { max_completion_tokens: 3 });
      const plain = await client.chat.completions.create(request);
      const chunks = await collect(await client.chat.completions.create({ ...request, stream: true }));
      assert.equal(plain.choices[0].finish_reason, 'length');
      assert.ok(chunks.some((chunk) => chunk.choices[0]?.finish_reason === 'length'));
    });

    test('several choices are kept apart', async () => {
      const request = ask('Say it twice', { n: 2 });
      const plain = await client.chat.completions.create(request);
      const streamed = await client.chat.completions.stream(request).finalChatCompletion();
      for (const answer of [plain, streamed]) {
        assert.deepEqual(answer.choices.map((choice) => choice.index), [0, 1]);
      }
    });

    test('a tool is called with arguments that fit its schema, streamed or not', async () => {
      const request = ask('Please call get_weather', { tools: [weather] });
      const plain = await client.chat.completions.create(request);
      const streamed = await client.chat.completions.stream(request).finalChatCompletion();
      for (const { choices: [choice] } of [plain, streamed]) {
        assert.equal(choice.finish_reason, 'tool_calls');
        const [call] = choice.message.tool_calls;
        assert.equal(call.function.name, 'get_weather');
        const input = JSON.parse(call.function.arguments);
        assert.equal(typeof input.city, 'string');
        assert.ok(Number.isInteger(input.days));
      }
    });

    test('the SDK\'s own tool loop runs to its end, streamed or not', async () => {
      for (const stream of [false, true]) {
        const asked = [];
        const tool = {
          ...weather,
          function: {
            ...weather.function,
            parse: JSON.parse,
            function: (input) => { asked.push(input); return 'sunny, 21 degrees'; },
          },
        };
        const runner = client.chat.completions.runTools(ask('Please call get_weather', { tools: [tool], stream }));
        assert.match(await runner.finalContent(), /sunny, 21 degrees/);
        assert.equal(asked.length, 1);
      }
    });

    test('an unreachable provider is passed over for the next one', async () => {
      const text = await client.chat.completions.stream(ask('Who answers?', { model: 'fallback' })).finalContent();
      assert.match(text, /who answers\?/i);
    });

    test('many streams at once keep apart', async () => {
      const names = Array.from({ length: 12 }, (_, i) => `traveller${i}`);
      const texts = await Promise.all(names.map((name) => client.chat.completions.stream(ask(`Greet ${name}!`)).finalContent()));
      names.forEach((name, i) => assert.match(texts[i], new RegExp(`${name}!`)));
    });

    describe('errors', () => {
      test('a wrong key is not worth another try', async () => {
        const wire = recordingFetch();
        const error = await failure(openai(SDK, { apiKey: 'sk-wrong', maxRetries: 2, fetch: wire.fetch }).chat.completions.create(ask('Let me in')));
        assert.equal(error.status, 401);
        assert.equal(error.headers.get('x-should-retry'), 'false');
        assert.equal(wire.sent.length, 1);
      });

      test('a wrong key is an AuthenticationError with a request id', async () => {
        const error = await failure(openai(SDK, { apiKey: 'sk-wrong' }).chat.completions.create(ask('Let me in')));
        assert.ok(error instanceof SDK.AuthenticationError);
        assert.equal(error.code, 'invalid_api_key');
        assert.match(error.message, /the API key is not valid/);
        assert.match(error.requestID, requestID);
      });

      test('a field out of range is a BadRequestError that names it', async () => {
        const error = await failure(client.chat.completions.create(ask('Hi', { n: 0 })));
        assert.ok(error instanceof SDK.BadRequestError);
        assert.equal(error.param, 'n');
        assert.equal(error.code, 'invalid_value');
        assert.match(error.message, /n: must be an integer of at least 1, got 0/);
      });

      test('a path inside the messages is written as clients expect it', async () => {
        const error = await failure(client.chat.completions.create({ model, messages: [{ role: 'wizard', content: 'Hi' }] }));
        assert.ok(error instanceof SDK.BadRequestError);
        assert.equal(error.param, 'messages[0].role');
      });

      test('an unknown model is a NotFoundError', async () => {
        const error = await failure(client.chat.completions.create(ask('Hi', { model: 'no-such-model' })));
        assert.ok(error instanceof SDK.NotFoundError);
        assert.equal(error.code, 'model_not_found');
        assert.equal(error.param, 'model');
      });

      test('a key is kept to its models by a PermissionDeniedError', async () => {
        const narrow = openai(SDK, { apiKey: narrowKey });
        const answer = await narrow.chat.completions.create(ask('Hello', { model: 'alias' }));
        assert.equal(answer.choices[0].finish_reason, 'stop');
        const error = await failure(narrow.chat.completions.create(ask('Hello')));
        assert.ok(error instanceof SDK.PermissionDeniedError);
        assert.equal(error.code, 'permission_denied');
      });

      test('an unreachable provider is an InternalServerError without its address', async () => {
        const error = await failure(client.chat.completions.create(ask('Hi', { model: 'absent' })));
        assert.ok(error instanceof SDK.InternalServerError);
        assert.equal(error.code, 'upstream_unreachable');
        assert.ok(!error.message.includes('127.0.0.1'));
      });

      test('an unknown path is a NotFoundError', async () => {
        const error = await failure(client.post('/nothing', { body: {} }));
        assert.ok(error instanceof SDK.NotFoundError);
        assert.equal(error.code, 'not_found');
      });

      // Caddy's empty 200 was an answer without any text.
      test('a base URL without /v1 is a NotFoundError that names the path', async () => {
        const error = await failure(openai(SDK, { baseURL }).chat.completions.create(ask('Hi')));
        assert.ok(error instanceof SDK.NotFoundError);
        assert.match(error.message, /did you mean \/v1\/chat\/completions\?/);
      });

      test('a credential of the gateway that its provider refuses is asked for once', async () => {
        const wire = recordingFetch();
        const stubborn = openai(SDK, { maxRetries: 2, fetch: wire.fetch });
        const error = await failure(stubborn.chat.completions.create(ask('[[fault:401]]')));
        assert.ok(error instanceof SDK.InternalServerError);
        assert.equal(error.code, 'upstream_auth');
        assert.equal(wire.sent.length, 1);
      });

      test('a rate limit of the provider is a RateLimitError with its retry-after', async () => {
        const error = await failure(client.chat.completions.create(ask('[[fault:429 retry-after=7]]')));
        assert.ok(error instanceof SDK.RateLimitError);
        assert.equal(error.headers.get('retry-after'), '7');
        assert.match(error.requestID, requestID);
      });

      test('a client that retries waits as long as retry-after says', async (t) => {
        const waits = [];
        const timer = globalThis.setTimeout;
        t.mock.method(globalThis, 'setTimeout', (callback, delay, ...rest) => {
          if (delay === 7000) waits.push(delay);
          return timer(callback, delay === 7000 ? 0 : delay, ...rest);
        });
        const wire = recordingFetch();
        const patient = openai(SDK, { maxRetries: 2, fetch: wire.fetch });
        const error = await failure(patient.chat.completions.create(ask('[[fault:429 retry-after=7]]')));
        assert.ok(error instanceof SDK.RateLimitError);
        assert.deepEqual(waits, [7000, 7000]);
        assert.deepEqual(wire.sent.map(({ headers }) => headers.get('x-stainless-retry-count')), ['0', '1', '2']);
      });

      test('an overloaded provider is an InternalServerError', async () => {
        const error = await failure(client.chat.completions.create(ask('[[fault:503]]')));
        assert.ok(error instanceof SDK.InternalServerError);
        assert.equal(error.status, 503);
      });

      test('an error before the first chunk is an error status, not a broken stream', async () => {
        for (const fault of ['503', 'first-event-error']) {
          const error = await failure(client.chat.completions.stream(ask(`[[fault:${fault}]]`)).finalChatCompletion());
          assert.ok(error instanceof SDK.APIError, `${fault}: got ${error}`);
          assert.ok(error.status >= 500, `${fault}: status ${error.status}`);
        }
      });

      for (const fault of ['cut', 'no-finish', 'error-event']) {
        test(`a stream that fails midway (${fault}) never ends as a finished answer`, async () => {
          const stream = client.chat.completions.stream(ask(`[[fault:${fault}]] Tell a story that breaks off`));
          let heard = '';
          stream.on('content', (delta) => { heard += delta; });
          const error = await failure(stream.finalChatCompletion());
          assert.ok(error instanceof SDK.APIError, `got ${error}`);
          assert.ok(heard.length > 0, 'the text before the failure arrived');
        });
      }

      test('an unusable answer is a server error without the provider\'s words', async () => {
        for (const fault of ['html', 'garbage', 'empty-body', 'reset']) {
          const error = await failure(client.chat.completions.create(ask(`[[fault:${fault}]]`)));
          assert.ok(error instanceof SDK.InternalServerError, `${fault}: got ${error}`);
          assert.ok(!/[<>]/.test(error.message), fault);
        }
      });
    });

    test('an abort in mid-stream ends the stream with the user\'s own error', async () => {
      const stream = client.chat.completions.stream(ask('[[words:500]] Tell a story that nobody hears to its end'));
      stream.once('content', () => stream.abort());
      const error = await failure(stream.finalChatCompletion());
      assert.ok(error instanceof SDK.APIUserAbortError);
      const answer = await client.chat.completions.create(ask('Still there?'));
      assert.equal(answer.choices[0].finish_reason, 'stop');
    });
  });
}
