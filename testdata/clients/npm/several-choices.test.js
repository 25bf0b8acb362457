// Several prompts, and n above 1, through the vendor's own clients where the
// gateway asks the provider once for each choice.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collect, failure, openai, openaiMajors } from './gateway.js';

for (const [major, SDK] of openaiMajors) {
  const client = openai(SDK);

  for (const format of ['chat', 'messages']) {
    describe(`${major}, several completions, provider of the ${format} format`, () => {
      const request = { model: `${format}-only`, prompt: ['first prompt', 'second prompt'], n: 2, max_tokens: 256 };

      test('every prompt and sample has a choice, and a stream adds up to the plain answer', async () => {
        const plain = await client.completions.create(request);
        assert.deepEqual(plain.choices.map((choice) => choice.index), [0, 1, 2, 3]);
        for (const choice of plain.choices) {
          assert.ok(choice.text.includes(choice.index < 2 ? 'first prompt' : 'second prompt'), choice.text);
          assert.equal(choice.finish_reason, 'stop');
        }
        const chunks = await collect(await client.completions.create({ ...request, stream: true, stream_options: { include_usage: true } }));
        const texts = ['', '', '', ''];
        const finishes = [];
        for (const choice of chunks.flatMap((chunk) => chunk.choices)) {
          texts[choice.index] += choice.text;
          if (choice.finish_reason) finishes.push(choice.index);
        }
        assert.deepEqual(texts, plain.choices.map((choice) => choice.text));
        assert.deepEqual(finishes.sort(), [0, 1, 2, 3]);
        assert.equal(new Set(chunks.map((chunk) => chunk.id)).size, 1);
        assert.deepEqual(chunks.filter((chunk) => chunk.usage).map((chunk) => chunk.usage), [plain.usage]);
      });

      test('one call that fails is the error of the whole', async () => {
        const error = await failure(client.completions.create({ ...request, prompt: ['fine', '[[fault:429 retry-after=7]]'] }));
        assert.ok(error instanceof SDK.RateLimitError, `got ${error}`);
        assert.equal(error.headers.get('retry-after'), '7');
      });

      test('more than may be asked for is a BadRequestError that names it', async () => {
        const error = await failure(client.completions.create({ ...request, n: 5 }));
        assert.ok(error instanceof SDK.BadRequestError);
        assert.equal(error.param, 'n');
      });
    });
  }

  describe(`${major}, several chat choices, provider of the messages format`, () => {
    test('they are kept apart, and a stream adds up to the plain answer', async () => {
      const request = { model: 'messages-only', messages: [{ role: 'user', content: 'Say it twice' }], n: 2, max_tokens: 256 };
      const plain = await client.chat.completions.create(request);
      const streamed = await client.chat.completions.stream(request).finalChatCompletion();
      for (const answer of [plain, streamed]) {
        assert.deepEqual(answer.choices.map((choice) => choice.index), [0, 1]);
        for (const choice of answer.choices) {
          assert.ok(choice.message.content.includes('Say it twice'));
          assert.equal(choice.finish_reason, 'stop');
        }
      }
      assert.deepEqual(streamed.choices.map((choice) => choice.message.content), plain.choices.map((choice) => choice.message.content));
    });
  });
}
