// The list of models in both shapes: which one a client gets follows from the
// headers its SDK sends.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { anthropic, anthropicMajors, collect, failure, model, narrowKey, openai, openaiMajors, requestID } from './gateway.js';

for (const [major, SDK] of anthropicMajors) {
  describe(major, () => {
    const client = anthropic(SDK);

    test('the list holds the model in the messages shape', async () => {
      const models = await collect(client.models.list());
      const found = models.find(({ id }) => id === model);
      assert.equal(found.type, 'model');
      assert.equal(typeof found.display_name, 'string');
      assert.ok(!Number.isNaN(Date.parse(found.created_at)));
    });

    test('pages lead to the same list as no pages', async () => {
      const whole = await client.models.list({ limit: 1000 });
      const first = await client.models.list({ limit: 1 });
      assert.equal(first.data.length, 1);
      assert.equal(first.has_more, true);
      assert.deepEqual(await collect(first), whole.data);
    });

    test('a key sees the models that it may use', async () => {
      const models = await collect(anthropic(SDK, { apiKey: narrowKey }).models.list());
      assert.deepEqual(models.map(({ id }) => id), ['alias']);
    });

    test('models that a provider lists are in the list', async () => {
      const ids = (await collect(client.models.list())).map(({ id }) => id);
      assert.deepEqual(ids.filter((id) => id.includes('listed')), ['listed-large', 'listed-small']);
      assert.equal((await client.models.retrieve('listed-small')).id, 'listed-small');
    });

    test('one model is found by its name', async () => {
      const found = await client.models.retrieve(model);
      assert.equal(found.id, model);
      assert.equal(found.type, 'model');
    });

    test('an unknown model is a NotFoundError', async () => {
      const error = await failure(client.models.retrieve('no-such-model'));
      assert.ok(error instanceof SDK.NotFoundError);
      assert.equal(error.error.error.type, 'not_found_error');
      assert.match(error.requestID, requestID);
    });
  });
}

for (const [major, SDK] of openaiMajors) {
  describe(major, () => {
    const client = openai(SDK);

    test('the list holds the model in the list shape', async () => {
      const models = await collect(client.models.list());
      const found = models.find(({ id }) => id === model);
      assert.equal(found.object, 'model');
      assert.ok(Number.isInteger(found.created));
      assert.equal(typeof found.owned_by, 'string');
    });

    test('a key sees the models that it may use', async () => {
      const models = await collect(openai(SDK, { apiKey: narrowKey }).models.list());
      assert.deepEqual(models.map(({ id }) => id), ['alias']);
    });

    test('models that a provider lists are in the list', async () => {
      const ids = (await collect(client.models.list())).map(({ id }) => id);
      assert.deepEqual(ids.filter((id) => id.includes('listed')), ['listed-large', 'listed-small']);
      assert.equal((await client.models.retrieve('listed-small')).id, 'listed-small');
    });

    test('one model is found by its name', async () => {
      assert.equal((await client.models.retrieve(model)).id, model);
    });

    test('an unknown model is a NotFoundError', async () => {
      const error = await failure(client.models.retrieve('no-such-model'));
      assert.ok(error instanceof SDK.NotFoundError);
      assert.equal(error.code, 'model_not_found');
      assert.match(error.requestID, requestID);
    });
  });
}
