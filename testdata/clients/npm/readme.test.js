// The JavaScript of the README and of the page about clients does what it shows when it is pasted.

import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { baseURL } from './gateway.js';

const pages = await Promise.all(['README.md', 'caddyfile/docs/clients.md'].map((page) => readFile(new URL(`../../../${page}`, import.meta.url), 'utf8')));
const snippets = pages.flatMap((page) => [...page.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code));

// answerOf runs a snippet as a module beside this one, where the packages that
// it imports are found, and returns what it got. GATEWAY_KEY is in the environment.
async function answerOf(code, name) {
  const file = new URL(`./readme-${process.pid}-${name}.mjs`, import.meta.url);
  await writeFile(file, `${code.replaceAll('http://localhost:8080', baseURL)}\nexport default ${code.match(/^const (\w+) = await /m)[1]};\n`);
  try {
    return (await import(file)).default;
  } finally {
    await rm(file);
  }
}

test('the pages show JavaScript', () => assert.ok(snippets.length >= 3));

snippets.forEach((code, i) => {
  test(`snippet ${i + 1}, which begins with ${code.split('\n')[0]}`, async () => {
    assert.ok(code.includes('http://localhost:8080'), 'the address that is replaced stands in it');
    const answer = await answerOf(code, i);
    assert.equal(answer.model ?? answer.modelVersion, 'demo');
    assert.match(JSON.stringify(answer), /Hello/);
  });
});
