// Brings the libraries of the console up to date: node vendor.mjs, after a change of the versions
// below. It takes the ES modules that the npm packages contain, names them by relative paths,
// because a page with a strict policy has no import map, and writes the version, licence and
// checksum of each to vendor.json. With --check it changes nothing, and fails where a file differs.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = new URL('../../module/accounts/console/files/vendor/', import.meta.url).pathname;

const modules = [
	{ file: 'preact.js', package: 'preact', version: '11.2.0', from: 'dist/preact.mjs' },
	{ file: 'hooks.js', package: 'preact', version: '11.2.0', from: 'hooks/dist/hooks.mjs' },
	{ file: 'signals-core.js', package: '@preact/signals-core', version: '1.14.5', from: 'dist/signals-core.mjs' },
	{ file: 'signals.js', package: '@preact/signals', version: '2.11.4', from: 'dist/signals.mjs' },
	{ file: 'htm.js', package: 'htm', version: '3.1.1', from: 'dist/htm.mjs' },
];

const names = { 'preact': './preact.js', 'preact/hooks': './hooks.js', '@preact/signals-core': './signals-core.js' };

/** sha256 returns the checksum of a text. */
const sha256 = (text) => createHash('sha256').update(text).digest('hex');

/** unpacked returns the folder of a package, which npm has checked. */
function unpacked(work, name, version) {
	const into = join(work, `${name}-${version}`.replaceAll('/', '-'));
	mkdirSync(into, { recursive: true });
	const [{ filename }] = JSON.parse(execFileSync('npm', ['pack', '--json', `${name}@${version}`], { cwd: into, encoding: 'utf8' }));
	execFileSync('tar', ['xzf', filename, '--strip-components=1'], { cwd: into });
	return into;
}

const check = process.argv.includes('--check');
const work = mkdtempSync(join(tmpdir(), 'vendor-'));
const differing = [];
const wanted = (name, text) => {
	if (!check) {
		writeFileSync(join(folder, name), text);
	} else if (readFileSync(join(folder, name), 'utf8') !== text) {
		differing.push(name);
	}
};
const list = [];
for (const m of modules) {
	const from = unpacked(work, m.package, m.version);
	const { license } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'));
	const original = readFileSync(join(from, m.from), 'utf8');
	const body = original
		.replace(/\bfrom\s*(["'])([^"']+)\1/g, (_, quote, name) => `from${quote}${names[name] ?? name}${quote}`)
		.replace(/\n?\/\/# sourceMappingURL=.*\s*$/, '\n');
	const text = `// @ts-nocheck\n${body}`;
	wanted(m.file, text);
	list.push({ ...m, license, sha256_original: sha256(original), sha256: sha256(text) });
	wanted(`LICENSE.${m.package.replace(/^@/, '').replaceAll('/', '-')}.txt`, readFileSync(join(from, 'LICENSE'), 'utf8'));
}
wanted('vendor.json', JSON.stringify(list, null, '\t') + '\n');
rmSync(work, { recursive: true });
if (differing.length > 0) {
	console.error(`differ from their packages: ${differing.join(', ')}`);
	process.exit(1);
}
