// What the official clients store at a provider, through the gateway before a strict server (module/tests/endpoints,
// which starts the suite).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  Agent, OpenAIConversationsSession, OpenAIProvider, Runner, run, setDefaultOpenAIClient, setTracingDisabled,
} from '@openai/agents';
import OpenAI from 'openai';

const clientOf = (apiKey) => new OpenAI({ baseURL: `${process.env.GATEWAY_URL}/v1`, apiKey, maxRetries: 0 });
const client = clientOf(process.env.GATEWAY_KEY);
const other = clientOf(process.env.OTHER_KEY);
const unknown = { status: 404 };

test('responses', async () => {
  const first = await client.responses.create({ model: 'gpt', input: 'hi' });
  const next = await client.responses.create({ model: 'gpt', input: 'more', previous_response_id: first.id });
  assert.equal(next.previous_response_id, first.id);
  assert.equal((await client.responses.retrieve(next.id)).output_text, 'Hello');
  let text = '';
  for await (const event of await client.responses.retrieve(next.id, { stream: true })) text += event.delta ?? '';
  assert.equal(text, 'Hello');
  const items = [];
  for await (const item of client.responses.inputItems.list(next.id)) items.push(item.id);
  assert.deepEqual(items, ['msg_in']);
  await assert.rejects(other.responses.retrieve(next.id), unknown);
  await assert.rejects(other.responses.inputItems.list(next.id), unknown);
  const foreign = { model: 'gpt', input: 'x', previous_response_id: first.id };
  await assert.rejects(other.responses.create(foreign), { status: 400, code: 'previous_response_not_found' });
  await client.responses.delete(next.id);
  await assert.rejects(client.responses.retrieve(next.id), unknown);
});

test('a response in the background', async () => {
  const { id } = await client.responses.create({ model: 'gpt', input: 'hi', background: true });
  await assert.rejects(other.responses.cancel(id), unknown);
  assert.equal((await client.responses.cancel(id)).status, 'cancelled');
});

test('conversations', async () => {
  const items = [{ role: 'user', content: 'hi' }];
  const { id } = await client.conversations.create({ metadata: { topic: 'a' }, items });
  assert.equal((await client.conversations.update(id, { metadata: { topic: 'b' } })).metadata.topic, 'b');
  const { data: [added] } = await client.conversations.items.create(id, { items: [{ role: 'user', content: 'more' }] });
  const contents = [];
  for await (const item of client.conversations.items.list(id)) contents.push(item.content[0].text);
  assert.deepEqual(contents, ['hi', 'more']);
  await client.conversations.items.delete(added.id, { conversation_id: id });
  await assert.rejects(client.conversations.items.retrieve(added.id, { conversation_id: id }), unknown);
  const { conversation } = await client.responses.create({ model: 'gpt', input: 'hi', conversation: id });
  assert.equal(conversation.id, id);
  await assert.rejects(other.conversations.retrieve(id), unknown);
  await assert.rejects(other.responses.create({ model: 'gpt', input: 'hi', conversation: id }), unknown);
  assert.equal((await client.conversations.delete(id)).deleted, true);
});

test('an agent with a conversation', async () => {
  setTracingDisabled(true);
  setDefaultOpenAIClient(client);
  const agent = new Agent({ name: 'a', model: 'gpt' });
  const session = new OpenAIConversationsSession({ client });
  assert.equal((await run(agent, 'hi', { session })).finalOutput, 'Hello');
  assert.equal((await run(agent, 'more', { session })).finalOutput, 'Hello');
  assert.deepEqual((await session.getItems()).map((item) => item.role), ['user', 'assistant', 'user', 'assistant']);
  const { id } = await client.conversations.create();
  assert.equal((await run(agent, 'hi', { conversationId: id })).finalOutput, 'Hello');
  const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient: other }) });
  await assert.rejects(runner.run(agent, 'hi', { conversationId: id }), unknown);
});
