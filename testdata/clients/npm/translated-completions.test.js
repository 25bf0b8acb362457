// The completions format through the vendor's own clients where the provider
// speaks chat or messages alone and refuses every field of another format.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collect, failure, openai, openaiMajors, requestID } from './gateway.js';

for (const [major, SDK] of openaiMajors) {
  for (const format of ['chat', 'messages']) {
    describe(`${major}, completions, provider of the ${format} format`, () => {
      const client = openai(SDK);
      const ask = (prompt, more = {}) => ({ model: `${format}-only`, prompt, max_tokens: 256, ...more });
      const plainly = async (prompt, more) => (await client.completions.create(ask(prompt, more))).choices[0];
      const streamed = async (prompt, more) => collect(await client.completions.create(ask(prompt, { ...more, stream: true })));
      const textOf = (chunks) => chunks.map((chunk) => chunk.choices[0]?.text ?? '').join('');
      const finishOf = (chunks) => chunks.flatMap((chunk) => chunk.choices).at(-1).finish_reason;

      test('an answer has text, a finish reason and a request id', async () => {
        const answer = await client.completions.create(ask('Say hello to the gateway'));
        assert.equal(answer.object, 'text_completion');
        assert.match(answer.id, /^cmpl-/);
        assert.ok(Math.abs(answer.created - Date.now() / 1000) < 60, 'created is in seconds');
        assert.equal(answer.model, `${format}-only`);
        assert.equal(answer.choices.length, 1);
        assert.equal(answer.choices[0].index, 0);
        assert.equal(answer.choices[0].finish_reason, 'stop');
        assert.match(answer.choices[0].text, new RegExp(`in the ${format} format.*hello to the gateway`));
        assert.match(answer._request_id, requestID);
      });

      test('usage has every field of the format, in JSON and as the last chunk', async () => {
        const { usage } = await client.completions.create(ask('How much was that?'));
        const chunks = await streamed('How much was that?', { stream_options: { include_usage: true } });
        assert.deepEqual(chunks.at(-1).choices, []);
        assert.deepEqual(chunks.at(-1).usage, usage);
        assert.equal(chunks.filter((chunk) => chunk.usage).length, 1);
        assert.ok(usage.prompt_tokens > 0);
        assert.ok(usage.completion_tokens > 0);
        assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens);
        const { cached_tokens, text_tokens, audio_tokens, image_tokens } = usage.prompt_tokens_details;
        assert.deepEqual([cached_tokens, text_tokens, audio_tokens, image_tokens], [0, usage.prompt_tokens, 0, 0]);
        assert.deepEqual(usage.completion_tokens_details, { text_tokens: usage.completion_tokens, audio_tokens: 0, reasoning_tokens: 0 });
      });

      test('usage is not shown to a client that did not ask for it', async () => {
        const chunks = await streamed('Quietly');
        assert.ok(chunks.every((chunk) => chunk.choices.length === 1 && !chunk.usage));
      });

      for (const [name, prompt, more] of [
        ['text', 'Compare a stream with a plain answer', {}],
        ['echo', 'Once upon a time', { echo: true }],
        ['a stop string', 'first second third', { stop: ['second', 'never'] }],
        ['a stop of white space', 'first second third', { stop: '\n' }],
        ['the end of the budget', 'Tell a long story about a river', { max_tokens: 3 }],
        ['a refusal', '[[refuse]] this', {}],
        ['a prompt in an array', ['Just one'], {}],
        ['no bound', 'As you like', { max_tokens: null }],
      ]) {
        test(`a stream adds up to the plain answer: ${name}`, async () => {
          const plain = await plainly(prompt, more);
          const chunks = await streamed(prompt, more);
          assert.equal(textOf(chunks), plain.text);
          assert.equal(finishOf(chunks), plain.finish_reason);
          assert.equal(chunks.flatMap((chunk) => chunk.choices).filter((choice) => choice.finish_reason).length, 1);
          assert.equal(new Set(chunks.map((chunk) => chunk.id)).size, 1);
        });
      }

      test('echo puts the prompt before the answer, once', async () => {
        const { text } = await plainly('Once upon a time', { echo: true });
        assert.ok(text.startsWith('Once upon a timeThis is the demo provider'), text);
        const chunks = await streamed('Once upon a time', { echo: true });
        assert.equal(chunks[0].choices[0].text, 'Once upon a time');
      });

      test('the finish reasons are those of the format', async () => {
        const stopped = await plainly('first second third', { stop: ['second'] });
        assert.equal(stopped.finish_reason, 'stop');
        assert.ok(!stopped.text.includes('second'));
        assert.equal((await plainly('Tell a long story', { max_tokens: 3 })).finish_reason, 'length');
        assert.equal((await plainly('[[refuse]] this')).finish_reason, 'content_filter');
      });

      test('what cannot be translated is a BadRequestError that names it', async () => {
        for (const [param, more] of Object.entries({ suffix: { suffix: 'the end' }, best_of: { best_of: 2 }, max_tokens: { max_tokens: 0 } })) {
          const error = await failure(client.completions.create(ask('Hi', more)));
          assert.ok(error instanceof SDK.BadRequestError, param);
          assert.equal(error.param, param);
          assert.equal(error.code, 'unsupported_for_upstream');
        }
        const tokens = await failure(client.completions.create(ask([1, 2, 3])));
        assert.ok(tokens instanceof SDK.BadRequestError);
        assert.equal(tokens.param, 'prompt');
      });

      test('the statuses of the provider become those of the format', async () => {
        for (const [fault, status, code, kind] of [
          ['401', 502, 'upstream_auth', SDK.InternalServerError],
          ['402', 429, 'insufficient_quota', SDK.RateLimitError],
          ['403', 403, 'permission_denied', SDK.PermissionDeniedError],
          ['404', 404, 'model_not_found', SDK.NotFoundError],
          ['429 retry-after=7', 429, 'rate_limit_exceeded', SDK.RateLimitError],
          ['529', 503, 'overloaded', SDK.InternalServerError],
          ['504', 504, 'upstream_timeout', SDK.InternalServerError],
        ]) {
          for (const stream of [false, true]) {
            const error = await failure(client.completions.create(ask(`[[fault:${fault}]]`, { stream })));
            assert.ok(error instanceof kind, `${fault}: got ${error}`);
            assert.equal(error.status, status, fault);
            assert.equal(error.code, code, fault);
            assert.match(error.requestID, requestID);
            if (code === 'rate_limit_exceeded') assert.equal(error.headers.get('retry-after'), '7');
          }
        }
      });

      for (const fault of ['cut', 'no-finish', 'error-event', 'garbage']) {
        test(`a stream that fails midway (${fault}) throws before it ends`, async () => {
          const error = await failure(streamed(`[[fault:${fault}]] Tell a story that breaks off`));
          assert.ok(error instanceof SDK.APIError, `got ${error}`);
        });
      }

      test('leaving the loop over the chunks closes the stream', async () => {
        const stream = await client.completions.create(ask('[[words:200]] Tell a story that nobody hears', { stream: true }));
        for await (const chunk of stream) {
          if (chunk.choices[0].text) break;
        }
        assert.ok(stream.controller.signal.aborted);
      });
    });
  }
}
