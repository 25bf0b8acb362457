// Stacked bars over time. The table below a chart has the same numbers.
import { html, useEffect, useRef, useState } from './preact.js';

/** @typedef {{name: string, values: number[], is?: 'ok'|'warn'|'ill'|'off', rest?: boolean}} Series is: a state, which
 * has its own colour; rest: several names, which cannot be picked */

/** colour returns the class of a series. @param {Series} series @param {number} n */
const colour = (series, n) => (series.is ? `fill-${series.is}` : `f${(n % 7) + 1}`);

const margin = 56,
	foot = 22;

/** ceiling returns a round number that is not smaller, and whose half is round, too. @param {number} n */
function ceiling(n) {
	if (n <= 0) return 1;
	const unit = 10 ** Math.floor(Math.log10(n));
	return /** @type {number} */ ([1, 2, 4, 6, 8, 10].find((step) => step * unit >= n)) * unit;
}

/** useWidth returns an element's width, which the drawing has, too. */
function useWidth() {
	const element = useRef(/** @type {HTMLElement|null} */ (null));
	const [width, setWidth] = useState(0);
	useEffect(() => {
		if (!element.current) return;
		const observer = new ResizeObserver(([entry]) => setWidth(entry.contentRect.width));
		observer.observe(element.current);
		return () => observer.disconnect();
	}, []);
	return { element, width };
}

/** Chart draws series as stacked bars, and lines above them, which have a scale of their own. The parts of the bar
 * under the pointer, or of the one that the arrow keys reach, are in the legend; a click on a part or on its name picks
 * it. brush takes the bars over which the pointer is drawn, or the arrow keys with Shift until Enter.
 * @param {{label: string, buckets: string[], series: Series[], format: (n: number) => string,
 *   pick?: (name: string) => void, lines?: {name: string, values: number[]}[], measure?: (n: number) => string,
 *   brush?: (first: number, last: number) => void, low?: boolean, named?: (name: string) => string}} props  named: what
 * stands for the name of a series */
