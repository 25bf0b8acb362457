// The JavaScript of the README does what it shows when it is pasted.

import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { baseURL } from './gateway.js';

const readme = await readFile(new URL('../../../README.md', import.meta.url), 'utf8');
const snippets = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);

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

test('the README shows JavaScript', () => assert.ok(snippets.length >= 2));

snippets.forEach((code, i) => {
  test(`snippet ${i + 1}, which begins with ${code.split('\n')[0]}`, async () => {
    assert.ok(code.includes('http://localhost:8080'), 'the address that is replaced stands in it');
    const answer = await answerOf(code, i);
    assert.equal(answer.model, 'demo');
    assert.match(JSON.stringify(answer), /Hello/);
  });
});
