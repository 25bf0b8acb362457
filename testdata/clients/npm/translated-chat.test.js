// The chat format through the vendor's own clients where the provider speaks
// messages alone, refuses every field that is not of its format, and takes back
// only the thinking that it signed.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collect, failure, openai, openaiMajors, requestID } from './gateway.js';

const model = 'messages-only';

const ask = (content, more = {}) => ({ model, max_completion_tokens: 4096, messages: [{ role: 'user', content }], ...more });

const tool = (name, properties) => ({
  type: 'function',
  function: { name, description: `Gives ${name}`, parameters: { type: 'object', properties, required: Object.keys(properties) } },
});
const tools = [tool('get_weather', { city: { type: 'string' } }), tool('get_time', {})];

const png = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

// unmarked leaves out what is new for each answer, and what only the client's
// own stream helper adds.
const unmarked = ({ id, created, usage, choices, ...rest }) => ({
  ...rest,
  choices: choices.map(({ message: { parsed, reasoning_content, thinking_blocks, tool_calls, content, ...message }, ...choice }) => ({
    ...choice,
    message: {
      ...message,
      content: content || null,
      tool_calls: (tool_calls ?? []).map(({ id, function: { parsed_arguments, ...call }, ...more }) => ({ ...more, function: call })),
    },
  })),
});

