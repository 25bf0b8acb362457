// The one place that names the libraries, with their types.
import * as preact from '../vendor/preact.js';
import * as hooks from '../vendor/hooks.js';
import * as signals from '../vendor/signals.js';
import htm from '../vendor/htm.js';

/** @type {(strings: TemplateStringsArray, ...values: any[]) => any} */
export const html = htm.bind(preact.h);
export const render = /** @type {typeof import('preact').render} */ (preact.render);
export const useState = /** @type {typeof import('preact/hooks').useState} */ (hooks.useState);
export const useEffect = /** @type {typeof import('preact/hooks').useEffect} */ (hooks.useEffect);
export const useLayoutEffect = /** @type {typeof import('preact/hooks').useLayoutEffect} */ (hooks.useLayoutEffect);
export const useRef = /** @type {typeof import('preact/hooks').useRef} */ (hooks.useRef);
export const signal = /** @type {typeof import('@preact/signals-core').signal} */ (
	/** @type {unknown} */ (signals.signal)
);
