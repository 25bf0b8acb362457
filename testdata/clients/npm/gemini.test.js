// Clients of Google's Gemini API on providers of every format.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { ApiError, GoogleGenAI } from '@google/genai';
import { ChatGoogleGenerativeAI } from '@langchain/google-genai';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { GoogleGenAI as GoogleGenAIThree, ApiError as ApiErrorThree } from 'google-genai-3';
import { baseURL, collect, failure, impatientURL, key, narrowKey } from './gateway.js';

const formats = [['messages', 'messages-only'], ['chat', 'chat-only'], ['responses', 'responses-only'], ['gemini', 'google-only']];

// The majors in use. They differ in the version of the path: 2.x has /v1beta, 3.x has /v1, where
// other vendors' clients list models, too.
const majors = [['@google/genai 3', GoogleGenAIThree, ApiErrorThree], ['@google/genai 2', GoogleGenAI, ApiError]];

const weather = { name: 'get_weather', description: 'Gives the weather', parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } };
const time = { name: 'get_time', description: 'Gives the time', parameters: { type: 'OBJECT', properties: { zone: { type: 'STRING', nullable: true } } } };
const told = { get_weather: 'sunny', get_time: 'noon' };

for (const [major, SDK, Failure] of majors) {
  const connect = (apiKey = key, baseUrl = baseURL) => new SDK({ apiKey, httpOptions: { baseUrl } });
  const { models, chats } = connect();

  for (const [format, model] of formats) {
    describe(`${major}, provider of the ${format} format`, () => {
      const request = { model, contents: 'Say hello to the gateway', config: { systemInstruction: 'Be terse.' } };

      test('a text, whole and streamed', async () => {
        const whole = await models.generateContent(request);
        assert.match(whole.text, new RegExp(`in the ${format} format.*hello to the gateway`, 's'));
        assert.equal(whole.candidates[0].finishReason, 'STOP');
        assert.equal(whole.modelVersion, model);
        const chunks = await collect(await models.generateContentStream(request));
        assert.equal(chunks.map(({ text }) => text ?? '').join(''), whole.text);
        assert.ok(chunks.length > 3, 'the text comes in pieces');
        assert.deepEqual(chunks.at(-1).usageMetadata, whole.usageMetadata);
        assert.equal(chunks.at(-1).candidates[0].finishReason, 'STOP');
      });

      test('parallel calls with reasoning, and their results, streamed', async () => {
        const config = { tools: [{ functionDeclarations: [weather, time] }], thinkingConfig: { includeThoughts: true } };
        const chat = chats.create({ model, config });
        const ask = async (message) => collect(await chat.sendMessageStream({ message }));
        const first = await ask('[[think]] [[tool get_weather {"city":"Oslo"}]] [[tool get_time {"zone":"CET"}]]');
        assert.ok(first.some(({ candidates: [{ content }] }) => content?.parts?.some(({ thought }) => thought)) || format === 'chat');
        const calls = first.flatMap(({ functionCalls }) => functionCalls ?? []);
        assert.deepEqual(calls.map(({ name, args }) => [name, args]), [['get_weather', { city: 'Oslo' }], ['get_time', { zone: 'CET' }]]);
        assert.equal(new Set(calls.map(({ id }) => id)).size, 2);
        const results = calls.map(({ id, name }) => ({ functionResponse: { id, name, response: { output: told[name] } } }));
        const second = await ask(results);
        assert.match(second.map(({ text }) => text ?? '').join(''), /The tools answered: .*sunny.*noon/);
        const third = await ask('What happened so far?');
        assert.match(third.map(({ text }) => text ?? '').join(''), /What happened so far\?/);
      });

      test('an object by a schema', async () => {
        const responseSchema = { type: 'OBJECT', properties: { city: { type: 'STRING' }, rain: { type: 'BOOLEAN' } }, required: ['city', 'rain'] };
        const { text } = await models.generateContent({ model, contents: 'The weather', config: { responseMimeType: 'application/json', responseSchema } });
        assert.deepEqual(Object.keys(JSON.parse(text)).sort(), ['city', 'rain']);
      });

      test('a count of tokens', async () => {
        assert.ok((await models.countTokens({ model, contents: 'Say hello to the gateway' })).totalTokens > 0);
      });

      test('a bound ends the text', async () => {
        const { candidates: [{ finishReason }] } = await models.generateContent({ model, contents: 'Tell a long story about a river and the sea', config: { maxOutputTokens: 16 } });
        assert.equal(finishReason, 'MAX_TOKENS');
      });

      test('errors have their status', async () => {
        for (const [fault, status] of [['400', 400], ['429', 429], ['503', 503], ['402', 400]]) {
          const error = await failure(models.generateContent({ model, contents: `[[fault:${fault}]] Hi` }));
          assert.ok(error instanceof Failure, String(error));
          assert.equal(error.status, status, error.message);
        }
      });

      test('Y036 a stream that failed is an error, behind the text before it', async () => {
        const chunks = [];
        const error = await failure((async () => {
          for await (const chunk of await models.generateContentStream({ model, contents: '[[fault:error-event]] Tell a story that fails' })) chunks.push(chunk);
        })());
        assert.ok(chunks.some(({ text }) => text), 'the text before the failure arrived');
        assert.ok(error instanceof Failure, String(error));
        assert.ok(error.status >= 500, String(error));
      });
    });
  }

  describe(`${major}, models and keys`, () => {
    test('the list of models, page by page, and one model', async () => {
      const names = await collect(await models.list({ config: { pageSize: 2 } }));
      assert.ok(names.some(({ name }) => name === 'models/listed-small') && names.length > 2, JSON.stringify(names));
      assert.equal((await models.get({ model: 'listed-small' })).name, 'models/listed-small');
      const narrow = await collect(await connect(narrowKey).models.list());
      assert.deepEqual(narrow.map(({ name }) => name), ['models/alias']);
    });

    // The page about clients names these variables.
    test('the base URL and the key are read from the environment', async (t) => {
      t.after(() => { for (const name of ['GOOGLE_GEMINI_BASE_URL', 'GEMINI_API_KEY', 'GOOGLE_API_KEY']) delete process.env[name]; });
      process.env.GOOGLE_GEMINI_BASE_URL = baseURL;
      for (const name of ['GEMINI_API_KEY', 'GOOGLE_API_KEY']) {
        process.env[name] = key;
        assert.equal((await new SDK({}).models.generateContent({ model: 'demo', contents: 'Hello' })).modelVersion, 'demo');
        delete process.env[name];
      }
    });

    test('unknown keys and models', async () => {
      const ask = (client, model) => failure(client.models.generateContent({ model, contents: 'Hi' }));
      assert.equal((await ask(connect('wrong'), 'demo')).status, 401);
      assert.equal((await ask(connect(narrowKey), 'demo')).status, 403);
      assert.equal((await ask(connect(), 'no-such-model')).status, 404);
    });

    test('embeddings', async () => {
      for (const model of ['demo', 'chat-only', 'google-only']) {
        const { embeddings } = await models.embedContent({ model, contents: ['Hi', 'Ho'], config: { outputDimensionality: 3 } });
        assert.deepEqual(embeddings.map(({ values }) => values.length), [3, 3]);
      }
      assert.equal((await failure(models.embedContent({ model: 'messages-only', contents: 'Hi' }))).status, 404);
    });

    test('what is not served', async () => {
      assert.equal((await failure(connect().caches.create({ model: 'demo', config: { contents: 'Hi' } }))).status, 404);
      assert.equal((await failure(connect().files.list())).status, 404);
    });
  });
}

