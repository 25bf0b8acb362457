// The vendors' own clients of their clouds, pointed at the fakes with which the gateway is tested
// (module/tests/clouds, which starts the suite). A fake that refused what these clients send, or
// answered what they cannot read, would prove nothing about the gateway.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AnthropicBedrock } from '@anthropic-ai/bedrock-sdk';
import { AnthropicVertex } from '@anthropic-ai/vertex-sdk';
import { BedrockRuntimeClient, ConverseCommand, ConverseStreamCommand, CountTokensCommand } from '@aws-sdk/client-bedrock-runtime';
import { GoogleGenAI } from '@google/genai';
import { AzureOpenAI } from 'openai';

function required(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: the suite is started by go test -tags clients ./module/tests/clouds`);
  return value;
}

const project = { projectId: 'my-project', region: 'us-east5' };
const said = { max_tokens: 100, messages: [{ role: 'user', content: 'hello' }] };

// google returns the credentials of an account of Google's, without the requests for a token.
const google = (token) => ({ projectId: project.projectId, getRequestHeaders: async () => new Headers({ authorization: `Bearer ${token}` }) });

// answers asks a client of Anthropic's in both ways.
async function answers(client, model) {
  const message = await client.messages.create({ ...said, model });
  assert.equal(message.stop_reason, 'end_turn');
  assert.match(message.content[0].text, /hello/);
  const streamed = await client.messages.stream({ ...said, model }).finalMessage();
  assert.deepEqual(streamed.content, message.content);
  assert.ok(streamed.usage.output_tokens > 0);
}

// calls asks a client of Google's for a call, and returns its result with the history that the
// client has kept.
async function calls(client, model) {
  const declaration = { name: 'look', parametersJsonSchema: { type: 'object', properties: { at: { type: 'string' } } } };
  const chat = client.chats.create({ model, config: { systemInstruction: 'Be brief.', tools: [{ functionDeclarations: [declaration] }] } });
  const { functionCalls: [call] } = await chat.sendMessage({ message: 'look' });
  assert.deepEqual([call.name, call.args], ['look', { at: 'it' }]);
  const functionResponse = { id: call.id, name: call.name, response: { output: 'seen' } };
  const answer = await chat.sendMessage({ message: [{ functionResponse }] });
  assert.equal(answer.text, 'hello');
}

async function streams(client, model) {
  let text = '';
  for await (const chunk of await client.models.generateContentStream({ model, contents: 'hello' })) text += chunk.text ?? '';
  assert.equal(text, 'hello');
}

describe('@anthropic-ai/bedrock-sdk', () => {
  const baseURL = required('BEDROCK_URL');
  const signing = {
    awsRegion: 'us-east-1', awsAccessKey: required('AWS_ACCESS_KEY_ID'),
    awsSecretKey: required('AWS_SECRET_ACCESS_KEY'), awsSessionToken: required('AWS_SESSION_TOKEN'),
  };
  const client = (options) => new AnthropicBedrock({ baseURL, maxRetries: 0, ...options });

  test('a profile, signed', () => answers(client(signing), 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'));
  test('an ARN, signed', () => answers(client(signing), 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1'));
  test('an API key', () => answers(client({ awsRegion: 'us-east-1', apiKey: required('BEDROCK_KEY') }), 'anthropic.claude-sonnet-4-5-20250929-v1:0'));
  test('another secret is refused', () => assert.rejects(answers(client({ ...signing, awsSecretKey: 'another' }), 'm'), { status: 403 }));
  test('a throttled model', () => assert.rejects(answers(client(signing), 'throttled'), { status: 429 }));
});

describe('@aws-sdk/client-bedrock-runtime', () => {
  const client = new BedrockRuntimeClient({
    region: 'us-east-1', endpoint: required('BEDROCK_URL'), maxAttempts: 1,
    credentials: { accessKeyId: required('AWS_ACCESS_KEY_ID'), secretAccessKey: required('AWS_SECRET_ACCESS_KEY'), sessionToken: required('AWS_SESSION_TOKEN') },
  });
  const asked = { modelId: 'us.amazon.nova-2-lite-v1:0', messages: [{ role: 'user', content: [{ text: 'look' }] }] };
  const toolConfig = { tools: [{ toolSpec: { name: 'look', inputSchema: { json: { type: 'object', properties: { at: { type: 'string' } } } } } }] };

  test('an answer', async () => {
    const { output, stopReason, usage } = await client.send(new ConverseCommand({ ...asked, inferenceConfig: { maxTokens: 100, temperature: 0.5, stopSequences: ['x'] } }));
    assert.deepEqual(output.message.content, [{ text: 'hello' }]);
    assert.equal(stopReason, 'end_turn');
    assert.equal(usage.cacheReadInputTokens, 5);
  });

  test('a stream', async () => {
    const { stream } = await client.send(new ConverseStreamCommand({ ...asked, modelId: 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-2-lite-v1:0' }));
    let text = '', tokens;
    for await (const event of stream) {
      text += event.contentBlockDelta?.delta.text ?? '';
      tokens = event.metadata?.usage.outputTokens ?? tokens;
    }
    assert.deepEqual([text, tokens], ['hello', 5]);
  });

  test('a call, and its result', async () => {
    const first = await client.send(new ConverseCommand({ ...asked, toolConfig }));
    const { toolUse } = first.output.message.content[0];
    assert.deepEqual(toolUse, { toolUseId: 'tooluse_1', name: 'look', input: { at: 'it' } });
    const { stream } = await client.send(new ConverseStreamCommand({ ...asked, toolConfig }));
    let input = '';
    for await (const event of stream) input += event.contentBlockDelta?.delta.toolUse?.input ?? '';
    assert.deepEqual(JSON.parse(input), toolUse.input);
    const result = { role: 'user', content: [{ toolResult: { toolUseId: toolUse.toolUseId, content: [{ text: 'seen' }], status: 'success' } }] };
    const last = await client.send(new ConverseCommand({ ...asked, toolConfig, messages: [...asked.messages, first.output.message, result] }));
    assert.equal(last.output.message.content[0].text, 'hello');
  });

  test('a document and an image', async () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const content = [{ text: 'read' }, { document: { format: 'pdf', name: 'document-1', source: { bytes } } }, { image: { format: 'png', source: { bytes } } }, { cachePoint: { type: 'default' } }];
    const { stopReason } = await client.send(new ConverseCommand({ ...asked, messages: [{ role: 'user', content }], system: [{ text: 's' }, { cachePoint: { type: 'default' } }] }));
    assert.equal(stopReason, 'end_turn');
  });

  test('counts of tokens', async () => {
    const body = new TextEncoder().encode(JSON.stringify({ ...said, anthropic_version: 'bedrock-2023-05-31' }));
    const modelId = 'anthropic.claude-sonnet-4-6';
    for (const input of [{ invokeModel: { body } }, { converse: { messages: asked.messages } }]) {
      assert.equal((await client.send(new CountTokensCommand({ modelId, input }))).inputTokens, 11);
    }
    await assert.rejects(client.send(new CountTokensCommand({ modelId: 'amazon.nova-lite-v1:0', input: { converse: { messages: asked.messages } } })), { name: 'ValidationException' });
  });

  test('what is refused', async () => {
    await assert.rejects(client.send(new ConverseCommand({ ...asked, messages: [{ role: 'assistant', content: [{ text: 'a' }] }] })), { name: 'ValidationException' });
    await assert.rejects(client.send(new ConverseCommand({ ...asked, modelId: 'throttled' })), { name: 'ThrottlingException' });
  });
});

describe('@anthropic-ai/vertex-sdk', () => {
  const client = (token) => new AnthropicVertex({ ...project, baseURL: `${required('VERTEX_URL')}/v1`, authClient: google(token), maxRetries: 0 });

  test('messages', () => answers(client(required('VERTEX_TOKEN')), 'claude-sonnet-4-5@20250929'));
  test('a count of tokens', async () => {
    const { input_tokens: counted } = await client(required('VERTEX_TOKEN')).messages.countTokens({ model: 'claude-sonnet-4-5@20250929', messages: said.messages });
    assert.ok(counted > 0);
  });
  test('another token is refused', () => assert.rejects(answers(client('another'), 'claude-sonnet-4-5@20250929'), { status: 401 }));
});

describe('@google/genai, Vertex AI', () => {
  const client = new GoogleGenAI({
    vertexai: true, project: project.projectId, location: project.region,
    httpOptions: { baseUrl: required('VERTEX_URL'), apiVersion: 'v1' },
    googleAuthOptions: { authClient: google(required('VERTEX_TOKEN')) },
  });

  test('a call and its result', () => calls(client, 'gemini-3-flash-preview'));
  test('a stream', () => streams(client, 'gemini-3-flash-preview'));
  test('a count of tokens', async () => assert.equal((await client.models.countTokens({ model: 'gemini-3-flash-preview', contents: 'hello' })).totalTokens, 7));
});

describe('@google/genai, Gemini API', () => {
  const client = (apiKey) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: required('GEMINI_URL') } });

  test('a call and its result', () => calls(client('k'), 'gemini-3-flash-preview'));
  test('a stream', () => streams(client('k'), 'gemini-3-flash-preview'));
  test('a count of tokens', async () => assert.equal((await client('k').models.countTokens({ model: 'gemini-3-flash-preview', contents: 'hello' })).totalTokens, 7));
  test('another key is refused', () => assert.rejects(streams(client('another'), 'gemini-3-flash-preview'), { status: 400 }));
});

describe('openai, AzureOpenAI', () => {
  const client = (apiKey) => new AzureOpenAI({ endpoint: required('AZURE_URL'), apiKey, apiVersion: '2024-10-21', maxRetries: 0 });
  const asked = { model: 'my-deployment', messages: said.messages };

  test('chat', async () => {
    const { choices: [{ message }] } = await client(required('AZURE_KEY')).chat.completions.create(asked);
    assert.match(message.content, /hello/);
    let text = '';
    for await (const { choices } of await client(required('AZURE_KEY')).chat.completions.create({ ...asked, stream: true })) text += choices[0]?.delta.content ?? '';
    assert.equal(text, message.content);
  });
  test('another key is refused', () => assert.rejects(client('another').chat.completions.create(asked), { status: 401 }));
});
