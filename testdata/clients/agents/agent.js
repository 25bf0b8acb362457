// What the tests of the agents share: a folder of its own for each agent, a
// relay that keeps what the agent sends, and the run of one turn.
// The gateway runs with ../Caddyfile; the suite fails, and never skips, when its
// address or its key is missing.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';

function required(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: start the gateway and give its address and key to the suite`);
  return value;
}

const gateway = new URL(required('GATEWAY_URL'));
export const key = required('GATEWAY_KEY');

// startRelay passes requests on to the gateway and keeps them with the status of
// their answers, and what the gateway reports as dropped, until the test ends. Agents repeat failed requests in silence,
// so that their output alone proves little. The host names the site of the gateway.
export async function startRelay(test, host = gateway.hostname) {
  const exchanges = [];
  const server = createServer(async (from, to) => {
    let body = '';
    for await (const piece of from.setEncoding('utf8')) body += piece; // whole letters, however the body is divided
    const { method, url: path, headers } = from;
    const onward = send(gateway, { method, path, agent: false, headers: { ...headers, host: `${host}:${gateway.port}` } }, (answer) => {
      const dropped = answer.headers['x-gateway-dropped'] ?? '';
      exchanges.push({ method, path, status: answer.statusCode, dropped, body: body && JSON.parse(body) });
      to.writeHead(answer.statusCode, answer.rawHeaders);
      pipeline(answer, to, () => {}); // a break on one side is one on the other
    });
    onward.on('error', () => to.destroy());
    to.on('close', () => onward.destroy());
    onward.end(body);
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  test.after(() => server.close().closeAllConnections());
  return { exchanges, url: `http://127.0.0.1:${server.address().port}` };
}

// newFolder makes a folder that is removed when the test ends.
export function newFolder(test) {
  const folder = mkdtempSync(join(tmpdir(), 'agent-'));
  test.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return { folder, read: (name) => readFileSync(join(folder, name), 'utf8') };
}

const turnLimit = 180_000; // milliseconds, for an agent that hangs

// run starts a program of an installed package, and returns the lines of JSON
// that it prints. The program sees nothing of the environment but its path, and
// is stopped with its children after turnLimit.
export async function run(program, args, { folder, env }) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'node_modules', program), ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const stop = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), turnLimit);
  const [out, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), exit(child)]);
  clearTimeout(stop);
  if (code !== 0) throw new Error(`${program} ended with ${code}:\n${errors}\n${out}`);
  return out.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
}

async function text(stream) {
  let all = '';
  for await (const piece of stream.setEncoding('utf8')) all += piece;
  return all;
}

const exit = (child) => new Promise((resolve, reject) => {
  child.on('error', reject);
  child.on('exit', (code, signal) => resolve(signal ?? code));
});

// order is the words of a prompt with which the demo provider calls a tool.
export const order = (tool, input) => `[[tool ${tool} ${JSON.stringify(input)}]]`;
