// The messages format through the vendor's own clients: POST /v1/messages and
// its token counter, with what their accumulators and typed errors make of it.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { anthropic, anthropicMajors, collect, expiredKey, failure, key, model, narrowKey, recordingFetch, requestID } from './gateway.js';

const weather = {
  name: 'get_weather',
  description: 'The weather in a city',
  input_schema: {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer' } },
    required: ['city', 'days'],
  },
};

const ask = (text, more = {}) => ({
  model,
  max_tokens: 1024,
  messages: [{ role: 'user', content: text }],
  ...more,
});

// unmarked leaves out the marks that a provider gives to each answer anew.
const unmarked = (content) => content.map(({ id, signature, ...rest }) => rest);

const textOf = (message) => message.content.filter((block) => block.type === 'text').map((block) => block.text).join('');

for (const [major, SDK] of anthropicMajors) {
  describe(major, () => {
    const client = anthropic(SDK);

    test('an answer has text, a stop reason, usage and a request id', async () => {
      const message = await client.messages.create(ask('Say hello to the gateway'));
      assert.equal(message.type, 'message');
      assert.equal(message.role, 'assistant');
      assert.equal(message.stop_reason, 'end_turn');
      assert.match(message.id, /^msg_/);
      assert.match(textOf(message), /hello to the gateway/i);
      assert.ok(message.usage.input_tokens > 0);
      assert.ok(message.usage.output_tokens > 0);
      assert.match(message._request_id, requestID);
    });

    test('a stream accumulates to the same content as the plain answer', async () => {
      const plain = await client.messages.create(ask('Compare a stream with a plain answer'));
      const stream = client.messages.stream(ask('Compare a stream with a plain answer'));
      let heard = '';
      stream.on('text', (delta) => { heard += delta; });
      const message = await stream.finalMessage();
      assert.deepEqual(unmarked(message.content), unmarked(plain.content));
      assert.equal(message.stop_reason, plain.stop_reason);
      assert.equal(message.usage.input_tokens, plain.usage.input_tokens);
      assert.equal(message.usage.output_tokens, plain.usage.output_tokens);
      assert.equal(heard, textOf(plain));
      assert.match(stream.request_id, requestID);
    });

    test('the raw events keep the order of the grammar', async () => {
      const events = await collect(await client.messages.create(ask('Count the events', { stream: true })));
      const kinds = events.map((event) => event.type);
      assert.equal(kinds[0], 'message_start');
      assert.equal(kinds[1], 'content_block_start');
      assert.deepEqual(kinds.slice(-3), ['content_block_stop', 'message_delta', 'message_stop']);
      assert.ok(kinds.filter((kind) => kind === 'content_block_delta').length > 1, 'text came in several deltas');
    });

    test('max_tokens ends an answer, streamed or not', async () => {
      const request = ask('Tell a long story about a river that flows to the sea', { max_tokens: 3 });
      const plain = await client.messages.create(request);
      const streamed = await client.messages.stream(request).finalMessage();
      assert.equal(plain.stop_reason, 'max_tokens');
      assert.equal(streamed.stop_reason, 'max_tokens');
      assert.equal(plain.usage.output_tokens, 3);
    });

    test('a stop sequence is named in the answer', async () => {
      const request = ask('first second third', { stop_sequences: ['second'] });
      const plain = await client.messages.create(request);
      const streamed = await client.messages.stream(request).finalMessage();
      for (const message of [plain, streamed]) {
        assert.equal(message.stop_reason, 'stop_sequence');
        assert.equal(message.stop_sequence, 'second');
        assert.ok(!textOf(message).includes('second'));
      }
    });

    test('system text and content blocks are accepted', async () => {
      const message = await client.messages.create({
        ...ask([{ type: 'text', text: 'Blocks are welcome', cache_control: { type: 'ephemeral' } }]),
        system: [{ type: 'text', text: 'You are terse.' }],
        metadata: { user_id: 'someone' },
      });
      assert.match(textOf(message), /blocks are welcome/i);
    });

    test('thinking comes with its signature, streamed or not', async () => {
      const request = ask('Think about prime numbers', {
        max_tokens: 4096,
        thinking: { type: 'enabled', budget_tokens: 1024 },
      });
      const plain = await client.messages.create(request);
      const streamed = await client.messages.stream(request).finalMessage();
      for (const message of [plain, streamed]) {
        const [thinking] = message.content;
        assert.equal(thinking.type, 'thinking');
        assert.ok(thinking.thinking.length > 0);
        assert.ok(thinking.signature.length > 0);
      }
      assert.deepEqual(unmarked(streamed.content), unmarked(plain.content));
    });

    test('a tool is called with an input that fits its schema', async () => {
      const message = await client.messages.create(ask('Please call get_weather', { tools: [weather] }));
      assert.equal(message.stop_reason, 'tool_use');
      const call = message.content.find((block) => block.type === 'tool_use');
      assert.equal(call.name, 'get_weather');
      assert.equal(typeof call.input.city, 'string');
      assert.ok(Number.isInteger(call.input.days));
    });

    test('a streamed tool call accumulates to the same input', async () => {
      const request = ask('Please call get_weather', { tools: [weather] });
      const plain = await client.messages.create(request);
      const stream = client.messages.stream(request);
      let fragments = '';
      stream.on('streamEvent', (event) => {
        if (event.delta?.type === 'input_json_delta') fragments += event.delta.partial_json;
      });
      const message = await stream.finalMessage();
      const call = message.content.find((block) => block.type === 'tool_use');
      assert.deepEqual(unmarked(message.content), unmarked(plain.content));
      assert.deepEqual(JSON.parse(fragments), call.input);
      assert.equal(message.stop_reason, 'tool_use');
    });

    test('a tool loop ends with an answer that uses the result', async () => {
      const question = { role: 'user', content: 'Please call get_weather' };
      const first = await client.messages.stream({ ...ask(''), messages: [question], tools: [weather] }).finalMessage();
      const call = first.content.find((block) => block.type === 'tool_use');
      const result = { type: 'tool_result', tool_use_id: call.id, content: 'sunny, 21 degrees' };
      const second = await client.messages.stream({
        ...ask(''),
        tools: [weather],
        messages: [question, { role: 'assistant', content: first.content }, { role: 'user', content: [result] }],
      }).finalMessage();
      assert.equal(second.stop_reason, 'end_turn');
      assert.match(textOf(second), /sunny, 21 degrees/);
    });

    test('two tools named in one prompt are called side by side', async () => {
      const clock = { name: 'get_time', input_schema: { type: 'object', properties: {} } };
      const request = ask('call get_weather and call get_time', { tools: [weather, clock] });
      const plain = await client.messages.create(request);
      const streamed = await client.messages.stream(request).finalMessage();
      const calls = streamed.content.filter((block) => block.type === 'tool_use');
      assert.deepEqual(calls.map((call) => call.name).sort(), ['get_time', 'get_weather']);
      assert.equal(new Set(calls.map((call) => call.id)).size, 2);
      assert.deepEqual(unmarked(streamed.content), unmarked(plain.content));
    });

    test('the beta namespace, which adds a query, is served', async () => {
      const message = await client.beta.messages.create(ask('Beta says hello'));
      assert.match(textOf(message), /beta says hello/i);
    });

    test('tokens are counted', async () => {
      const short = await client.messages.countTokens({ model, messages: ask('short').messages });
      const long = await client.messages.countTokens({ model, messages: ask('long '.repeat(200)).messages });
      assert.ok(short.input_tokens > 0);
      assert.ok(long.input_tokens > short.input_tokens);
    });

    test('an unreachable provider is passed over for the next one', async () => {
      const message = await client.messages.stream(ask('Who answers?', { model: 'fallback' })).finalMessage();
      assert.equal(message.stop_reason, 'end_turn');
      assert.match(textOf(message), /who answers\?/i);
    });

    test('many streams at once keep apart', async () => {
      const names = Array.from({ length: 12 }, (_, i) => `traveller${i}`);
      const texts = await Promise.all(names.map((name) => client.messages.stream(ask(`Greet ${name}!`)).finalText()));
      names.forEach((name, i) => assert.match(texts[i], new RegExp(`${name}!`)));
    });

    describe('credentials', () => {
      test('an auth token is accepted', async () => {
        const message = await anthropic(SDK, { apiKey: null, authToken: key }).messages.create(ask('With a token'));
        assert.equal(message.stop_reason, 'end_turn');
      });

      test('x-api-key alone is accepted', async () => {
        const bare = anthropic(SDK, { defaultHeaders: { authorization: null, 'x-api-key': key } });
        const message = await bare.messages.create(ask('With x-api-key'));
        assert.equal(message.stop_reason, 'end_turn');
      });

      test('a wrong key is an AuthenticationError with a request id', async () => {
        const error = await failure(anthropic(SDK, { apiKey: 'sk-wrong' }).messages.create(ask('Let me in')));
        assert.ok(error instanceof SDK.AuthenticationError);
        assert.equal(error.status, 401);
        assert.equal(error.error.error.type, 'authentication_error');
        assert.equal(error.error.error.message, 'the API key is not valid');
        assert.match(error.requestID, requestID);
        assert.equal(error.error.request_id, error.requestID);
      });

      // Claude Code retries a 401 for minutes unless it reads this header.
      test('a wrong key is not worth another try', async () => {
        const wire = recordingFetch();
        const error = await failure(anthropic(SDK, { apiKey: 'sk-wrong', maxRetries: 2, fetch: wire.fetch }).messages.create(ask('Let me in')));
        assert.equal(error.status, 401);
        assert.equal(error.headers.get('x-should-retry'), 'false');
        assert.equal(wire.sent.length, 1);
      });

      test('an expired key is told from no other', async () => {
        const error = await failure(anthropic(SDK, { apiKey: expiredKey }).messages.create(ask('Let me in')));
        assert.ok(error instanceof SDK.AuthenticationError);
        assert.equal(error.error.error.message, 'the API key is not valid');
      });

      test('a key is kept to its models by a PermissionDeniedError', async () => {
        const narrow = anthropic(SDK, { apiKey: narrowKey });
        const message = await narrow.messages.create(ask('Hello', { model: 'alias' }));
        assert.equal(message.stop_reason, 'end_turn');
        const error = await failure(narrow.messages.create(ask('Hello')));
        assert.ok(error instanceof SDK.PermissionDeniedError);
        assert.equal(error.error.error.type, 'permission_error');
        assert.equal(error.error.error.message, "this key may not use model 'demo'");
      });

      test('no key is an AuthenticationError that says what to send', async () => {
        const bare = anthropic(SDK, { defaultHeaders: { authorization: null, 'x-api-key': null } });
        const error = await failure(bare.messages.create(ask('Let me in')));
        assert.ok(error instanceof SDK.AuthenticationError);
        assert.match(error.error.error.message, /^no credential: send /);
      });
    });

    describe('errors', () => {
      test('a field out of range is a BadRequestError that names it', async () => {
        const error = await failure(client.messages.create(ask('Hi', { max_tokens: 0 })));
        assert.ok(error instanceof SDK.BadRequestError);
        assert.equal(error.error.error.type, 'invalid_request_error');
        assert.equal(error.error.error.message, 'max_tokens: must be an integer of at least 1, got 0');
        assert.equal(error.error.request_id, error.requestID);
      });

      test('a field fault is found before a stream begins', async () => {
        const error = await failure(client.messages.stream(ask('Hi', { temperature: 1.5 })).finalMessage());
        assert.ok(error instanceof SDK.BadRequestError);
        assert.equal(error.error.error.message, 'temperature: must be between 0 and 1, got 1.5');
      });

      test('an unknown model is a NotFoundError', async () => {
        for (const request of [ask('Hi', { model: 'no-such-model' }), ask('Hi', { model: 'no-such-model', stream: true })]) {
          const error = await failure(client.messages.create(request));
          assert.ok(error instanceof SDK.NotFoundError);
          assert.equal(error.error.error.message, "model: 'no-such-model' is not known");
          assert.equal(error.error.request_id, error.requestID);
        }
      });

      test('an unreachable provider is an InternalServerError without its address', async () => {
        const error = await failure(client.messages.create(ask('Hi', { model: 'absent' })));
        assert.ok(error instanceof SDK.InternalServerError);
        assert.equal(error.error.error.type, 'api_error');
        assert.ok(!error.message.includes('127.0.0.1'));
      });

      test('an unknown path is a NotFoundError', async () => {
        const error = await failure(client.post('/v1/nothing', { body: {} }));
        assert.ok(error instanceof SDK.NotFoundError);
        assert.match(error.requestID, requestID);
      });

      test('a rate limit of the provider is a RateLimitError with its retry-after', async () => {
        const error = await failure(client.messages.create(ask('[[fault:429 retry-after=7]]')));
        assert.ok(error instanceof SDK.RateLimitError);
        assert.equal(error.error.error.type, 'rate_limit_error');
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
        const patient = anthropic(SDK, { maxRetries: 2, fetch: wire.fetch });
        const error = await failure(patient.messages.create(ask('[[fault:429 retry-after=7]]')));
        assert.ok(error instanceof SDK.RateLimitError);
        assert.deepEqual(waits, [7000, 7000]);
        assert.deepEqual(wire.sent.map(({ headers }) => headers.get('x-stainless-retry-count')), ['0', '1', '2']);
      });

      test('an overloaded provider keeps its status 529', async () => {
        const error = await failure(client.messages.create(ask('[[fault:529]]')));
        assert.equal(error.status, 529);
        assert.equal(error.error.error.type, 'overloaded_error');
      });

      test('an error before the first event is an error status, not a broken stream', async () => {
        const error = await failure(client.messages.stream(ask('[[fault:529]]')).finalMessage());
        assert.equal(error.status, 529);
        assert.equal(error.error.error.type, 'overloaded_error');
      });

      test('an error event in the first place is an error status too', async () => {
        const error = await failure(client.messages.stream(ask('[[fault:first-event-error]]')).finalMessage());
        assert.ok(error instanceof SDK.APIError);
        assert.ok(error.status >= 500);
      });

      for (const fault of ['cut', 'no-finish', 'error-event']) {
        test(`a stream that fails midway (${fault}) never ends as a finished message`, async () => {
          const stream = client.messages.stream(ask(`[[fault:${fault}]] Tell a story that breaks off`));
          let heard = '';
          stream.on('text', (delta) => { heard += delta; });
          const error = await failure(stream.finalMessage());
          assert.ok(error instanceof SDK.APIError, `got ${error}`);
          assert.ok(heard.length > 0, 'the text before the failure arrived');
        });
      }

      test('an unusable answer is a server error without the provider\'s words', async () => {
        for (const fault of ['html', 'garbage', 'empty-body', 'reset']) {
          const error = await failure(client.messages.create(ask(`[[fault:${fault}]]`)));
          assert.ok(error instanceof SDK.InternalServerError, `${fault}: got ${error}`);
          assert.equal(error.error.type, 'error', fault);
          assert.ok(!/[<>]/.test(error.error.error.message), fault);
        }
      });
    });

    describe('aborts', () => {
      test('an abort in mid-stream ends the stream with the user\'s own error', async () => {
        const stream = client.messages.stream(ask('[[words:500]] Tell a story that nobody hears to its end'));
        stream.once('text', () => stream.abort());
        const error = await failure(stream.finalMessage());
        assert.ok(error instanceof SDK.APIUserAbortError);
        const message = await client.messages.create(ask('Still there?'));
        assert.equal(message.stop_reason, 'end_turn');
      });

      test('leaving the loop over raw events closes the stream', async () => {
        const stream = await client.messages.create(ask('[[words:500]] Tell a story that nobody hears', { stream: true }));
        for await (const event of stream) {
          if (event.type === 'content_block_delta') break;
        }
        assert.ok(stream.controller.signal.aborted);
      });
    });
  });
}
