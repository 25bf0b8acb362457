// The messages format through the vendor's own clients where the provider
// speaks chat alone and refuses every field that is not of its format.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import Anthropic from '@anthropic-ai/sdk';
import { anthropic, anthropicMajors, collect, failure, requestID } from './gateway.js';

const model = 'chat-only';

const ask = (content, more = {}) => ({ model, max_tokens: 1024, messages: [{ role: 'user', content }], ...more });

const tool = (name, properties) => ({
  name,
  description: `Gives ${name}`,
  input_schema: { type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
  cache_control: { type: 'ephemeral' },
});
const tools = [
  tool('get_weather', { city: { type: 'string' }, days: { type: 'integer' } }),
  tool('get_time', {}),
  tool(`a_name_longer_than_chat_takes_${'x'.repeat(60)}`, { path: { type: 'string' } }),
];

const textOf = (message) => message.content.filter((block) => block.type === 'text').map((block) => block.text).join('');
const callsOf = (message) => message.content.filter((block) => block.type === 'tool_use');

// unmarked leaves out the ids, which are new for each answer, and what the
// client's own stream helper adds.
const unmarked = ({ id, parsed_output, content, ...rest }) => ({ ...rest, content: content.map(({ id, ...block }) => block) });

const pixel = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==' };

for (const [major, SDK] of anthropicMajors) {
  describe(`${major}, provider of the chat format`, () => {
    const client = anthropic(SDK);

    describe('finalMessage of a stream equals the JSON answer', () => {
      for (const [name, request] of Object.entries({
        text: ask('Compare a stream with a plain answer'),
        'a system prompt and every hint': ask([{ type: 'text', text: 'Blocks', cache_control: { type: 'ephemeral' } }], {
          system: [{ type: 'text', text: 'You are terse.', cache_control: { type: 'ephemeral' } }, { type: 'text', text: 'Be kind.' }],
          metadata: { user_id: 'someone' },
          top_k: 4,
          service_tier: 'auto',
        }),
        'thinking before text': ask('[[think]] about primes'),
        'thinking before calls': ask('[[think]] and call get_weather', { tools }),
        'two calls side by side': ask('call get_weather and call get_time', { tools }),
        'a call without words': ask('Anything', { tools, tool_choice: { type: 'tool', name: 'get_time' } }),
        'a call of a tool with a long name': ask('Anything', { tools, tool_choice: { type: 'tool', name: tools[2].name } }),
        'the end of the budget': ask('Tell a long story about a river', { max_tokens: 3 }),
        'a stop sequence': ask('first second third', { stop_sequences: ['second'] }),
        'a refusal': ask('[[refuse]] this'),
        'usage that nobody counted': ask('[[fault:no-usage]] Hi'),
      })) {
        test(name, async () => {
          const plain = await client.messages.create(request);
          const stream = client.messages.stream(request);
          let heard = '';
          stream.on('text', (delta) => { heard += delta; });
          const message = await stream.finalMessage();
          assert.deepEqual(unmarked(message), unmarked(plain));
          assert.equal(heard, textOf(plain));
          assert.match(message.id, /^msg_[0-9A-Za-z]{24}$/);
          assert.match(stream.request_id, requestID);
          assert.ok(plain.content.every((block) => block.type !== 'text' || block.text !== ''), 'no empty text block');
        });
      }
    });

    test('thinking is asked for as the provider can be asked', async () => {
      for (const more of [
        { thinking: { type: 'enabled', budget_tokens: 2048 }, max_tokens: 4096 },
        { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
      ]) {
        const message = await client.messages.stream(ask('Think about prime numbers', more)).finalMessage();
        assert.deepEqual(message.content.map((block) => block.type), ['thinking', 'text']);
        assert.ok(message.usage.output_tokens_details.thinking_tokens > 0);
      }
      const calm = await client.messages.create(ask('Do not think', { thinking: { type: 'disabled' } }));
      assert.deepEqual(calm.content.map((block) => block.type), ['text']);
    });

    test('an answer has text, a stop reason, usage and a request id', async () => {
      const message = await client.messages.create(ask('Say hello to the gateway'));
      assert.equal(message.type, 'message');
      assert.equal(message.role, 'assistant');
      assert.equal(message.model, model);
      assert.equal(message.stop_reason, 'end_turn');
      assert.match(textOf(message), /in the chat format.*hello to the gateway/);
      assert.ok(message.usage.input_tokens > 0);
      assert.ok(message.usage.output_tokens > 0);
      assert.match(message._request_id, requestID);
    });

    test('a tool is called by the name that the client gave it', async () => {
      const message = await client.messages.create(ask('Anything', { tools, tool_choice: { type: 'tool', name: tools[2].name } }));
      assert.deepEqual(callsOf(message).map((call) => call.name), [tools[2].name]);
    });

    test('a call that the budget cut is told by the stop reason', async () => {
      const request = ask('call get_weather', { tools, max_tokens: 6 });
      const plain = await client.messages.create(request);
      assert.equal(plain.stop_reason, 'max_tokens');
      assert.deepEqual(callsOf(plain).map((call) => call.input), [{}], 'half an object is none');
      const streamed = await client.messages.stream(request).finalMessage();
      assert.equal(streamed.stop_reason, 'max_tokens');
      assert.deepEqual(callsOf(streamed).map((call) => call.input), [{ city: 'demo city' }], 'as far as the client can read it');
    });

    test('the stop reasons are those of the format', async () => {
      for (const [content, reason, more] of [
        ['call get_time', 'tool_use', { tools }],
        ['Tell a long story about a river', 'max_tokens', { max_tokens: 3 }],
        ['[[refuse]] this', 'refusal', {}],
      ]) {
        assert.equal((await client.messages.create(ask(content, more))).stop_reason, reason);
      }
    });

    test('the raw events keep the order of the grammar', async () => {
      const events = await collect(await client.messages.create(ask('[[think]] call get_weather and call get_time', { tools, stream: true })));
      const kinds = events.map((event) => event.type);
      assert.equal(kinds[0], 'message_start');
      assert.deepEqual(kinds.slice(-3), ['content_block_stop', 'message_delta', 'message_stop']);
      let open = null;
      let next = 0;
      for (const { type, index } of events) {
        if (type === 'content_block_start') {
          assert.equal(open, null, 'one block at a time');
          assert.equal(index, next);
          open = index;
          next += 1;
        }
        if (type === 'content_block_delta') assert.equal(index, open);
        if (type === 'content_block_stop') {
          assert.equal(index, open);
          open = null;
        }
      }
      assert.equal(next, 4, 'thinking, text and two calls');
    });

    test('a tool loop of three turns, with parallel calls, an image, an error and thinking', async () => {
      const messages = [{ role: 'user', content: 'call get_weather and call get_time' }];
      const turn = async (content) => {
        if (content) messages.push({ role: 'user', content });
        const message = await client.messages.stream({ ...ask(''), messages, tools }).finalMessage();
        messages.push({ role: 'assistant', content: message.content });
        return message;
      };

      const first = await turn();
      const [one, two] = callsOf(first);
      assert.deepEqual([one.name, two.name], ['get_weather', 'get_time']);
      assert.notEqual(one.id, two.id);
      assert.equal(typeof one.input.city, 'string');
      assert.ok(Number.isInteger(one.input.days));
      assert.deepEqual(two.input, {});

      const second = await turn([
        { type: 'tool_result', tool_use_id: one.id, content: [{ type: 'text', text: 'a photo:' }, { type: 'image', source: pixel }] },
        { type: 'tool_result', tool_use_id: two.id, content: 'no clock here', is_error: true, cache_control: { type: 'ephemeral' } },
        { type: 'text', text: '[[think]] Now call get_weather once more' },
      ]);
      assert.equal(second.stop_reason, 'tool_use');
      assert.equal(second.content[0].type, 'thinking');
      assert.match(second.content[0].signature, /^gwts1:/);
      const [again] = callsOf(second);
      assert.equal(again.name, 'get_weather');

      const third = await turn([{ type: 'tool_result', tool_use_id: again.id, content: 'sunny, 21 degrees' }]);
      assert.equal(third.stop_reason, 'end_turn');
      assert.match(textOf(third), /The tools answered: "sunny, 21 degrees"/);

      const last = await turn('What was there?');
      assert.match(textOf(last), /3 tools, 1 attachment\./);
    });

    test('an error of a tool reaches the model in words', async () => {
      const question = { role: 'user', content: 'call get_time' };
      const first = await client.messages.create({ ...ask(''), messages: [question], tools });
      const result = { type: 'tool_result', tool_use_id: callsOf(first)[0].id, content: 'no clock here', is_error: true };
      const second = await client.messages.create({
        ...ask(''), tools, messages: [question, { role: 'assistant', content: first.content }, { role: 'user', content: [result] }],
      });
      assert.match(textOf(second), /"Error: no clock here"/);
    });

    test('the thinking of a turn is accepted back and its signature survives', async () => {
      const question = { role: 'user', content: '[[think]] Hello' };
      const first = await client.messages.create(ask(question.content));
      assert.equal(first.content[0].type, 'thinking');
      for (const to of [model, 'messages-only']) {
        const second = await client.messages.create({
          ...ask(''), model: to, messages: [question, { role: 'assistant', content: first.content }, { role: 'user', content: 'Go on' }],
        });
        assert.equal(second.stop_reason, 'end_turn', to);
      }
    });

    test('a system message in the middle of a conversation is kept', async () => {
      const message = await client.beta.messages.create({
        ...ask(''),
        messages: [{ role: 'user', content: 'Hello' }, { role: 'system', content: 'Three words only' }],
        thinking: { type: 'adaptive' },
      });
      assert.match(textOf(message), /You wrote: "Hello"\. The request held 2 messages, a system prompt of 3 words\./);
    });

    test('tokens are estimated where nobody counts them, and the answer says so', async () => {
      const count = async (messages) => {
        const { data, response } = await client.messages.countTokens({ model, messages, tools }).withResponse();
        assert.equal(response.headers.get('x-gateway-estimate'), 'true');
        return data.input_tokens;
      };
      const short = await count([{ role: 'user', content: 'short' }]);
      const long = await count([{ role: 'user', content: 'long '.repeat(200) }]);
      const picture = await count([{ role: 'user', content: [{ type: 'text', text: 'short' }, { type: 'image', source: pixel }] }]);
      assert.ok(short > 0);
      assert.ok(long > short);
      assert.equal(picture, short + 1500);
    });

    test('an unreachable provider is passed over for one of another format', async () => {
      const message = await client.messages.stream(ask('Who answers?', { model: 'mixed' })).finalMessage();
      assert.match(textOf(message), /in the chat format/);
      assert.equal(message.stop_reason, 'end_turn');
    });

    test('what the first target cannot be asked goes to the next', async () => {
      const request = ask('Search the web', { model: 'mixed', tools: [{ type: 'web_search_20250305', name: 'web_search' }] });
      const message = await client.messages.stream(request).finalMessage();
      assert.match(textOf(message), /in the messages format/);
    });

    test('many streams at once keep apart', async () => {
      const names = Array.from({ length: 12 }, (_, i) => `traveller${i}`);
      const texts = await Promise.all(names.map((name) => client.messages.stream(ask(`Greet ${name}!`)).finalText()));
      names.forEach((name, i) => assert.match(texts[i], new RegExp(`${name}!`)));
    });

    describe('errors', () => {
      test('what cannot be translated is a BadRequestError that names it', async () => {
        for (const [more, message] of [
          [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, "tools.0.type: 'web_search_20250305' cannot be translated for model 'chat-only' (upstream format chat)"],
          [{ messages: [{ role: 'user', content: 'Hi' }, { role: 'assistant', content: 'I am' }] }, "messages.1: an assistant message at the end, which asks to be continued, cannot be translated for model 'chat-only' (upstream format chat): end with a user message"],
        ]) {
          for (const stream of [false, true]) {
            const error = await failure(client.messages.create(ask('Hi', { ...more, stream })));
            assert.ok(error instanceof SDK.BadRequestError);
            assert.equal(error.error.error.message, message);
            assert.equal(error.error.request_id, error.requestID);
          }
        }
      });

      test('the statuses of the provider become those of the format', async () => {
        for (const [fault, status, type, kind] of [
          ['400', 400, 'invalid_request_error', SDK.BadRequestError],
          ['401', 502, 'api_error', SDK.InternalServerError],
          ['402', 429, 'rate_limit_error', SDK.RateLimitError],
          ['403', 403, 'permission_error', SDK.PermissionDeniedError],
          ['404', 404, 'not_found_error', SDK.NotFoundError],
          ['409', 409, 'conflict_error', SDK.ConflictError],
          ['422', 400, 'invalid_request_error', SDK.BadRequestError],
          ['429', 429, 'rate_limit_error', SDK.RateLimitError],
          ['429 code=insufficient_quota', 429, 'rate_limit_error', SDK.RateLimitError],
          ['500', 500, 'api_error', SDK.InternalServerError],
          ['503', 529, 'overloaded_error', SDK.InternalServerError],
          ['504', 504, 'timeout_error', SDK.InternalServerError],
        ]) {
          for (const stream of [false, true]) {
            const error = await failure(client.messages.create(ask(`[[fault:${fault}]]`, { stream })));
            assert.ok(error instanceof kind, `${fault}: got ${error}`);
            assert.equal(error.status, status, fault);
            assert.equal(error.error.error.type, type, fault);
            assert.match(error.requestID, requestID);
          }
        }
      });

      test('a client that retries waits as long as retry-after says', async (t) => {
        const waits = [];
        const timer = globalThis.setTimeout;
        t.mock.method(globalThis, 'setTimeout', (callback, delay, ...rest) => {
          if (delay === 7000) waits.push(delay);
          return timer(callback, delay === 7000 ? 0 : delay, ...rest);
        });
        const error = await failure(anthropic(SDK, { maxRetries: 2 }).messages.create(ask('[[fault:429 retry-after=7]]')));
        assert.ok(error instanceof SDK.RateLimitError);
        assert.equal(error.headers.get('retry-after'), '7');
        assert.deepEqual(waits, [7000, 7000]);
      });

      test('an error event in the first place is an error status', async () => {
        const error = await failure(client.messages.stream(ask('[[fault:first-event-error]]')).finalMessage());
        assert.ok(error instanceof SDK.InternalServerError, `got ${error}`);
      });

      for (const fault of ['cut', 'no-finish', 'error-event', 'garbage']) {
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
        for (const fault of ['html', 'html status=200', 'garbage', 'empty-body', 'reset', 'error-event', 'cut']) {
          const error = await failure(client.messages.create(ask(`[[fault:${fault}]]`)));
          assert.ok(error instanceof SDK.InternalServerError, `${fault}: got ${error}`);
          assert.equal(error.error.type, 'error', fault);
          assert.ok(!/[<>]/.test(error.error.error.message), fault);
        }
      });
    });

    test('odd but whole answers are read', async () => {
      for (const fault of ['no-done', 'crlf', 'gzip', 'json']) {
        const message = await client.messages.stream(ask(`[[fault:${fault}]] Still whole`)).finalMessage();
        assert.equal(message.stop_reason, 'end_turn', fault);
        assert.match(textOf(message), /Still whole/, fault);
      }
    });

    test('an abort in mid-stream ends the stream with the user\'s own error', async () => {
      const stream = client.messages.stream(ask('[[words:2000]] Tell a story that nobody hears to its end'));
      stream.once('text', () => stream.abort());
      const error = await failure(stream.finalMessage());
      assert.ok(error instanceof SDK.APIUserAbortError);
      const message = await client.messages.create(ask('Still there?'));
      assert.equal(message.stop_reason, 'end_turn');
    });
  });
}

// The runner of 1.x first asks for a thread that the provider keeps. Told that
// there is none, it goes on with whole conversations.
for (const model of ['chat-only', 'messages-only', 'demo']) {
  describe(`the tool runner of @anthropic-ai/sdk 1 with the model ${model}`, () => {
    for (const stream of [false, true]) {
      test(`runs two tools and ends with an answer that uses them, stream=${stream}`, async () => {
        const ran = [];
        const runnable = (name, result) => betaTool({
          name,
          description: `Gives ${name}`,
          inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          run: (input) => {
            ran.push([name, typeof input.city]);
            return result;
          },
        });
        const bodies = [];
        const client = anthropic(Anthropic, {
          fetch: (url, init) => {
            bodies.push(JSON.parse(init.body));
            return fetch(url, init);
          },
        });
        const message = await client.beta.messages.toolRunner({
          model,
          max_tokens: 1024,
          messages: [{ role: 'user', content: 'call get_weather and call get_time' }],
          tools: [runnable('get_weather', 'sunny'), runnable('get_time', 'noon')],
          stream,
        }).runUntilDone();
        assert.deepEqual(ran.sort(), [['get_time', 'string'], ['get_weather', 'string']]);
        assert.match(textOf(message), /The tools answered: "sunny", "noon"/);
        assert.deepEqual(bodies.map((body) => body.thread?.type), ['create', undefined, undefined], 'asked once for a thread');
        assert.equal(bodies.at(-1).messages.length, 3, 'the last request holds the whole conversation');
      });
    }
  });
}
