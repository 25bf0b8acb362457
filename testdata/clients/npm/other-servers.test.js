// What servers do that the vendors' own services do not, as the vendors' clients
// see it behind the gateway: Ollama, proxies that fail, models that say nothing.
// The provider speaks the client's format, or the other one.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { anthropic, anthropicMajors, failure, openai, openaiMajors } from './gateway.js';

const models = ['hurried-messages', 'hurried-chat'];

// An error that came in one piece with text was once a status in most runs, and
// the text was lost.
const breaksOff = '[[fault:burst]] [[fault:error-event after=2]] Tell a story that breaks off';

for (const [major, SDK] of anthropicMajors) {
  for (const model of models) {
    describe(`${major}, ${model}`, () => {
      const client = anthropic(SDK);
      const ask = (...turns) => ({
        model,
        max_tokens: 1024,
        messages: turns.map((content, i) => ({ role: i % 2 ? 'assistant' : 'user', content })),
      });
      const textOf = ({ content }) => content.filter(({ type }) => type === 'text').map(({ text }) => text).join('');

      test('an error right behind text ends the stream, and the text is there', async () => {
        const stream = client.messages.stream(ask(breaksOff));
        let heard = '';
        stream.on('text', (text) => { heard += text; });
        const error = await failure(stream.finalMessage());
        assert.ok(error instanceof SDK.APIError);
        assert.equal(error.status, undefined, 'an error of the stream');
        assert.equal(heard, 'This is');
      });

      test('thinking without a signature comes back in the next turn', async () => {
        const prompt = '[[think]] [[fault:no-signature]] about primes';
        const plain = await client.messages.create(ask(prompt));
        const streamed = await client.messages.stream(ask(prompt)).finalMessage();
        for (const { content } of [plain, streamed]) {
          assert.equal(content[0].type, 'thinking');
          assert.match(textOf(await client.messages.create(ask(prompt, content, 'And further?'))), /And further/);
          assert.match(textOf(await client.messages.stream(ask(prompt, content, 'And further?')).finalMessage()), /And further/);
        }
      });

      test('an answer that says nothing is an answer', async () => {
        const plain = await client.messages.create(ask('[[fault:no-content]] Hi'));
        const streamed = await client.messages.stream(ask('[[fault:no-content]] Hi')).finalMessage();
        assert.deepEqual(plain.content ?? [], [], 'null, as the provider wrote it, or empty');
        assert.deepEqual(streamed.content, []);
        for (const { stop_reason, usage } of [plain, streamed]) {
          assert.equal(stop_reason, 'end_turn');
          assert.ok(usage.input_tokens > 0);
        }
      });

      test('a prompt beyond the context is refused in the words on which Claude Code compacts', async () => {
        for (const request of [ask('[[fault:too-long]]'), { ...ask('[[fault:too-long]]'), stream: true }]) {
          const error = await failure(client.messages.create(request));
          assert.ok(error instanceof SDK.BadRequestError);
          assert.equal(error.error.error.type, 'invalid_request_error');
          assert.match(error.error.error.message, /^prompt is too long: .*213462 tokens/);
        }
      });
    });
  }
}

// Claude Code keeps in the conversation what it was refused, unless it finds
// these words: then it takes it out, and goes on.
for (const [major, SDK] of anthropicMajors) {
  describe(`${major}, providers that take less`, () => {
    const client = anthropic(SDK);
    const ask = (model, ...messages) => client.messages.create({ model, max_tokens: 1024, messages });
    const user = (content) => ({ role: 'user', content });
    const pdf = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQ=' } };
    const turns = {
      'a PDF': [user([pdf, { type: 'text', text: 'What is in it?' }])],
      'a PDF that a tool has read': [
        user('Read it'),
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'Read', input: {} }] },
        user([{ type: 'tool_result', tool_use_id: 'toolu_1', content: [pdf] }]),
      ],
    };

    for (const [name, messages] of Object.entries(turns)) {
      test(`${name} is refused in words that name the reason`, async () => {
        const error = await failure(ask('hurried-chat', ...messages));
        assert.ok(error instanceof SDK.BadRequestError);
        assert.match(error.error.error.message, /does not support PDF input/);
      });

      test(`${name} is left out on request`, async () => {
        const { data, response } = await ask('without-files', ...messages).withResponse();
        assert.equal(data.stop_reason, 'end_turn');
        assert.match(response.headers.get('x-gateway-dropped'), /^messages\.\*\.content/);
      });
    }

    test('a system message in mid-conversation is refused in the words of the vendor', async () => {
      const error = await failure(ask('strict-template', user('Hi'), { role: 'system', content: 'Be brief.' }));
      assert.ok(error instanceof SDK.BadRequestError);
      assert.match(error.error.error.message, /role 'system' is not supported on this model/);
    });
  });
}

for (const [major, SDK] of openaiMajors) {
  for (const model of models) {
    describe(`${major}, ${model}`, () => {
      const client = openai(SDK);
      const ask = (content, more = {}) => ({ model, messages: [{ role: 'user', content }], ...more });

      test('an error right behind text ends the stream, and the text is there', async () => {
        const stream = client.chat.completions.stream(ask(breaksOff));
        let heard = '';
        stream.on('content', (text) => { heard += text; });
        const error = await failure(stream.finalChatCompletion());
        assert.ok(error instanceof SDK.APIError);
        assert.equal(error.status, undefined, 'an error of the stream');
        assert.equal(heard, 'This is');
      });

      test('the same of a text to be completed', async () => {
        const stream = await client.completions.create({ model, prompt: breaksOff, max_tokens: 100, stream: true });
        let heard = '';
        const error = await failure((async () => {
          for await (const { choices } of stream) heard += choices[0]?.text ?? '';
        })());
        assert.ok(error instanceof SDK.APIError);
        assert.equal(heard, 'This is');
      });

      test('an answer that says nothing is an answer', async () => {
        const plain = await client.chat.completions.create(ask('[[fault:no-content]] Hi'));
        const streamed = await client.chat.completions.stream(ask('[[fault:no-content]] Hi')).finalChatCompletion();
        for (const { choices: [choice] } of [plain, streamed]) {
          assert.ok(!choice.message.content, 'null or empty');
          assert.equal(choice.finish_reason, 'stop');
        }
        const completed = await client.completions.create({ model, prompt: '[[fault:no-content]] Hi', max_tokens: 100 });
        assert.equal(completed.choices[0].text, '');
      });

      test('a prompt beyond the context has the code by which clients know', async () => {
        for (const stream of [false, true]) {
          const error = await failure(client.chat.completions.create(ask('[[fault:too-long]]', { stream })));
          assert.ok(error instanceof SDK.BadRequestError);
          assert.equal(error.code, 'context_length_exceeded');
          assert.match(error.message, /213462 tokens/);
        }
      });
    });
  }
}
