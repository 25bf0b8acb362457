// Numbers, amounts and times as texts.

const count = new Intl.NumberFormat('en');
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

/** number returns a number with separators. @param {number} n */
export const number = (n) => count.format(n);

/** short returns a number with three digits and a unit: 12.4 k. @param {number} n */
export function short(n) {
	for (const [bound, unit] of /** @type {[number, string][]} */ ([
		[1e12, 'T'],
		[1e9, 'G'],
		[1e6, 'M'],
		[1e3, 'k'],
	])) {
		if (Math.abs(n) >= bound * 0.9995) {
			const value = n / bound;
			return `${value.toFixed(Math.abs(value) >= 99.95 ? 0 : 1)} ${unit}`;
		}
	}
	return count.format(n);
}

/** digitsOf returns the digits of an amount: small amounts have four or six. @param {number} size */
const digitsOf = (size) => (size === 0 || size >= 1 ? 2 : size >= 0.01 ? 4 : 6);

/** money returns an amount with its currency. With the amounts of a column, it has the digits of the largest.
 * @param {number} amount in units @param {string} currency @param {number[]} [column] */
export function money(amount, currency, column = [amount]) {
	const digits = digitsOf(Math.max(...column.map(Math.abs)));
	const least = 10 ** -digits;
	const hidden = amount > 0 && amount < least / 2;
	const text = (hidden ? least : amount).toLocaleString('en', {
		minimumFractionDigits: digits,
		maximumFractionDigits: digits,
	});
	return `${hidden ? '< ' : ''}${currency === 'USD' || currency === '' ? `$${text}` : `${text} ${currency}`}`;
}

/** milliseconds returns a duration: 340 ms, 2.4 s, 3 min 5 s. @param {number} ms */
export function milliseconds(ms) {
	if (ms < 1000) return `${Math.round(ms)} ms`;
	if (ms < 60000) return `${(ms / 1000).toFixed(ms < 10000 ? 2 : 1)} s`;
	return `${Math.floor(ms / 60000)} min ${Math.round((ms % 60000) / 1000)} s`;
}

/** bytes returns a size. @param {number} n */
export const bytes = (n) =>
	n < 1000 ? `${n} B` : n < 1e6 ? `${(n / 1e3).toFixed(1)} kB` : `${(n / 1e6).toFixed(2)} MB`;

/** rate returns a price for an amount of tokens, with as many digits as it needs.
 * @param {number} amount @param {string} currency */
export function rate(amount, currency) {
	const text = amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 });
	return currency === 'USD' ? `$${text}` : `${text} ${currency}`;
}

/** percent returns a share. @param {number} part @param {number} whole */
export const percent = (part, whole) =>
	whole === 0
		? '–'
		: part === 0
			? '0 %'
			: part > 0 && part / whole < 0.0005
				? '< 0.1 %'
				: `${((100 * part) / whole).toFixed(part / whole < 0.1 ? 1 : 0)} %`;

/** when returns the date of Unix seconds or of an RFC 3339 text. @param {number|string} at */
export const when = (at) => new Date(typeof at === 'number' ? at * 1000 : at);

const steps = /** @type {[number, string][]} */ ([
	[60, 's'],
	[60, 'min'],
	[24, 'h'],
	[30, 'd'],
]);

/** relative returns a time beside now: 5 min ago, in 3 d. Times beyond 30 days are dates. @param {Date} at */
export function relative(at) {
	let distance = (Date.now() - at.getTime()) / 1000;
	const past = distance >= 0;
	distance = Math.abs(distance);
	if (distance < 5) return past ? 'now' : `in ${Math.ceil(distance)} s`; // what is to come is not there yet
	for (const [length, unit] of steps) {
		if (distance < length) {
			const text = `${Math.floor(distance)} ${unit}`;
			return past ? `${text} ago` : `in ${text}`;
		}
		distance /= length;
	}
	return day.format(at);
}

/** precise returns a time with its zone. @param {Date} at */
export const precise = (at) => exact.format(at);

/** clock returns the time of a day, to the second. @param {Date} at */
export const clock = (at) => at.toLocaleTimeString('en-GB');

/** stamp returns a day and its time in the zone of the browser, to the second: 2026-11-29 09:40:05.
 * @param {number|string} at */
export const stamp = (at) => `${local(when(at).getTime()).slice(0, 10)} ${clock(when(at))}`;

/** local returns a time in the zone of the browser, to the minute, as the fields of forms have it: 2026-11-29T09:40.
 * @param {number|string} at in milliseconds, or of RFC 3339 */
export function local(at) {
	const date = new Date(at);
	return new Date(date.getTime() - date.getTimezoneOffset() * 60e3).toISOString().slice(0, 16);
}

/** sentence returns a message of the API as a sentence. @param {string} text */
export const sentence = (text) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.?!)]$/.test(text) ? '' : '.'}`;

/** plural returns a number with its noun. @param {number} n @param {string} noun */
export const plural = (n, noun) => `${number(n)} ${noun}${n === 1 ? '' : 's'}`;
