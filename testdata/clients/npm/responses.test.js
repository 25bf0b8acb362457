// The responses format through the vendor's own clients, on a provider of each
// format. The providers refuse every field that is not of their format, and take
// back only the reasoning that they signed.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collect, failure, openai, openaiMajors, requestID } from './gateway.js';

// The formats that carry a whole conversation, with tools and reasoning.
const formats = ['responses', 'chat', 'messages'];

const modelOf = (format) => `${format}-only`;

const tool = (name, properties) => ({
  type: 'function',
  name,
  description: `Gives ${name}`,
  strict: false,
  parameters: { type: 'object', properties, required: Object.keys(properties) },
});
const tools = [tool('get_weather', { city: { type: 'string' } }), tool('get_time', {})];
const notes = [{ type: 'custom', name: 'note', description: 'Takes a note' }];

const place = {
  type: 'json_schema',
  name: 'place',
  strict: true,
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
};

const png = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

const ofType = (response, type) => response.output.filter((item) => item.type === type);

// unmarked leaves out what is new for each answer, what only the client's own
// helpers add, and the long texts of a request, which translated streams do not
// repeat.
const unmarked = ({ id, created_at, completed_at, output, output_text, output_parsed, _request_id, instructions, tools, ...rest }) => ({
  ...rest,
  output: output.map(({ id, call_id, encrypted_content, parsed_arguments, content, ...item }) => ({
    ...item,
    content: content?.map(({ parsed, ...part }) => part),
    sealed: encrypted_content != null,
  })),
});