// The other clients of the API, each with what reads a whole stream.
const aiSDK = (url) => createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey: key });
const langchain = (url, model) => new ChatGoogleGenerativeAI({ model, apiKey: key, baseUrl: url, maxRetries: 0 });
const readers = [
  ...majors.map(([major, SDK]) => [major, async (url, model, contents) => {
    const stream = await new SDK({ apiKey: key, httpOptions: { baseUrl: url } }).models.generateContentStream({ model, contents });
    return (await collect(stream)).map(({ text }) => text ?? '').join('');
  }]),
  ['@ai-sdk/google', async (url, model, prompt) => {
    const parts = await collect(streamText({ model: aiSDK(url)(model), prompt, maxRetries: 0, onError() {} }).fullStream);
    const failed = parts.find(({ type }) => type === 'error');
    if (failed) throw failed.error;
    return parts.filter(({ type }) => type === 'text-delta').map(({ text }) => text).join('');
  }],
  ['@langchain/google-genai', async (url, model, prompt) => {
    const chunks = await collect(await langchain(url, model).stream(prompt));
    return chunks.map(({ content }) => content).join('');
  }],
];

for (const [client, read] of readers) {
  test(`Y035 ${client} reads an answer for which it had to wait`, async () => {
    assert.match(await read(impatientURL, 'gemini-any', '[[fault:slow-headers=300ms]] Say hello to the gateway'), /hello to the gateway/);
  });

  // LangChain's client fails, too, but also leaves a promise behind whose failure nobody handles.
  if (client !== '@langchain/google-genai') test(`Y036 ${client} fails if a stream failed`, async () => {
    await failure(read(baseURL, 'chat-only', '[[fault:error-event]] Tell a story that fails'));
  });
}

test('Y035 while a provider is silent, the stream has empty objects', async () => {
  const contents = [{ parts: [{ text: '[[fault:slow-headers=300ms]] Say hello' }] }];
  const response = await fetch(`${impatientURL}/v1beta/models/gemini-any:streamGenerateContent?alt=sse`, {
    method: 'POST', headers: { 'x-goog-api-key': key, 'content-type': 'application/json' }, body: JSON.stringify({ contents }),
  });
  const events = (await response.text()).split('\n\n');
  assert.equal(events.pop(), '', 'the last event is complete');
  assert.ok(events.filter((event) => event === 'data: {}').length > 1, 'empty objects came first');
  for (const event of events) JSON.parse(event.match(/^data: (\{.*\})$/)[1]);
});

describe('@ai-sdk/google', () => {
  for (const [format, model] of formats) {
    test(`steps with parallel calls and reasoning, provider of the ${format} format`, async () => {
      const tools = Object.fromEntries([weather, time].map(({ name, description }) => [name, tool({
        description, inputSchema: jsonSchema({ type: 'object', properties: { city: { type: 'string' } } }), execute: async () => told[name],
      })]));
      const prompt = '[[think]] [[tool get_weather {"city":"Oslo"}]] [[tool get_time {}]]';
      const { text, steps } = await generateText({ model: aiSDK(baseURL)(model), prompt, tools, stopWhen: stepCountIs(3), maxRetries: 0 });
      assert.equal(steps.length, 2);
      assert.match(text, /The tools answered: .*sunny.*noon/);
    });
  }
});
