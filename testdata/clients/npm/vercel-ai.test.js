// Vercel AI with its defaults, which are the responses format, on a provider of
// each format.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createOpenAI } from '@ai-sdk/openai';
import { APICallError, generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai';
import { baseURL, collect, failure, key } from './gateway.js';

const provider = createOpenAI({ baseURL: `${baseURL}/v1`, apiKey: key });

const nothing = jsonSchema({ type: 'object', properties: {} });
const tools = {
  get_weather: tool({
    description: 'Gives the weather',
    inputSchema: jsonSchema({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }),
    execute: async ({ city }) => `sunny in ${city}`,
  }),
  get_time: tool({ description: 'Gives the time', inputSchema: nothing, execute: async () => 'noon' }),
};

for (const format of ['responses', 'chat', 'messages', 'completions']) {
  describe(`vercel ai, provider of the ${format} format`, () => {
    const ask = (prompt, more = {}) => ({ model: provider(`${format}-only`), prompt, maxRetries: 0, ...more });

    test('a text, whole and streamed', async () => {
      const plain = await generateText(ask('Say hello to the gateway', { system: 'Be terse.' }));
      assert.match(plain.text, new RegExp(`in the ${format} format.*hello to the gateway`, 's'));
      assert.equal(plain.finishReason, 'stop');
      assert.ok(plain.usage.totalTokens > 0);
      const stream = streamText(ask('Say hello to the gateway', { system: 'Be terse.' }));
      const pieces = await collect(stream.textStream);
      assert.equal(pieces.join(''), plain.text);
      assert.ok(pieces.length > 3, 'the text comes in pieces');
      assert.deepEqual(await stream.usage, plain.usage);
    });

    test('a text that is cut off', async () => {
      assert.equal((await generateText(ask('Tell a long story about a river and the sea', { maxOutputTokens: 16 }))).finishReason, 'length');
    });

    test('errors have their status', async () => {
      const error = await failure(generateText(ask('[[fault:429]] Hi')));
      assert.ok(APICallError.isInstance(error), String(error));
      assert.equal(error.statusCode, 429);
      assert.equal(error.isRetryable, true);
    });

    test('a stream that breaks off is an error', async () => {
      const parts = await collect(streamText(ask('[[fault:cut]] Tell a story that breaks off', { onError() {} })).fullStream);
      assert.ok(parts.some((part) => part.type === 'text-delta'), 'the text before the failure arrived');
      assert.ok(parts.some((part) => part.type === 'error' || (part.type === 'finish' && part.finishReason === 'error')),
        JSON.stringify(parts.at(-1)));
    });

    if (format === 'completions') return; // it has neither tools nor schemas nor reasoning

    test('steps with parallel calls and reasoning', async () => {
      const request = ask('call get_weather and call get_time', {
        tools,
        stopWhen: stepCountIs(3),
        providerOptions: { openai: { store: false, forceReasoning: true, reasoningEffort: 'high', reasoningSummary: 'auto', include: ['reasoning.encrypted_content'] } },
      });
      const plain = await generateText(request);
      assert.deepEqual(plain.steps.map((step) => step.toolCalls.map((call) => call.toolName)), [['get_weather', 'get_time'], []]);
      assert.match(plain.text, /The tools answered: .*sunny in demo city.*noon/);
      assert.ok(plain.steps[0].reasoningText.length > 0);
      const stream = streamText(request);
      await stream.consumeStream();
      assert.equal(await stream.text, plain.text);
    });

    test('texts of earlier steps are sent whole with store false, and refused by name as references', async () => {
      const request = ask('call get_time', { tools, stopWhen: stepCountIs(3) });
      const error = await failure(generateText(request));
      assert.ok([400, 404].includes(error.statusCode), String(error));
      if (format !== 'responses') assert.match(error.message, /^input\[1\]\.type: this gateway keeps no responses: set store to false/);
      const whole = await generateText({ ...request, providerOptions: { openai: { store: false } } });
      assert.match(whole.text, /The tools answered: .*noon/);
    });

    test('a structured answer', async () => {
      const schema = jsonSchema({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false });
      const { output } = await generateText(ask('Where?', { output: Output.object({ schema }) }));
      assert.deepEqual(output, { city: 'demo city' });
    });
  });
}
