// Messages and chat through the vendors' own clients where the provider does
// nothing but go on with a text, and refuses every field of another format. What
// such a provider repeats of the prompt holds the stop of its template, so most
// answers here are cut by the gateway.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { anthropic, anthropicMajors, collect, failure, openai, openaiMajors, requestID } from './gateway.js';

const models = ['completions-only', 'completions-chatml'];
const said = (role, content) => ({ role, content });
const turns = [said('user', 'Hello'), said('assistant', 'Hi!'), said('user', 'And now?')];
const tool = { name: 'get_time', description: 'Gives the time' };
const midway = ['cut', 'no-finish', 'error-event', 'garbage'];

// each runs a suite for every major of a client and both kinds of prompt.
const each = (majors, connect, suite) => {
  for (const [major, SDK] of majors) {
    for (const model of models) {
      describe(`${major}, model ${model}`, () => suite(SDK, connect(SDK), model));
    }
  }
};

each(anthropicMajors, anthropic, (SDK, client, model) => {
  const ask = (content, more = {}) => ({ model, max_tokens: 1024, messages: [said('user', content)], ...more });
  const unmarked = ({ id, parsed_output, ...rest }) => rest;
  const textOf = (message) => message.content.map((block) => block.text).join('');

  for (const [name, request, reason] of [
    ['text', ask('Compare a stream with a plain answer'), 'end_turn'],
    ['a system prompt and every hint', ask([{ type: 'text', text: 'Blocks', cache_control: { type: 'ephemeral' } }], {
      system: [{ type: 'text', text: 'You are terse.' }, { type: 'text', text: 'Be kind.' }],
      metadata: { user_id: 'someone' },
      thinking: { type: 'adaptive' },
      temperature: 0.5,
      top_k: 4,
    }), 'end_turn'],
    ['several turns', ask('', { messages: turns }), 'end_turn'],
    ['an answer that was begun', ask('', { messages: [said('user', 'Go'), said('assistant', 'Once upon')] }), 'end_turn'],
    ['the end of the budget', ask('Tell a long story about a river', { max_tokens: 3 }), 'max_tokens'],
    ['a stop sequence', ask('Hi', { stop_sequences: ['answering'] }), 'end_turn'],
    ['a refusal', ask('[[refuse]] this'), 'refusal'],
    ['usage that nobody counted', ask('[[fault:no-usage]] Hi'), 'end_turn'],
  ]) {
    test(`finalMessage of a stream equals the JSON answer: ${name}`, async () => {
      const plain = await client.messages.create(request);
      const stream = client.messages.stream(request);
      assert.deepEqual(unmarked(await stream.finalMessage()), unmarked(plain));
      assert.equal(plain.stop_reason, reason);
      assert.equal(plain.model, model);
      assert.equal(plain.usage.output_tokens > 0, name !== 'usage that nobody counted');
      assert.match(plain._request_id, requestID);
      assert.match(stream.request_id, requestID);
      assert.match(plain.id, /^msg_[0-9A-Za-z]{24}$/);
    });
  }

  test('the system text and all turns stand in the prompt, and no turn is made up', async () => {
    const text = textOf(await client.messages.create(ask('', { system: 'Be kind.', messages: turns })));
    assert.match(text, /in the completions format/);
    assert.match(text, /You wrote: ".*Be kind\./);
    assert.ok(!text.includes('<|im_end|>') && !text.includes('\n\nHuman:'), text);
    const stopped = textOf(await client.messages.create(ask('Hi', { stop_sequences: ['answering'] })));
    assert.equal(stopped, 'This is the demo provider, ');
  });

  test('what no text can hold is a BadRequestError that names it', async () => {
    const refused = `cannot be translated for model '${model}' (upstream format completions)`;
    for (const [more, message] of [
      [{ tools: [{ ...tool, input_schema: { type: 'object' } }] }, `tools: ${refused}`],
      [{ messages: [said('user', [{ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }])] }, `messages.0.content.0.type: 'image' ${refused}`],
    ]) {
      for (const stream of [false, true]) {
        const error = await failure(client.messages.create(ask('Hi', { ...more, stream })));
        assert.ok(error instanceof SDK.BadRequestError, String(error));
        assert.equal(error.error.error.message, message);
      }
    }
  });

  test('the statuses of the provider become those of the format', async () => {
    for (const [fault, status, type] of [
      ['429', 429, 'rate_limit_error'], ['503', 529, 'overloaded_error'], ['500', 500, 'api_error'], ['401', 502, 'api_error'],
    ]) {
      for (const stream of [false, true]) {
        const error = await failure(client.messages.create(ask(`[[fault:${fault}]]`, { stream })));
        assert.ok(error instanceof SDK.APIError, String(error));
        assert.deepEqual([error.status, error.error.error.type], [status, type], fault);
      }
    }
  });

  for (const fault of midway) {
    test(`a stream that fails midway (${fault}) never ends as a finished message`, async () => {
      const stream = client.messages.stream(ask(`[[fault:${fault}]] Tell a story that breaks off`));
      let heard = '';
      stream.on('text', (delta) => { heard += delta; });
      const error = await failure(stream.finalMessage());
      assert.ok(error instanceof SDK.APIError, String(error));
      assert.ok(heard.length > 0, 'the text before the failure arrived');
    });
  }
});

each(openaiMajors, openai, (SDK, client, model) => {
  const ask = (content, more = {}) => ({ model, max_completion_tokens: 1024, messages: [said('user', content)], ...more });
  // The client's own stream helper adds what it parsed, and leaves out the calls
  // of tools where there were none.
  const unmarked = ({ id, created, usage, choices, ...rest }) => ({
    ...rest,
    choices: choices.map(({ message: { parsed, tool_calls, ...message }, ...choice }) => ({ ...choice, message })),
  });

  for (const [name, request, reason] of [
    ['text', ask('Compare a stream with a plain answer'), 'stop'],
    ['a system prompt and every hint', ask('', {
      messages: [said('system', 'Be terse.'), said('developer', 'Be kind.'), { ...said('user', [{ type: 'text', text: 'Parts' }]), name: 'someone' }],
      user: 'someone',
      seed: 7,
      reasoning_effort: 'low',
      store: false,
    }), 'stop'],
    ['several turns', ask('', { messages: turns }), 'stop'],
    ['several choices', ask('Twice', { n: 2 }), 'stop'],
    ['the end of the budget', ask('Tell a long story about a river', { max_completion_tokens: 3 }), 'length'],
    ['a stop sequence', ask('Hi', { stop: ['answering', 'never'] }), 'stop'],
    ['a refusal', ask('[[refuse]] this'), 'content_filter'],
    ['log probabilities', ask('How likely?', { logprobs: true, top_logprobs: 2 }), 'stop'],
  ]) {
    test(`finalChatCompletion of a stream equals the JSON answer: ${name}`, async () => {
      const plain = await client.chat.completions.create(request);
      const stream = client.chat.completions.stream({ ...request, stream_options: { include_usage: true } });
      const answer = await stream.finalChatCompletion();
      assert.deepEqual(unmarked(answer), unmarked(plain));
      assert.deepEqual(answer.usage ?? (await stream.totalUsage()), plain.usage);
      assert.deepEqual(plain.choices.map((choice) => choice.finish_reason), Array(request.n ?? 1).fill(reason));
      assert.equal(plain.usage.total_tokens, plain.usage.prompt_tokens + plain.usage.completion_tokens);
      assert.match(plain._request_id, requestID);
    });
  }

  test('the system text and all turns stand in the prompt, and no turn is made up', async () => {
    const { content } = (await client.chat.completions.create(ask('', { messages: [said('system', 'Be kind.'), ...turns] }))).choices[0].message;
    assert.match(content, /in the completions format/);
    assert.match(content, /You wrote: ".*Be kind\./);
    assert.ok(!content.includes('<|im_end|>') && !content.includes('\n\nHuman:'), content);
  });

  test('usage is told in the last chunk, and only where it is asked for', async () => {
    const asked = await collect(await client.chat.completions.create(ask('Hi', { stream: true, stream_options: { include_usage: true } })));
    assert.deepEqual(asked.at(-1).choices, []);
    assert.ok(asked.at(-1).usage.completion_tokens > 0);
    assert.equal(asked.filter((chunk) => chunk.usage).length, 1);
    const silent = await collect(await client.chat.completions.create(ask('Hi', { stream: true })));
    assert.ok(silent.every((chunk) => !('usage' in chunk) && chunk.choices.length === 1));
  });

  test('what no text can hold is a BadRequestError that names it', async () => {
    for (const [param, more] of Object.entries({
      tools: { tools: [{ type: 'function', function: tool }] },
      'messages[0].content[0].type': { messages: [said('user', [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }])] },
      response_format: { response_format: { type: 'json_schema', json_schema: { name: 'place', schema: { type: 'object' } } } },
    })) {
      for (const stream of [false, true]) {
        const error = await failure(client.chat.completions.create(ask('Hi', { ...more, stream })));
        assert.ok(error instanceof SDK.BadRequestError, String(error));
        assert.deepEqual([error.param, error.code], [param, 'unsupported_for_upstream']);
      }
    }
  });

  test('the statuses of the provider become those of the format', async () => {
    for (const [fault, status, code] of [
      ['429', 429, 'rate_limit_exceeded'], ['529', 503, 'overloaded'], ['500', 500, null], ['401', 502, 'upstream_auth'],
    ]) {
      for (const stream of [false, true]) {
        const error = await failure(client.chat.completions.create(ask(`[[fault:${fault}]]`, { stream })));
        assert.ok(error instanceof SDK.APIError, String(error));
        assert.deepEqual([error.status, error.code], [status, code], fault);
      }
    }
  });

  for (const fault of midway) {
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
