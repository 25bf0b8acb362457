// The suite's own provider: it plays what ../../conformance/answers.json holds.
// The model of a request is the format's letter and the number of a case in the
// file.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { replayPort } from './gateway.js';

export const cases = JSON.parse(readFileSync(new URL('../../conformance/answers.json', import.meta.url)))
  .map((entry, index) => ({ ...entry, client: entry.lane[0], model: `${entry.lane[2]}-${index}` }));

// eventsOf are the bytes of a case's stream, event by event.
export const eventsOf = ({ events }) => events.map((event) => {
  const data = typeof event === 'string' ? event : JSON.stringify(event);
  return event.type ? `event: ${event.type}\ndata: ${data}\n\n` : `data: ${data}\n\n`;
});

export function play(response, entry) {
  if (!entry.events) return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(entry.answer));
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of eventsOf(entry)) response.write(event);
  return response.end();
}

// startReplay answers by cases, or as a test says: by its director, which gets
// the request, the response and the case.
export async function startReplay() {
  const replay = { director: null };
  replay.server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    if (request.method === 'GET') { // of the list of models, whenever the gateway wants to know it
      response.writeHead(404).end();
      return;
    }
    const entry = cases[Number(JSON.parse(body).model.slice(2))];
    (replay.director ?? ((_, to) => play(to, entry)))(request, response, entry);
  });
  await new Promise((resolve) => { replay.server.listen(replayPort, '127.0.0.1', resolve); });
  return replay;
}