for (const [major, SDK] of openaiMajors) {
  describe(`${major}, provider of the messages format`, () => {
    const client = openai(SDK);

    describe('finalChatCompletion of a stream equals the JSON answer', () => {
      for (const [name, request] of Object.entries({
        text: ask('Compare a stream with a plain answer'),
        'a system prompt and every hint': ask([{ type: 'text', text: 'Parts' }], {
          messages: [{ role: 'system', content: 'Be terse.' }, { role: 'developer', content: 'Be kind.' }, { role: 'user', content: 'Parts', name: 'someone' }],
          user: 'a@b.c',
          seed: 7,
          service_tier: 'auto',
          store: false,
        }),
        'thinking before text': ask('[[think]] about primes', { reasoning_effort: 'high' }),
        'two calls side by side': ask('call get_weather and call get_time', { tools }),
        'a call without words': ask('Anything', { tools, tool_choice: { type: 'function', function: { name: 'get_time' } } }),
        'the end of the budget': ask('Tell a long story about a river', { max_completion_tokens: 3 }),
        'a stop sequence': ask('first second third', { stop: ['second'] }),
        'a refusal': ask('[[refuse]] this'),
      })) {
        test(name, async () => {
          const plain = await client.chat.completions.create(request);
          const stream = client.chat.completions.stream({ ...request, stream_options: { include_usage: true } });
          const answer = await stream.finalChatCompletion();
          assert.deepEqual(unmarked(answer), unmarked(plain));
          assert.deepEqual(answer.usage ?? (await stream.totalUsage()), plain.usage);
          assert.match(answer.id, /^chatcmpl-[0-9A-Za-z]{24}$/);
        });
      }
    });

    test('an answer has text, a finish reason, usage and a request id', async () => {
      const answer = await client.chat.completions.create(ask('Say hello to the gateway'));
      assert.equal(answer.object, 'chat.completion');
      assert.equal(answer.model, model);
      assert.ok(Math.abs(answer.created - Date.now() / 1000) < 60, 'created is in seconds');
      assert.match(answer.choices[0].message.content, /in the messages format.*hello to the gateway/);
      assert.equal(answer.choices[0].finish_reason, 'stop');
      assert.equal(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens);
      assert.match(answer._request_id, requestID);
    });

    test('usage is told in the last chunk, and only where it is asked for', async () => {
      const asked = await collect(await client.chat.completions.create(ask('Hi', { stream: true, stream_options: { include_usage: true } })));
      assert.deepEqual(asked.at(-1).choices, []);
      assert.ok(asked.at(-1).usage.completion_tokens > 0);
      assert.equal(asked.filter((chunk) => chunk.usage).length, 1);
      assert.equal(new Set(asked.map((chunk) => chunk.id)).size, 1, 'one id');
      const silent = await collect(await client.chat.completions.create(ask('Hi', { stream: true })));
      assert.ok(silent.every((chunk) => !('usage' in chunk) && chunk.choices.length === 1));
    });

    test('a stop of white space alone is kept by the gateway', async () => {
      for (const stream of [false, true]) {
        const request = ask('Say one two three', { stop: ' ', stream });
        const answer = await client.chat.completions.create(request);
        const choices = stream ? (await collect(answer)).flatMap((chunk) => chunk.choices) : answer.choices;
        const text = choices.map((choice) => (choice.delta ?? choice.message).content ?? '').join('');
        assert.ok(text.length > 0 && !text.includes(' '), text);
        assert.equal(choices.at(-1).finish_reason, 'stop');
      }
    });

    test('a tool loop of three turns, with parallel calls, an image and thinking that comes back signed', async () => {
      const messages = [{ role: 'user', content: '[[think]] call get_weather and call get_time' }];
      const turn = async (stream) => {
        const request = { model, max_completion_tokens: 4096, reasoning_effort: 'high', messages, tools };
        let message;
        if (stream) {
          message = { role: 'assistant', content: '', thinking_blocks: [], tool_calls: [] };
          for await (const { choices } of await client.chat.completions.create({ ...request, stream })) {
            const { content, thinking_blocks, tool_calls } = choices[0].delta;
            message.content += content ?? '';
            message.thinking_blocks.push(...(thinking_blocks ?? []));
            for (const { index, function: { name, arguments: fragment }, ...call } of tool_calls ?? []) {
              message.tool_calls[index] ??= { ...call, function: { name, arguments: '' } };
              message.tool_calls[index].function.arguments += fragment;
            }
          }
          if (message.tool_calls.length === 0) delete message.tool_calls;
        } else {
          ({ message } = (await client.chat.completions.create(request)).choices[0]);
        }
        messages.push(message);
        return message;
      };

      const first = await turn(true);
      assert.equal(first.tool_calls.length, 2);
      assert.deepEqual(first.tool_calls.map((call) => call.function.name), ['get_weather', 'get_time']);
      assert.deepEqual(JSON.parse(first.tool_calls[0].function.arguments), { city: 'demo city' });
      assert.ok(first.thinking_blocks[0].signature.length > 0);
      messages.push(
        { role: 'tool', tool_call_id: first.tool_calls[0].id, content: [{ type: 'text', text: 'sunny' }, { type: 'image_url', image_url: { url: png } }] },
        { role: 'tool', tool_call_id: first.tool_calls[1].id, content: 'noon' },
      );
      assert.match((await turn(false)).content, /The tools answered: "sunny", "noon"/);
      messages.push({ role: 'user', content: [{ type: 'text', text: '[[think]] Now call get_time once more' }, { type: 'image_url', image_url: { url: png } }] });
      const third = await turn(false);
      assert.equal(third.tool_calls.length, 1);
      assert.ok(third.reasoning_content.length > 0);
      messages.push({ role: 'tool', tool_call_id: third.tool_calls[0].id, content: 'night' });
      assert.match((await turn(true)).content, /The tools answered: "night"/);
    });

    test('thinking that the provider did not sign is refused there', async () => {
      const error = await failure(client.chat.completions.create(ask('', {
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: 'a', thinking_blocks: [{ type: 'thinking', thinking: 'changed', signature: 'c2lnbmVk' }] },
          { role: 'user', content: 'And now?' },
        ],
      })));
      assert.equal(error.status, 400);
    });

    test('a schema reaches the provider', async () => {
      const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
      const answer = await client.chat.completions.create(ask('Where?', { response_format: { type: 'json_schema', json_schema: { name: 'place', strict: true, schema } } }));
      assert.equal(answer.choices[0].finish_reason, 'stop');
    });

    test('errors are those of the format', async () => {
      for (const [content, status, code] of [
        ['[[fault:429]] Hi', 429, 'rate_limit_exceeded'],
        ['[[fault:529]] Hi', 503, 'overloaded'],
        ['[[fault:500]] Hi', 500, null],
      ]) {
        const error = await failure(client.chat.completions.create(ask(content)));
        assert.equal(error.status, status, content);
        assert.equal(error.code, code);
        assert.match(error.requestID, requestID);
      }
      const refused = await failure(client.chat.completions.create(ask('Hi', { logprobs: true })));
      assert.equal(refused.status, 400);
      assert.equal(refused.param, 'logprobs');
      assert.equal(refused.code, 'unsupported_for_upstream');
    });

    for (const fault of ['cut', 'no-finish', 'error-event', 'garbage']) {
      test(`a stream that fails midway (${fault}) never ends as a finished answer`, async () => {
        const stream = client.chat.completions.stream(ask(`[[fault:${fault}]] Tell a story that breaks off`));
        let heard = '';
        stream.on('content', (delta) => { heard += delta; });
        const error = await failure(stream.finalChatCompletion());
        assert.ok(error instanceof SDK.APIError, String(error));
        assert.ok(heard.length > 0, 'the text before the failure arrived');
      });
    }
  });
}
