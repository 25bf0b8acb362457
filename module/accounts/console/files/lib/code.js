// A request as a command and as programs, which read the key from the environment.
import { addressOf } from './route.js';

/** @typedef {import('./dialects.js').Dialect} Dialect */

/** curl returns the request as a command. An argument cannot be as long as a request with an image: the command reads
 * it.
 * @param {Dialect} dialect @param {any} body @param {string} path */
export const curl = (dialect, body, path) =>
	[
		`curl '${addressOf(path)}' \\`,
		'  -H "Authorization: Bearer $GATEWAY_KEY" \\',
		...Object.entries(dialect.headers ?? {}).map(([name, value]) => `  -H "${name}: ${value}" \\`),
		'  -H "content-type: application/json" \\',
		"  --data-binary @- <<'JSON'",
		JSON.stringify(body, null, 2),
		'JSON',
	].join('\n');

/** typescript returns the request as a program; "" for formats without a library.
 * @param {Dialect} dialect @param {any} body */
export function typescript(dialect, body) {
	const [library, method, base] = dialect.sdk;
	if (!library) return '';
	return [
		`import ${library};`,
		'',
		`const client = new ${library.split(' ')[0]}({ baseURL: "${addressOf(base)}", apiKey: process.env.GATEWAY_KEY });`,
		`const answer = await client.${method}(${JSON.stringify(body, null, 2)});`,
	].join('\n');
}

/** python returns the request as a program; "" for formats without a library.
 * @param {Dialect} dialect @param {any} body */
export function python(dialect, body) {
	const [library, method, base] = dialect.sdk;
	if (!library) return '';
	const client = library.split(' ')[0];
	const address = JSON.stringify(addressOf(base));
	return [
		'import os',
		`from ${client.toLowerCase()} import ${client}`,
		'',
		`client = ${client}(base_url=${address}, api_key=os.environ["GATEWAY_KEY"])`,
		`answer = client.${method}(`,
		...Object.entries(body).map(([name, value]) => `    ${name}=${literal(value)},`),
		')',
	].join('\n');
}

/** literal returns a value of JSON as Python writes it. @param {any} value @returns {string} */
function literal(value) {
	if (value === null) return 'None';
	if (typeof value === 'boolean') return value ? 'True' : 'False';
	if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
	if (typeof value === 'object')
		return `{${Object.entries(value)
			.map(([name, each]) => `${JSON.stringify(name)}: ${literal(each)}`)
			.join(', ')}}`;
	return JSON.stringify(value);
}
