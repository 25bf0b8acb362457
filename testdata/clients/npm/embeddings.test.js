// Vectors through the vendor's own clients: POST /v1/embeddings.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { model, openai, openaiMajors } from './gateway.js';

for (const [major, SDK] of openaiMajors) {
  describe(`${major}, embeddings`, () => {
    const client = openai(SDK);

    // The client asks for base64 unless it is told otherwise, and decodes the answer itself.
    test('a vector has the same numbers in base64 and as numbers', async () => {
      const [encoded, plain] = await Promise.all([
        client.embeddings.create({ model, input: ['hello', 'world'] }),
        client.embeddings.create({ model, input: ['hello', 'world'], encoding_format: 'float' }),
      ]);
      assert.equal(encoded.data.length, 2);
      assert.equal(encoded.data[0].embedding.length, 8);
      assert.ok(encoded.data[0].embedding.some((n) => n !== 0));
      assert.deepEqual(Array.from(encoded.data[1].embedding, Math.fround), plain.data[1].embedding.map(Math.fround));
      assert.ok(encoded.usage.prompt_tokens > 0);
    });

    test('a model that is not known is the same error as for texts', async () => {
      await assert.rejects(client.embeddings.create({ model: 'unheard-of', input: 'a' }), { status: 404, code: 'model_not_found' });
    });
  });
}
