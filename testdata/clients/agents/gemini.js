// The suite's own provider of the Gemini API. It calls the tools that a prompt orders, and
// refuses what the service refuses: calls of the current turn without the signature that they
// came with, results that do not answer the calls in front of them, and unknown members.

import { createServer } from 'node:http';
import { key } from './agent.js';

const port = Number(process.env.REPLAY_PORT); // where the gateway expects the suites' own providers
const known = ['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig'];

// startGemini starts the provider, and stops it when the test ends. It resolves to the messages
// of its refusals.
export async function startGemini(test) {
  const refusals = [];
  const signatures = new Set();
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request.setEncoding('utf8')) text += piece;
    if (request.method === 'GET') { // of the list of models, whenever the gateway wants to know it
      response.writeHead(404).end();
      return;
    }
    const body = JSON.parse(text);
    const message = refusal(request, body, signatures);
    if (message) {
      refusals.push(message);
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const parts of answer(body, signatures)) response.write(event({ content: { role: 'model', parts } }));
    response.end(event({ finishReason: 'STOP' }));
  });
  await new Promise((resolve) => { server.listen(port, '127.0.0.1', resolve); });
  test.after(() => server.close().closeAllConnections());
  return refusals;
}

const event = (candidate) => `data: ${JSON.stringify({
  candidates: [candidate],
  usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 10, thoughtsTokenCount: 5, totalTokenCount: 35 },
  modelVersion: 'gemini-3-flash-preview',
  responseId: 'r1',
})}\r\n\r\n`;

const callsOf = ({ parts }) => parts.filter((part) => part.functionCall);
const resultsOf = ({ parts }) => parts.filter((part) => part.functionResponse);

// refusal returns why the service refuses a request, undefined if it does not.
function refusal({ url, headers }, body, signatures) {
  const { contents } = body;
  const unknown = Object.keys(body).find((name) => !known.includes(name));
  if (url !== '/v1beta/models/gemini-3-flash-preview:streamGenerateContent?alt=sse') return `${url} is not found`;
  if (headers['x-goog-api-key'] !== key || headers.authorization) return 'API key not valid.';
  if (unknown) return `Unknown name "${unknown}": Cannot find field.`;
  if (contents[0].role !== 'user') return 'the first content must be of the user';
  const begin = contents.findLastIndex((content) => content.role === 'user' && resultsOf(content).length < content.parts.length);
  for (const [i, content] of contents.entries()) {
    const calls = callsOf(content);
    if (i > 0 && contents[i - 1].role === content.role) return `contents ${i - 1} and ${i} have one role`;
    if (i > begin && calls.length > 0 && !signatures.has(calls[0].thoughtSignature)) return `Function call is missing a thought_signature in content ${i}`;
    const ids = calls.map(({ functionCall }) => `${functionCall.name} ${functionCall.id}`);
    // gemini-cli repeats the results of an earlier session.
    const answered = new Set(resultsOf(contents[i + 1] ?? { parts: [] }).map(({ functionResponse }) => `${functionResponse.name} ${functionResponse.id}`));
    if (`${ids}` !== `${[...answered]}`) return `the results ${[...answered]} do not answer the calls ${ids}`;
  }
  return undefined;
}

// answer returns the parts of each event.
function answer({ contents }, signatures) {
  const last = contents.at(-1);
  const results = resultsOf(last).map(({ functionResponse }) => functionResponse.response);
  if (results.length > 0) return [[{ text: 'The tools answered: ' }], [{ text: results.map(({ output, error }) => output ?? error).join(', ') }]];
  const prompt = last.parts.map(({ text }) => text ?? '').join('\n');
  const orders = [...prompt.matchAll(/\[\[tool (\S+) (\{.*?\})\]\]/gs)];
  if (orders.length === 0) return [[{ text: 'You wrote: ' }], [{ text: prompt.slice(-100) }]];
  const calls = orders.map(([, name, args], i) => ({ functionCall: { id: `f${signatures.size}-${i}`, name, args: JSON.parse(args) } }));
  calls[0].thoughtSignature = Buffer.from(`signature ${signatures.size}`).toString('base64');
  signatures.add(calls[0].thoughtSignature);
  return [[{ text: 'I think.', thought: true }], ...calls.map((call) => [call])];
}