for (const [major, SDK] of openaiMajors) {
  const client = openai(SDK);

  for (const format of formats) {
    describe(`${major}, responses, provider of the ${format} format`, () => {
      const ask = (input, more = {}) => ({ model: modelOf(format), store: false, input, ...more });

      describe('finalResponse of a stream equals the JSON answer', () => {
        for (const [name, request] of Object.entries({
          text: ask('Compare a stream with a plain answer'),
          'instructions and every hint': ask([{ role: 'developer', content: 'Be kind.' }, { role: 'user', content: 'Parts' }], {
            instructions: 'Be terse.', user: 'a@b.c', safety_identifier: 'abc', prompt_cache_key: 'k', metadata: { a: 'b' },
            service_tier: 'auto', truncation: 'disabled', text: { verbosity: 'low' }, temperature: 0.5,
          }),
          'reasoning before text': ask('About primes', { reasoning: { effort: 'high', summary: 'auto' } }),
          'two calls side by side': ask('call get_weather and call get_time', { tools }),
          'one call at a time': ask('call get_weather and call get_time', { tools, parallel_tool_calls: false }),
          'a forced call': ask('Anything', { tools, tool_choice: { type: 'function', name: 'get_time' } }),
          'a call of a custom tool': ask('[[tool note {"input":"one two\\nthree"}]]', { tools: notes }),
          'the end of the budget': ask('Tell a long story about a river and a mountain and the sea', { max_output_tokens: 16 }),
          'a refusal': ask('[[refuse]] this'),
          'a filtered text': ask('[[filter]] Tell a story'),
          'a structured answer': ask('Where?', { text: { format: place } }),
        })) {
          test(name, async () => {
            const plain = await client.responses.create(request);
            const answer = await client.responses.stream(request).finalResponse();
            assert.deepEqual(unmarked(answer), unmarked(plain));
          });
        }
      });

      test('an answer has text, a status, usage and a request id', async () => {
        const answer = await client.responses.create(ask('Say hello to the gateway'));
        assert.equal(answer.object, 'response');
        assert.equal(answer.status, 'completed');
        assert.equal(answer.model, modelOf(format));
        assert.equal(answer.error, null);
        assert.equal(answer.incomplete_details, null);
        assert.ok(Math.abs(answer.created_at - Date.now() / 1000) < 60, 'created_at is in seconds');
        assert.match(answer.id, /^resp_/);
        assert.match(answer.output_text, new RegExp(`in the ${format} format.*hello to the gateway`));
        assert.ok(answer.usage.input_tokens > 0 && answer.usage.output_tokens > 0);
        assert.equal(answer.usage.total_tokens, answer.usage.input_tokens + answer.usage.output_tokens);
        assert.match(answer._request_id, requestID);
      });

      test('events are numbered without a gap, and the last one has the whole answer', async () => {
        const events = await collect(await client.responses.create(ask('call get_weather and call get_time', {
          tools, stream: true, reasoning: { effort: 'high', summary: 'auto' },
        })));
        assert.deepEqual(events.map((event) => event.sequence_number), events.map((_, number) => number));
        assert.deepEqual([events[0].type, events.at(-1).type], ['response.created', 'response.completed']);
        const { response } = events.at(-1);
        assert.ok(events.every((event) => !event.response || event.response.id === response.id), 'one id');
        const done = events.filter((event) => event.type === 'response.output_item.done');
        assert.deepEqual(done.map((event) => event.item), response.output);
        assert.deepEqual(done.map((event) => event.output_index), response.output.map((_, index) => index));
        assert.equal(ofType(response, 'reasoning').length, 1);
        assert.equal(ofType(response, 'function_call').length, 2);
      });

      test('an answer that was cut off is incomplete, with the reason', async () => {
        for (const [reason, request] of Object.entries({
          max_output_tokens: ask('Tell a long story about a river and a mountain and the sea', { max_output_tokens: 16 }),
          content_filter: ask('[[filter]] Tell a story'),
        })) {
          const answer = await client.responses.create(request);
          assert.equal(answer.status, 'incomplete');
          assert.equal(answer.incomplete_details.reason, reason);
          assert.equal(answer.output.at(-1).status, 'incomplete');
        }
      });

      test('a tool loop of three turns, with parallel calls, an image and a custom tool', async () => {
        const input = [{ role: 'user', content: 'call get_weather and call get_time' }];
        const turn = async (stream) => {
          const request = ask(input, { tools: [...tools, ...notes], reasoning: { effort: 'high', summary: 'auto' }, include: ['reasoning.encrypted_content'] });
          const answer = stream ? await client.responses.stream(request).finalResponse() : await client.responses.create(request);
          for (const { parsed_arguments, ...item } of answer.output) input.push(item);
          return answer;
        };

        const calls = ofType(await turn(true), 'function_call');
        assert.deepEqual(calls.map((call) => call.name), ['get_weather', 'get_time']);
        assert.deepEqual(JSON.parse(calls[0].arguments), { city: 'demo city' });
        input.push(
          { type: 'function_call_output', call_id: calls[0].call_id, output: [{ type: 'input_text', text: 'sunny' }, { type: 'input_image', image_url: png, detail: 'auto' }] },
          { type: 'function_call_output', call_id: calls[1].call_id, output: 'noon' },
        );
        // Chat has no images in results: the image follows them, and is what the provider answers.
        assert.match((await turn(false)).output_text, format === 'chat' ? /Images returned by tool call/ : /The tools answered: "sunny", "noon"/);

        input.push({ role: 'user', content: [{ type: 'input_text', text: '[[tool note {"input":"one\\ntwo"}]]' }, { type: 'input_image', image_url: png, detail: 'auto' }] });
        const [note] = ofType(await turn(true), 'custom_tool_call');
        assert.equal(note.input, 'one\ntwo');
        input.push({ type: 'custom_tool_call_output', call_id: note.call_id, output: 'noted' });
        assert.match((await turn(false)).output_text, /The tools answered: "noted"/);

        input.push({ role: 'user', content: 'What happened so far?' });
        assert.match((await turn(true)).output_text, /What happened so far\?/);
      });

      test('a call in a namespace comes back with its two names', async () => {
        const namespaced = [{ type: 'namespace', name: 'clock', description: 'Time', tools: [tool('get_zone', {})] }];
        const called = format === 'responses' ? 'get_zone' : 'clock__get_zone';
        const [call] = ofType(await client.responses.create(ask(`[[tool ${called} {}]]`, { tools: namespaced })), 'function_call');
        assert.deepEqual([call.namespace, call.name], ['clock', 'get_zone']);
      });

      test('tokens are counted by the provider, or else estimated, which is marked', async () => {
        const { data, response } = await client.responses.inputTokens.count({ model: modelOf(format), input: 'How long is this?', tools }).withResponse();
        assert.equal(data.object, 'response.input_tokens');
        assert.ok(data.input_tokens > 0);
        assert.equal(response.headers.get('x-gateway-estimate'), format === 'chat' ? 'true' : null);
      });

      test('a structured answer parses', async () => {
        const answer = await client.responses.parse(ask('Where?', { text: { format: place } }));
        assert.deepEqual(answer.output_parsed, { city: 'demo city' });
      });

      test('a file reaches the provider, or is refused by name', async () => {
        const request = client.responses.create(ask([{ role: 'user', content: [
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQK' },
          { type: 'input_text', text: 'Read it' },
        ] }]));
        if (format === 'chat') {
          assert.equal((await failure(request)).param, 'input[0].content[0].file_data');
        } else {
          assert.ok((await request).usage.input_tokens > 1500, 'the provider counts the file');
        }
      });

      test('errors are those of the format', async () => {
        for (const [content, status, code] of [
          ['[[fault:429 code=rate_limit_exceeded]] Hi', 429, 'rate_limit_exceeded'],
          ['[[fault:402]] Hi', 429, 'insufficient_quota'],
          ['[[fault:500]] Hi', 500, null],
          ['[[fault:too-long]] Hi', 400, 'context_length_exceeded'],
        ]) {
          for (const stream of [false, true]) {
            const error = await failure(client.responses.create(ask(content, { stream })));
            assert.equal(error.status, status, content);
            assert.equal(error.code, code, content);
            assert.match(error.requestID, requestID);
          }
        }
      });

      for (const fault of ['cut', 'no-finish', 'error-event', 'garbage']) {
        test(`a stream that fails midway (${fault}) never ends as a complete answer`, async () => {
          const types = [];
          try {
            for await (const event of await client.responses.create(ask(`[[fault:${fault}]] Tell a story that breaks off`, { stream: true }))) {
              types.push(event.type);
            }
          } catch {
            types.push('error'); // of whatever class: garbage of the same format is the client's to find
          }
          assert.ok(types.includes('response.output_text.delta'), 'the text before the failure arrived');
          assert.ok(['response.failed', 'error'].includes(types.at(-1)), types.at(-1));
          assert.ok(!types.includes('response.completed') && !types.includes('response.incomplete'));
        });
      }
    });
  }

  describe(`${major}, responses, provider of the completions format`, () => {
    const ask = (input, more = {}) => ({ model: modelOf('completions'), store: false, input, ...more });

    test('a conversation goes on as text, streamed or not', async () => {
      const request = ask([
        { role: 'user', content: 'Hello' },
        { type: 'message', role: 'assistant', id: 'msg_1', status: 'completed', content: [{ type: 'output_text', text: 'Hi', annotations: [] }] },
        { role: 'user', content: 'How are you?' },
      ], { instructions: 'Be terse.', reasoning: { effort: 'low' } });
      const plain = await client.responses.create(request);
      assert.match(plain.output_text, /in the completions format/);
      assert.equal(plain.status, 'completed');
      assert.deepEqual(unmarked(await client.responses.stream(request).finalResponse()), unmarked(plain));
    });

    test('what text cannot carry is refused by name', async () => {
      for (const [request, param] of [
        [ask([{ role: 'user', content: [{ type: 'input_image', image_url: png, detail: 'auto' }] }]), /^input/],
        [ask('Where?', { text: { format: place } }), /^text/],
      ]) {
        const error = await failure(client.responses.create(request));
        assert.equal(error.status, 400);
        assert.match(error.param, param);
        assert.equal(error.code, 'unsupported_for_upstream');
      }
    });
  });

  describe(`${major}, responses, state`, () => {
    test('what needs the state of a provider is refused by name', async () => {
      for (const format of formats) {
        for (const [param, value] of Object.entries({ previous_response_id: 'resp_1', conversation: 'conv_1', background: true })) {
          const error = await failure(client.responses.create({ model: modelOf(format), input: 'Hi', [param]: value }));
          assert.equal(error.status, 400, `${format} ${param}`);
          assert.equal(error.param, param);
        }
      }
    });

    test('responses are not kept', async () => {
      const { id } = await client.responses.create({ model: modelOf('chat'), input: 'Hi' });
      for (const ask of [
        () => client.responses.retrieve(id),
        () => client.responses.delete(id),
        () => client.responses.cancel(id),
        () => client.responses.inputItems.list(id),
      ]) {
        const error = await failure(ask());
        assert.equal(error.status, 404);
        assert.equal(error.code, 'not_found');
        assert.match(error.requestID, requestID);
      }
    });
  });
}