export function Chart({ label, buckets, series, format, pick, lines = [], measure = format, brush, low, named }) {
	const choose = (/** @type {Series} */ { name, rest }) => rest || pick?.(name);
	const { element, width } = useWidth();
	const [pointed, setAt] = useState(-1);
	const at = pointed < buckets.length ? pointed : -1; // there may have been more
	const [start, setStart] = useState(-1); // where the brush began
	const [first, last] = start < 0 ? [at, at] : [Math.min(start, at), Math.max(start, at)];
	const brushed = () => {
		if (brush && start >= 0 && at >= 0) brush(first, last);
		setStart(-1);
	};
	const [dim, setDim] = useState('');
	const totals = buckets.map((_, i) => series.reduce((sum, each) => sum + each.values[i], 0));
	const top = ceiling(Math.max(0, ...totals));
	const height = low ? 140 : 240;
	const highest = ceiling(Math.max(0, ...lines.flatMap(({ values }) => values)));
	const marks = [0, top / 2, top].map((n) => ({ n, text: format(n) }));
	const gutter = Math.max(margin, ...marks.map(({ text }) => 8 + 7 * text.length)),
		inner = Math.max(0, width - gutter - (lines.length > 0 ? margin : 0)),
		step = inner / Math.max(1, buckets.length),
		drawn = height - foot - 8;
	const y = (/** @type {number} */ n) => 8 + drawn * (1 - n / top);
	const every = Math.max(1, Math.ceil(buckets.length / Math.max(1, Math.floor(inner / 72))));
	const keys = (/** @type {KeyboardEvent} */ event) => {
		if (event.key === 'Enter') brushed();
		const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
		if (!move) return;
		event.preventDefault();
		if (!event.shiftKey) setStart(-1);
		else if (brush && start < 0) setStart(Math.max(0, at));
		setAt(Math.min(buckets.length - 1, Math.max(0, at + move)));
	};
	return html`
		<figure class=${`chart stack${brush ? ' brush' : ''}`} ref=${element}>
			<svg role="img" tabindex="0" height=${height} viewBox=${`0 0 ${Math.max(width, 1)} ${height}`}
				aria-label=${`${label}. ${
					brush
						? 'Dragging selects a range, and so do the arrow keys with Shift, until Enter.'
						: 'The table below has the same numbers.'
				}`}
				onMouseLeave=${() => {
					setAt(-1);
					setStart(-1);
				}}
				onMouseUp=${brushed} onKeyDown=${keys}
			>
				${marks.map(
					({ n, text }) => html`
						<line class="grid" x1=${gutter} x2=${gutter + inner} y1=${y(n)} y2=${y(n)} />
						<text x=${gutter - 8} y=${y(n) + 4} text-anchor="end">${text}</text>
					`,
				)}
				${
					width > 0 &&
					buckets.map((bucket, i) => {
						let below = 0;
						return html`
							<g key=${i} class=${`bar${i >= first && i <= last ? ' on' : ''}`} onMouseEnter=${() => setAt(i)}
								onMouseDown=${() => brush && setStart(i)}
							>
								<rect class="hit" x=${gutter + i * step} y="0" width=${step} height=${height - foot} />
								${series.map((each, n) => {
									const value = each.values[i];
									if (value <= 0) return null;
									below += value;
									return html`
										<rect class=${`${colour(each, n)}${dim && dim !== each.name ? ' dim' : ''}`}
											x=${gutter + i * step + Math.min(2, step * 0.1)}
											width=${Math.max(1, step - Math.min(4, step * 0.2))} y=${y(below)}
											height=${Math.max(1, y(below - value) - y(below))} onClick=${() => choose(each)}
										/>
									`;
								})}
								${
									i % every === 0 &&
									html`
										<text x=${gutter + i * step + step / 2} y=${height - 6} text-anchor="middle">
											${bucket}
										</text>
									`
								}
							</g>
						`;
					})
				}
				${
					lines.length > 0 &&
					html`
						<text x=${width} y=${y(top) + 4} text-anchor="end">${measure(highest)}</text>
						${lines.map(
							(line, n) => html`
								<path class=${`line l${n + 1}`}
									d=${line.values
										.map((value, i) =>
											value > 0
												? `${i > 0 && line.values[i - 1] > 0 ? 'L' : 'M'}${gutter + (i + 0.5) * step} ${
														8 + drawn * (1 - value / highest)
													}h0.01`
												: '',
										)
										.join('')}
								/>
							`,
						)}
					`
				}
			</svg>
			<figcaption class="legend">
				<b class="tab">
					${at < 0 ? 'All' : buckets[at]}: ${format(at < 0 ? totals.reduce((a, b) => a + b, 0) : totals[at])}
				</b>
				${series.map(
					(each, n) => html`
						<button type="button" key=${each.name} onClick=${() => choose(each)}
							onMouseEnter=${() => setDim(each.name)} onMouseLeave=${() => setDim('')}
						>
							<i class=${`swatch ${colour(each, n)}`}></i>
							<bdi class="cut">${named?.(each.name) || each.name || '(none)'}</bdi>
							<span class="tab muted">
								${format(at < 0 ? each.values.reduce((a, b) => a + b, 0) : each.values[at])}
							</span>
						</button>
					`,
				)}
				${lines.map(
					(line, n) => html`
						<span class="row">
							<i class=${`swatch line l${n + 1}`}></i>
							${line.name}
							<span class="tab muted">
								${at < 0 ? `up to ${measure(Math.max(0, ...line.values))}` : measure(line.values[at])}
							</span>
						</span>
					`,
				)}
			</figcaption>
		</figure>
	`;
}

/** Spark is a small chart of a number over time, without axes: its neighbours say what it shows. Values that are null
 * have no bar.
 * @param {{label: string, values: (number|null)[], ill?: boolean}} props */
export function Spark({ label, values, ill }) {
	const tall = 24,
		step = 2;
	const top = Math.max(1, ...values.map((value) => value ?? 0));
	return html`
		<svg class=${`spark${ill ? ' ill' : ''}`} role="img" aria-label=${label} width=${60 * step}
			height=${tall} viewBox=${`0 0 ${60 * step} ${tall}`}
		>
			<title>${label}</title>
			<line class="grid" x1="0" x2=${60 * step} y1=${tall - 0.5} y2=${tall - 0.5} />
			${values.map((value, i) =>
				value
					? html`
						<rect x=${(60 - values.length + i) * step} width=${step - 1}
							y=${tall - Math.max(2, (tall * value) / top)} height=${Math.max(2, (tall * value) / top)}
						/>
					`
					: null,
			)}
		</svg>
	`;
}
